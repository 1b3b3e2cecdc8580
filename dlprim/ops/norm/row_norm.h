#pragma once

#include "dlprim/core/fields.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

/**
 * Rows of a contiguous tensor, each normalised by itself (layer norm, group norm, root-mean-square norm).
 * Weight and bias have period * weights entries: row r takes `weights` of them from (r % period) * weights
 * on, each for n / weights neighbouring elements. Layer norm: period 1, weights n. Group norm over G of C
 * channels: period G, weights C / G.
 */
struct NormRows {
  std::int64_t rows, n, period, weights;
  FIELDS(rows, n, period, weights)
};

/** The rows of layer norm (torch.nn.functional.layer_norm, rms_norm): over the last dimensions of `x`, of the
 * sizes `normalized_shape`. Throws ValueError, naming `op`. */
NormRows layer_norm_rows(const char* op, const Dims& x, const Dims& normalized_shape);

/** The rows of group norm (torch.nn.functional.group_norm): x [N, C, ...], each C / groups channels of an
 * item together. Throws ValueError, naming `op`. */
NormRows group_norm_rows(const char* op, const Dims& x, std::int64_t groups);

/**
 * y = (x - mean) * invstd * weight + bias by the mean and the biased variance of every row, with invstd =
 * 1 / sqrt(variance + eps). Without `mean` nothing is taken off, and invstd = 1 / sqrt(mean of squares +
 * eps).
 *
 * x, y: rows * n elements of one floating dtype; weight, bias: of that dtype, or nullptr (1 and 0); mean,
 * invstd: [rows], compute_dtype(x.dtype), written for the backward pass. All contiguous;
 * precondition: no overlap. Throws ValueError, TypeError.
 */
void row_norm_forward(Queue& queue, const NormRows& rows, const Tensor& x, const Tensor* weight,
                      const Tensor* bias, double eps, const Tensor& y, const Tensor* mean,
                      const Tensor& invstd);

/**
 * Gradient by x, and unless nullptr the terms dy * (x - mean) * invstd whose sums are the gradient by the
 * weight (of x's shape, in compute_dtype(x.dtype)).
 */
void row_norm_backward(Queue& queue, const NormRows& rows, const Tensor& dy, const Tensor& x,
                       const Tensor* weight, const Tensor* mean, const Tensor& invstd, const Tensor& dx,
                       const Tensor* weight_terms);

/** Gradient by the weight from those terms, or by the bias from dy in their place: their sums, [period *
 * weights] contiguous, of any floating dtype, in a fixed order. */
void row_norm_backward_affine(Queue& queue, const NormRows& rows, const Tensor& terms,
                              const Tensor& gradient);

}  // namespace dlprim
