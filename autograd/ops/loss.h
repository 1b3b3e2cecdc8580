#pragma once

#include "autograd/tensor.h"
#include "dlprim/ops/loss/class_loss.h"

namespace ocl {

/** What becomes of the losses of a batch: "none", "mean" or "sum". */
using dlprim::Reduction;

/** Negative log likelihood of class indices under log-probabilities [N, C, ...]
 * (torch.nn.functional.nll_loss). */
Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target, const Tensor& weight = {},
                std::int64_t ignore_index = -100, Reduction reduction = Reduction::mean);
/**
 * log_softmax and nll_loss in one (torch.nn.functional.cross_entropy). logits [C], [N, C] or [N, C, ...];
 * target: class indices (int64; out of range: IndexError at the next waiting point) or class probabilities of
 * the logits' shape.
 */
Tensor cross_entropy(const Tensor& logits, const Tensor& target, const Tensor& weight = {},
                     std::int64_t ignore_index = -100, Reduction reduction = Reduction::mean,
                     double label_smoothing = 0);
/** Squared difference (torch.nn.functional.mse_loss). */
Tensor mse_loss(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::mean);
/** Absolute difference (torch.nn.functional.l1_loss). */
Tensor l1_loss(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::mean);

/** The reduction of that name. Throws ValueError. */
Reduction reduction_from_name(const std::string& name);

}  // namespace ocl
