#pragma once

#include "autograd/tensor/tensor.h"

namespace ocl {

// Elements that a mask chooses (torch functions of the same names). Throw ValueError for shapes that do not
// broadcast, TypeError for dtypes.

#include "autograd/ops/declare.def"

#include "autograd/ops/masking.def"

#include "autograd/ops/declare_end.def"

/** Like nonzero, a tensor [count] for each dimension. Waits. */
TensorList nonzero_as_tuple(const Tensor& a);

}  // namespace ocl
