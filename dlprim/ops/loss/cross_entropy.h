#pragma once

#include "dlprim/core/fields.h"
#include "dlprim/ops/loss/class_loss.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

/** Options of torch.nn.functional.cross_entropy. */
struct CrossEntropyOptions {
  std::int64_t ignore_index = -100;  // class indices only
  double label_smoothing = 0.0;
  Reduction reduction = Reduction::mean;
  FIELDS(ignore_index, label_smoothing, reduction)
};

/** Shape of `normalizers`: a pair per row of scores, [batch, positions, 2]. */
Dims cross_entropy_normalizer_shape(const Dims& logits);

/**
 * torch.nn.functional.cross_entropy: log_softmax and nll_loss in one pass over the logits.
 *
 * logits: [C], [N, C] or [N, C, d1, …], floating. target: class indices (int64) or class probabilities (the
 * logits' shape and dtype); see class_loss_extents. weight: [C] of the logits' dtype, or nullptr. loss:
 * class_loss_shape, of the logits' dtype or of the one that sums are taken in. total_weight: [], what `mean`
 * divides by. normalizers: cross_entropy_normalizer_shape, of each row the largest logit and the logarithm of
 * the sum of exponentials less it. Both are float32 (float64 for float64) and kept for the backward pass. All
 * are contiguous; precondition: no overlap. A target outside [0, C) raises IndexError at the next waiting
 * point.
 */
void cross_entropy_forward(Queue& queue, const Tensor& logits, const Tensor& target, const Tensor* weight,
                           const CrossEntropyOptions& options, const Tensor& loss, const Tensor& total_weight,
                           const Tensor& normalizers);

/** Gradient by the logits, from the logits and normalizers; `grad` has the shape of the loss. */
void cross_entropy_backward(Queue& queue, const Tensor& grad, const Tensor& logits, const Tensor& target,
                            const Tensor* weight, const CrossEntropyOptions& options,
                            const Tensor& total_weight, const Tensor& normalizers, const Tensor& dlogits);

/** Gradient by a target of class probabilities. */
void cross_entropy_target_backward(Queue& queue, const Tensor& grad, const Tensor& logits,
                                   const Tensor* weight, const CrossEntropyOptions& options,
                                   const Tensor& total_weight, const Tensor& normalizers,
                                   const Tensor& dtarget);

}  // namespace dlprim
