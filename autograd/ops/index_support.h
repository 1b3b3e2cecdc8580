#pragma once

#include "autograd/ops/views.h"
#include "autograd/tensor/tensor.h"
#include "dlprim/ops/index/accumulate.h"
#include "dlprim/ops/index/index.h"
#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/runtime/queue.h"

/** \file What functions that read and write by indices share. */

namespace ocl {

inline dlprim::Queue& queue_of(const dlprim::Tensor& t) {
  return t.device().queue();
}

inline dlprim::Tensor contiguous_copy(const dlprim::Tensor& t) {
  const dlprim::Tensor copy = dlprim::Tensor::empty(t.device(), t.shape, t.dtype);
  dlprim::copy(queue_of(t), t, copy);
  return copy;
}

/** `t` as [outer, along, inner] for reading: a view where the strides allow it, else of a copy. */
inline dlprim::Tensor readable_lines(const dlprim::Tensor& t, int dim, int count = 1) {
  if (const auto view = dlprim::outer_along_inner(t, dim, count)) return *view;
  return *dlprim::outer_along_inner(contiguous_copy(t), dim, count);
}

/** Calls `write` with `t` as [outer, along, inner], contiguous if so asked; through a copy where `t` allows
 * no such view. */
template <class Write>
void write_lines(const dlprim::Tensor& t, int dim, int count, bool wants_contiguous, const Write& write) {
  const auto view = dlprim::outer_along_inner(t, dim, count);
  if (view && (!wants_contiguous || view->is_contiguous())) return write(*view);
  const dlprim::Tensor copy = contiguous_copy(t);
  write(*dlprim::outer_along_inner(copy, dim, count));
  dlprim::copy(queue_of(t), copy, t);
}

/** int64 elements of an index given as int64 or int32, contiguous. Throws TypeError naming `op`. */
dlprim::Tensor checked_index(const char* op, const Tensor& index);

/** scatter_reduce of `src`, which has the shape of `index`, into `a`, without a record on the tape. */
void reduce_into_(Tensor& a, std::int64_t dim, const Tensor& index, const Tensor& src,
                  dlprim::PlaceReduction reduction);

/** Throws unless all are on one device. */
void require_one_device(const char* op, const TensorList& tensors);

}  // namespace ocl
