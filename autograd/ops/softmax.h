#pragma once

#include "autograd/tensor.h"

namespace ocl {

/** exp(a) over its sum along `dim`, safe for any finite input (torch.softmax). */
Tensor softmax(const Tensor& a, std::int64_t dim);
/** The logarithm of softmax, computed without losing small probabilities (torch.log_softmax). */
Tensor log_softmax(const Tensor& a, std::int64_t dim);

}  // namespace ocl
