#pragma once

#include "autograd/ops/loss_reduction.h"
#include "autograd/tensor/tensor.h"

namespace ocl {

// What stands where is libtorch's order (at::nll_loss, at::cross_entropy_loss, …).

/** Negative log likelihood of class indices under log-probabilities [N, C, ...]
 * (torch.nn.functional.nll_loss). */
Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target, const Tensor& weight = {},
                Reduction reduction = Reduction::mean, std::int64_t ignore_index = -100);
/**
 * log_softmax and nll_loss in one (torch.nn.functional.cross_entropy). logits [C], [N, C] or [N, C, ...];
 * target: class indices (int64; out of range: IndexError at the next waiting point) or class probabilities of
 * the logits' shape, which get a gradient too.
 */
Tensor cross_entropy(const Tensor& logits, const Tensor& target, const Tensor& weight = {},
                     Reduction reduction = Reduction::mean, std::int64_t ignore_index = -100,
                     double label_smoothing = 0);
/** Squared difference (torch.nn.functional.mse_loss). */
Tensor mse_loss(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::mean);
/** Absolute difference (torch.nn.functional.l1_loss). */
Tensor l1_loss(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::mean);

/** mse_loss / (2 beta) where the difference is below beta, l1_loss - beta / 2 elsewhere
 * (torch.nn.functional.smooth_l1_loss). Throws ValueError for a negative beta. */
Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::mean,
                      double beta = 1);
/** mse_loss / 2 where the difference is below delta, delta (l1_loss - delta / 2) elsewhere
 * (torch.nn.functional.huber_loss). Throws ValueError unless delta > 0. */
Tensor huber_loss(const Tensor& input, const Tensor& target, Reduction reduction = Reduction::mean,
                  double delta = 1);
/** Of probabilities and targets in [0, 1], of one shape (torch.nn.functional.binary_cross_entropy). Not
 * checked: an input outside [0, 1] gives NaN. `weight` broadcasts. */
Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight = {},
                            Reduction reduction = Reduction::mean);
/** binary_cross_entropy of sigmoid(input), safe for any finite input; `weight` and `pos_weight`, the weight
 * of positive targets, broadcast (torch.nn.functional.binary_cross_entropy_with_logits). */
Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target, const Tensor& weight = {},
                                        const Tensor& pos_weight = {}, Reduction reduction = Reduction::mean);
/** Kullback-Leibler divergence of log-probabilities `input` from `target`, probabilities or with log_target
 * their logarithms (torch.nn.functional.kl_div). reduction: "none", "mean", "sum" or "batchmean", the sum
 * over the size of dimension 0. */
Tensor kl_div(const Tensor& input, const Tensor& target, const std::string& reduction = "mean",
              bool log_target = false);

}  // namespace ocl
