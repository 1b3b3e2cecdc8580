#pragma once

#include "autograd/ops/views.h"

namespace ocl {

/**
 * `t` in the dtype that its elements are computed in: float32 where they have 16 bits, else its own. An
 * operator that is made of others computes with this and converts its result, so that it rounds once. Values
 * in between may be larger or smaller than 16 bits hold. An undefined tensor and one of whole numbers stay as
 * they are.
 */
inline Tensor in_compute_dtype(const Tensor& t) {
  return t.defined() && is_floating(t.dtype()) ? to(t, dlprim::compute_dtype(t.dtype())) : t;
}

}  // namespace ocl
