#pragma once

#include "dlprim/ops/reduce/reduce.h"

namespace dlprim {

/*
 * Gradients of reductions by their input x, from the gradient dy of the result y. x and dx have one shape,
 * and the strides they like; dy and what the reduction gave have the elements of reduced_shape(x.shape,
 * mask), are contiguous, and of any rank. All floating. Throws ValueError, TypeError.
 */

/**
 * Of a row that has a gradient (ReductionOp::gradient). Of extremes and the norms by a largest or smallest
 * magnitude, elements that are equal extremes share dy evenly; prod is right for any number of zeros. `p`:
 * of norm_p. x and y may be undefined for sum and mean.
 */
void reduce_backward(Queue& queue, const ReductionOp& reduction, const Tensor& dy, const Tensor& x,
                     const Tensor& y, DimMask mask, const Tensor& dx, double p = 0);

/** Of variance(), or with `root` (its square root, torch.std; of the dtype of the mean) of that; `dy` or
 * `dmean`, the gradient of the mean, may be undefined. */
void variance_backward(Queue& queue, const Tensor& dy, const Tensor& dmean, const Tensor& x,
                       const Tensor& mean, const Tensor* root, DimMask mask, double correction,
                       const Tensor& dx);

/** Of logsumexp(), from both of its parts. */
void logsumexp_backward(Queue& queue, const Tensor& dy, const Tensor& x, const Tensor& largest,
                        const Tensor& rest, DimMask mask, const Tensor& dx);

}  // namespace dlprim
