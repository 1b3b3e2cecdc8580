#pragma once

#include "dlprim/core/fields.h"
#include "dlprim/ops/pointwise/epilogue.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

/*
 * Batch normalisation (torch.nn.functional.batch_norm) of x, [N, C] or [N, C, ...], of any floating dtype,
 * over everything but dimension 1. With invstd = 1 / sqrt(variance + eps), y = (x - mean) * invstd * weight +
 * bias.
 *
 * mean, invstd, weight, bias, running statistics and the gradients of weight and bias are [C], in
 * compute_dtype(x.dtype). Tensors are contiguous. Precondition everywhere: outputs overlap neither
 * inputs nor one another. Throws ValueError for shapes that do not fit, TypeError for dtypes.
 */

/** The layout that the functions here take for `t`, [N, C, ...], contiguous or with the channels of a pixel
 * side by side: `t` itself, or the same memory as [pixels, C], every pixel an item of its own. Neither layout
 * is checked. */
Tensor batch_norm_items(const Tensor& t);

/** Running statistics to move towards those of the batch: r = (1 - momentum) r + momentum b; b's variance is
 * the unbiased one. */
struct RunningStatistics {
  const Tensor* mean = nullptr;
  const Tensor* variance = nullptr;
  double momentum = 0.1;
  FIELDS(mean, variance, momentum)
};

/**
 * Mean and invstd (of the biased variance) of the batch, and in the same launches the update of the running
 * statistics where they are given. Throws ValueError where there is one value per channel (PyTorch's rule for
 * training). Without elements the running statistics stay as they are, and mean and invstd are 0.
 */
void batch_norm_statistics(Queue& queue, const Tensor& x, double eps, const Tensor& mean,
                           const Tensor& invstd, const RunningStatistics& running = {});

/** invstd = 1 / sqrt(variance + eps), for evaluation with running statistics. One small launch. */
void batch_norm_invstd(Queue& queue, const Tensor& variance, double eps, const Tensor& invstd);

/** Checks the inputs as batch_norm_forward does, for callers that run it later: throws the errors that it
 * throws. */
void check_batch_norm(Queue& queue, const Tensor& x, const Tensor& mean, const Tensor& invstd,
                      const Tensor* weight, const Tensor* bias);

/** y from x and given statistics; `weight` and `bias` may be nullptr (1 and 0). Throws ValueError for an
 * epilogue whose activation cannot be one. */
void batch_norm_forward(Queue& queue, const Tensor& x, const Tensor& mean, const Tensor& invstd,
                        const Tensor* weight, const Tensor* bias, const Tensor& y,
                        const Epilogue& epilogue = {});

/** batch_norm_statistics, then batch_norm_forward: what training calls. Keep mean and invstd for
 * batch_norm_backward. */
void batch_norm_training_forward(Queue& queue, const Tensor& x, const Tensor* weight, const Tensor* bias,
                                 double eps, const RunningStatistics& running, const Tensor& y,
                                 const Tensor& mean, const Tensor& invstd, const Epilogue& epilogue = {});

/**
 * Gradients of batch_norm for the mean and invstd that the forward pass used. `training`: they are the
 * batch's own, so that dx passes through them; otherwise they are constants. Any of weight, dx, dweight,
 * dbias may be nullptr. `epilogue`: of a forward pass whose epilogue had an activation; where it had an
 * addend alone, the addend's gradient is dy.
 */
void batch_norm_backward(Queue& queue, const Tensor& dy, const Tensor& x, const Tensor& mean,
                         const Tensor& invstd, const Tensor* weight, bool training, const Tensor* dx,
                         const Tensor* dweight, const Tensor* dbias, const EpilogueGradient& epilogue = {});

}  // namespace dlprim
