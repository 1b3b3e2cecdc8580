#pragma once

#include "autograd/ops/views.h"
#include "autograd/tape/tape.h"

/** \file Optional tensors (undefined where left out) on their way to dlprim, which takes pointers. */

namespace ocl {

inline const dlprim::Tensor* raw_or_null(const Tensor& t) {
  return t.defined() ? &t.data() : nullptr;
}
inline const dlprim::Tensor* raw_or_null(const SavedTensor& t) {
  return t.defined() ? &t.unpack() : nullptr;
}

inline Tensor contiguous_or_none(const Tensor& t) {
  return t.defined() ? contiguous(t) : t;
}

}  // namespace ocl
