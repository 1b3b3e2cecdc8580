#pragma once

#include "autograd/tensor/tensor.h"

namespace ocl {

// What is chosen by a mask (torch functions of the same names). Throw ValueError for shapes that do not
// broadcast, TypeError for dtypes.

/** The elements where `mask` (bool) holds, in row-major order; both broadcast. Waits. */
Tensor masked_select(const Tensor& a, const Tensor& mask);
/** `a` with `value` (a number or a tensor of one element) where `mask` (bool, broadcast to a) holds. */
Tensor masked_fill(const Tensor& a, const Tensor& mask, const Operand& value);
/** The coordinates of the elements that are not 0: int64 [count, rank], in row-major order. Waits. */
Tensor nonzero(const Tensor& a);
/** As nonzero, a tensor [count] for each dimension. Waits. */
TensorList nonzero_as_tuple(const Tensor& a);
/** As masked_fill, in place. Throws AutogradError where the tape forbids it. */
Tensor& masked_fill_(Tensor& a, const Tensor& mask, const Operand& value);

}  // namespace ocl
