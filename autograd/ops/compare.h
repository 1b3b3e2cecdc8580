#pragma once

#include "autograd/tensor/tensor.h"

namespace ocl {

// Comparisons of whole tensors (the torch functions of the same names). The closeness of a to b is |a - b| <=
// atol + rtol |b|; equal infinities are close, NaNs only with `equal_nan`. Throw TypeError for two dtypes.

#include "autograd/ops/declare.def"

#include "autograd/ops/compare.def"

#include "autograd/ops/declare_end.def"

/** Whether PyTorch casts `from` to `to` in an operation's result (torch.can_cast). */
bool can_cast(DType from, DType to);

}  // namespace ocl
