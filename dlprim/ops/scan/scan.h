#pragma once

#include "dlprim/runtime/queue.h"

namespace dlprim {

/*
 * Running sums, products and logarithms of sums along one dimension of a tensor of any rank (a scalar is one
 * row of one element): float32, float64, float16, bfloat16 and int64. Floating types are added up in float64
 * where the device has it, else in float32. All tensors are contiguous, of one shape and dtype; outputs do
 * not overlap inputs.
 */

/** torch.cumsum: y[k] = x[0] + … + x[k]; from the other end where `reverse`: y[k] = x[k] + … + x[n - 1]. */
void cumsum(Queue& queue, const Tensor& x, int dim, const Tensor& y, bool reverse = false);

/** torch.cumprod: y[k] = x[0] * … * x[k]. */
void cumprod(Queue& queue, const Tensor& x, int dim, const Tensor& y);

/**
 * dx[k] = sum over j >= k of dy[j] * (x[0] * … * x[j] without x[k]), in linear time. It is the product before
 * k times a running sum from the other end, without a division, so that zeros do no harm.
 */
void cumprod_backward(Queue& queue, const Tensor& dy, const Tensor& x, int dim, const Tensor& dx);

/** torch.logcumsumexp: y[k] = log(exp(x[0]) + … + exp(x[k])), without overflow. Throws TypeError for int64.
 */
void logcumsumexp(Queue& queue, const Tensor& x, int dim, const Tensor& y);

/** dx[k] = sum over j >= k of dy[j] * exp(x[k] - y[j]), in linear time; `y` is the result of logcumsumexp. */
void logcumsumexp_backward(Queue& queue, const Tensor& dy, const Tensor& x, const Tensor& y, int dim,
                           const Tensor& dx);

/**
 * The indices of torch.cummax, or of torch.cummin where `least`: `places` (int64, the shape of x) gets where
 * the largest element up to each stands along `dim`. The last among equals counts, and NaN is further out
 * than any number. `x`: any dtype, contiguous, rows of fewer than 2^31 elements. Throws ValueError.
 */
void running_extremes(Queue& queue, const Tensor& x, int dim, bool least, const Tensor& places);

}  // namespace dlprim
