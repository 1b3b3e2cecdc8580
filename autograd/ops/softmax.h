#pragma once

#include "autograd/tensor/tensor.h"

namespace ocl {

/** exp(a) over its sum along `dim`, safe for any finite input (torch.softmax). `dtype`: what `a` is converted
 * to first. */
Tensor softmax(const Tensor& a, std::int64_t dim, std::optional<DType> dtype = std::nullopt);
/** The logarithm of softmax, computed without losing small probabilities (torch.log_softmax). */
Tensor log_softmax(const Tensor& a, std::int64_t dim, std::optional<DType> dtype = std::nullopt);
/** softmax of -a (torch.nn.functional.softmin). */
Tensor softmin(const Tensor& a, std::int64_t dim, std::optional<DType> dtype = std::nullopt);

}  // namespace ocl
