#pragma once

#include "dlprim/core/fields.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

/** Options of torch.nn.functional.local_response_norm; `size` channels are averaged over. */
struct LocalResponseNorm {
  std::int64_t size;
  double alpha = 1e-4, beta = 0.75, k = 1;
  FIELDS(size, alpha, beta, k)
};

/**
 * y = x / base^beta with base = k + alpha * (mean of x squared over `size` channels around each, zero beyond
 * the first and the last). Shapes: x, y: [N, C, ...] of one floating dtype; base: x's shape in its compute
 * dtype, kept for the backward pass. All contiguous; precondition: no overlap. Throws ValueError, TypeError.
 */
void local_response_norm_forward(Queue& queue, const Tensor& x, const LocalResponseNorm& options,
                                 const Tensor& y, const Tensor& base);

/** Gradient by x: writes every element of `dx`. */
void local_response_norm_backward(Queue& queue, const Tensor& dy, const Tensor& x, const Tensor& base,
                                  const LocalResponseNorm& options, const Tensor& dx);

}  // namespace dlprim
