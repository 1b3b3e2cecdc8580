#pragma once

#include "dlprim/core/tensor.h"

namespace ocl {

/** alpha times a times b (plus a row of biases) for matrices, or batches of them, of any strides, at the
 * precision that is set (autograd/tensor/precision.h). */
dlprim::Tensor product(const dlprim::Tensor& a, const dlprim::Tensor& b, double alpha = 1,
                       const dlprim::Tensor* bias = nullptr);

}  // namespace ocl
