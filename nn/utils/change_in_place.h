#pragma once

#include "autograd/ops/formats.h"
#include "autograd/tape/tape.h"
#include "dlprim/core/memory_format.h"
#include "dlprim/ops/pointwise/pointwise.h"

/** \file Tensors on their way through functions of many dense ones at once (dlprim/ops/optim/multi_tensor.h).
 */

namespace ocl {

/** The tensor itself, or a copy without the gaps that it has in a larger one. */
inline Tensor dense(const Tensor& t) {
  return laid_out(t, dlprim::strides_like(t.data()));
}

/** Lets `write(queue, tensors)` change tensors of one device in place, without the tape. None of them may
 * show an element several times. */
template <class Write>
void change_in_place(const TensorList& tensors, const Write& write) {
  if (tensors.empty()) return;
  const NoGradGuard no_grad;
  TensorList written;
  std::vector<dlprim::Tensor> raw;
  for (const Tensor& t : tensors) {
    written.push_back(dense(t));
    raw.push_back(written.back().data());
  }
  dlprim::Queue& queue = tensors.front().device()->queue();
  write(queue, raw);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!is_same(tensors[i], written[i])) dlprim::copy(queue, raw[i], tensors[i].data());
    tensors[i].data().storage->bump_version();
  }
}

}  // namespace ocl
