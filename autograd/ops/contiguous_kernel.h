#pragma once

#include "autograd/ops/views.h"
#include "autograd/tape/recordable.h"
#include "dlprim/runtime/queue.h"

namespace ocl {

/** A linear function by a kernel for contiguous tensors: copies its argument to contiguous memory where it
 * must, and lets `kernel(queue, from, to)` write a new tensor of `shape`. */
template <class Kernel>
LinearFunction on_contiguous(const Dims& shape, Kernel kernel) {
  return [shape, kernel](const Tensor& given) {
    const Tensor from = contiguous(given);
    const dlprim::Tensor to = dlprim::Tensor::empty(*from.device(), shape, from.dtype());
    kernel(from.device()->queue(), from.data(), to);
    return Tensor(to);
  };
}

}  // namespace ocl
