#pragma once

#include "dlprim/ops/loss/class_loss.h"
#include "dlprim/ops/loss/class_loss_shared.h"
#include "dlprim/runtime/queue.h"

/** \file What the losses over class scores share on the host side. */

namespace dlprim {

LossRows loss_rows(const ClassLossExtents& extents, std::int64_t ignore_index);

/** For scores of `dtype` and losses of it, or wide ones: of its compute_dtype. */
Kernel& loss_kernel(Queue& queue, const char* kernel, DType dtype, bool is_wide = false);
/** Whether a loss, or its gradient, is wide. */
bool is_wide_loss(const Tensor& loss, const Tensor& scores);

/** Whether a row's classes are consecutive, and so many that a work group a row suits them
 * (KernelShape::simt). */
bool has_long_rows(const Queue& queue, const ClassLossExtents& extents);

/** A work item a row, or on a CPU a few that share the rows. */
Range loss_rows_range(const Queue& queue, const ClassLossExtents& extents);

/** Sums the rows' (loss, weight) pairs, `terms` [rows, 2], into `loss` and `total_weight`. */
void reduce_loss(Queue& queue, const Tensor& terms, Reduction reduction, const Tensor& loss,
                 const Tensor& total_weight);

/** Writes what a loss over no rows is: NaN for the mean, else 0 or nothing. */
void write_empty_loss(Queue& queue, Reduction reduction, const Tensor& loss, const Tensor& total_weight);

/** Throws unless `loss` (or its gradient), which may be wide, and total_weight have the shape and dtype that
 * fit the scores. */
void require_loss_tensors(const char* op, const Tensor& scores, Reduction reduction, const Tensor& loss,
                          const Tensor& total_weight);

}  // namespace dlprim
