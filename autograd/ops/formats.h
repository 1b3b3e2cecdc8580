#pragma once

#include "autograd/tensor/tensor.h"

/**
 * \file Kernels that know contiguous tensors alone, among tensors of any layout. They read through
 * contiguous() (views.h), whose gradient comes back in the format of its input, and give results through
 * in_format(). That is one copy each way, which listeners hear of as a call, and none where the format is
 * contiguous.
 */

namespace ocl {

/** The format that the strides of `t` suggest. */
inline MemoryFormat format_of(const Tensor& t) {
  return dlprim::suggested_memory_format(t.data());
}

/** An operator's result, in `format`. Precondition: nobody else knows `fresh`. */
Tensor in_format(const Tensor& fresh, MemoryFormat format);

/** The tensor itself where it has these dense strides, but for dimensions of size 1, else a copy with them.
 * Unknown to the tape. */
Tensor laid_out(const Tensor& t, const Dims& strides);

}  // namespace ocl
