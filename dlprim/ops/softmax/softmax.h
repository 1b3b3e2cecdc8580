#pragma once

#include "dlprim/runtime/queue.h"

namespace dlprim {

/*
 * Softmax along one dimension of a tensor of any floating dtype and rank (a scalar is one row of one
 * element). `dim` may be negative. Rows are shifted by their maximum, so that any finite input is safe. An
 * entry of -inf gets, as in PyTorch's, probability 0 (log: -inf), and a row of -inf alone, or with +inf or
 * NaN, is NaN. Tensors are contiguous, of one shape and dtype; precondition: outputs do not overlap inputs.
 * Throws IndexError for a bad dim, ValueError and TypeError for tensors that do not fit.
 */

/** torch.softmax: y = exp(x) / sum exp(x). */
void softmax_forward(Queue& queue, const Tensor& x, std::int64_t dim, const Tensor& y);

/** dx = y (dy - sum y dy), from the result y of the forward pass. */
void softmax_backward(Queue& queue, const Tensor& dy, const Tensor& y, std::int64_t dim, const Tensor& dx);

/** torch.log_softmax: y = x - log sum exp(x). */
void log_softmax_forward(Queue& queue, const Tensor& x, std::int64_t dim, const Tensor& y);

/** dx = dy - exp(y) sum dy, from the result y of the forward pass. */
void log_softmax_backward(Queue& queue, const Tensor& dy, const Tensor& y, std::int64_t dim,
                          const Tensor& dx);

}  // namespace dlprim
