#pragma once

#include "autograd/tensor/tensor.h"

namespace ocl {

// Comparisons of whole tensors (the torch functions of the same names). The closeness of a to b is |a - b| <=
// atol + rtol |b|; equal infinities are close, NaNs only with `equal_nan`. Throw TypeError for two dtypes.

/** Whether each element of a is close to that of b (broadcast); bool. */
Tensor isclose(const Tensor& a, const Tensor& b, double rtol = 1e-5, double atol = 1e-8,
               bool equal_nan = false);
/** Whether all are. Waits. */
bool allclose(const Tensor& a, const Tensor& b, double rtol = 1e-5, double atol = 1e-8,
              bool equal_nan = false);
/** Whether both have one shape and the same elements. Waits. */
bool equal(const Tensor& a, const Tensor& b);

/** Whether PyTorch casts `from` to `to` in an operation's result (torch.can_cast). */
bool can_cast(DType from, DType to);

}  // namespace ocl
