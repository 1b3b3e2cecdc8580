#pragma once

#include "dlprim/ops/loss/class_loss.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

/**
 * torch.nn.functional.nll_loss. Per row: -weight[t] * log_probabilities[t]; 0 where t == ignore_index. `mean`
 * divides the sum by the sum of the rows' weights (0 / 0 = NaN when every row is ignored).
 *
 * log_probabilities: [C], [N, C] or [N, C, d1, …], floating. target: int64, see class_loss_extents. weight:
 * [C] of the same dtype or nullptr. loss: class_loss_shape, same dtype. total_weight: [] float32 (float64 for
 * float64), receives the sum of the rows' weights (0 with reduction none) for the backward pass.
 * All contiguous; precondition: no overlap. A target outside [0, C) raises IndexError at the next waiting
 * point.
 */
void nll_loss_forward(Queue& queue, const Tensor& log_probabilities, const Tensor& target,
                      const Tensor* weight, std::int64_t ignore_index, Reduction reduction,
                      const Tensor& loss, const Tensor& total_weight);

/** Gradient; `grad` has the shape of the loss. Writes every element of `dx`. */
void nll_loss_backward(Queue& queue, const Tensor& grad, const Tensor& target, const Tensor* weight,
                       std::int64_t ignore_index, Reduction reduction, const Tensor& total_weight,
                       const Tensor& dx);

}  // namespace dlprim
