#pragma once

#include "autograd/tensor/tensor.h"

namespace ocl {

/** Zeroes elements with probability p and scales the rest by 1 / (1 - p), while training
 * (torch.nn.functional.dropout). */
Tensor dropout(const Tensor& x, double p = 0.5, bool training = true);
/** As dropout, in x itself. */
Tensor& dropout_(Tensor& x, double p = 0.5, bool training = true);
/** Zeroes whole channels of x [N, C, ...] (torch.nn.functional.dropout2d). */
Tensor dropout2d(const Tensor& x, double p = 0.5, bool training = true);

}  // namespace ocl
