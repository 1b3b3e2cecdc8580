#pragma once

#include "dlprim/ops/reduce/reduce.h"

namespace dlprim {

/*
 * Gradients of reductions by their input x, from the gradient dy of the result y. Both x and dx have one
 * shape, and any strides. The gradient dy and the reduction's results have the elements of
 * reduced_shape(x.shape, mask), are contiguous, and of any rank. All floating. Throws ValueError, TypeError.
 */

/**
 * The gradient of a row that has one (ReductionOp::gradient). For extremes, and for norms by a largest or
 * smallest magnitude, equal extremes share dy evenly; prod is right for any number of zeros. `p`: of norm_p.
 * x and y may be undefined for sum and mean.
 */
void reduce_backward(Queue& queue, const ReductionOp& reduction, const Tensor& dy, const Tensor& x,
                     const Tensor& y, DimMask mask, const Tensor& dx, double p = 0);

/** The gradient of variance(), or with `root` (its square root, torch.std; in the dtype of the mean) of that;
 * `dy` or `dmean`, the gradient of the mean, may be undefined. */
void variance_backward(Queue& queue, const Tensor& dy, const Tensor& dmean, const Tensor& x,
                       const Tensor& mean, const Tensor* root, DimMask mask, double correction,
                       const Tensor& dx);

/** The gradient of logsumexp(), from both of its parts. */
void logsumexp_backward(Queue& queue, const Tensor& dy, const Tensor& x, const Tensor& largest,
                        const Tensor& rest, DimMask mask, const Tensor& dx);

}  // namespace dlprim
