#pragma once

#include "autograd/tensor/tensor.h"

/**
 * \file Kernels that know contiguous tensors alone, among tensors of any layout. What they read goes through
 * contiguous() (views.h), whose gradient comes back in the format of what was given, and what they give
 * through in_format(): one copy each way, which the seam tells of, and none where the format is contiguous.
 */

namespace ocl {

/** The format that the strides of `t` suggest. */
inline MemoryFormat format_of(const Tensor& t) {
  return dlprim::suggested_memory_format(t.data());
}

/** What an operator made, in `format`. Precondition: nobody else knows `fresh`. */
Tensor in_format(const Tensor& fresh, MemoryFormat format);

/** The tensor itself where it has these dense strides, but for dimensions of size 1, else a copy with them.
 * Unknown to the tape. */
Tensor laid_out(const Tensor& t, const Dims& strides);

}  // namespace ocl
