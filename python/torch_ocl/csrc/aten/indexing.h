#pragma once

#include "arguments.h"
#include "dlprim/ops/index/index.h"
#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/runtime/error_word.h"

/** \file What functions that read and write by indices share. */

namespace torch_ocl {

/** An index element that names no place: IndexError at the next waiting point, which names the operator that
 * this thread is in. */
dlprim::DeviceCheck index_check();

/** A scalar counts as one element in a row. */
inline at::Tensor at_least_1d(const at::Tensor& t) {
  return t.dim() == 0 ? t.unsqueeze(0) : t;
}
inline dlprim::Tensor at_least_1d(const dlprim::Tensor& t) {
  return t.rank() == 0 ? t.reshaped({1}) : t;
}

/** `t` as [outer, along, inner] for reading: a view where the strides allow it, else of a copy. */
dlprim::Tensor readable_lines(const at::Tensor& t, int dim, int count = 1);

/** Calls `write` with `t` as [outer, along, inner], contiguous if so asked; through a copy where `t` allows
 * no such view. */
template <class Write>
void write_lines(const at::Tensor& t, int dim, int count, bool wants_contiguous, const Write& write) {
  const auto view = dlprim::outer_along_inner(raw(t), dim, count);
  if (view && (!wants_contiguous || view->is_contiguous())) return write(*view);
  const at::Tensor copy = t.clone(c10::MemoryFormat::Contiguous);
  write(*dlprim::outer_along_inner(raw(copy), dim, count));
  t.copy_(copy);
}

}  // namespace torch_ocl
