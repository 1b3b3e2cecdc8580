#pragma once

#include "dlprim/core/fields.h"
#include "dlprim/core/tensor.h"
#include "dlprim/ops/reduce/table.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

/** Arguments of some rows beside their input: a number for every output (s in table.def) and one for all (p).
 */
struct ReductionParameters {
  const Tensor* shift =
      nullptr;  // of the dtype compute_dtype(input.dtype), one element an output; infinities count as 0
  double p = 0;
  FIELDS(shift, p)
};

/**
 * Reduces the masked dimensions of `input` (any strides) into `output`: contiguous, with as many elements as
 * the kept dimensions give (reduced_shape), and no overlap. The result is computed in the row's type and
 * stored in the dtype of `output`, mostly `reduction.result_dtype(input.dtype)`. An empty reduction gives the
 * identity. Throws TypeError for a dtype that the row does not take.
 *
 *     reduce(queue, reduction("sum"), x, dim_mask({0, 2, 3}, x.rank(), "bias"), per_channel);  // torch.sum
 */
void reduce(Queue& queue, const ReductionOp& reduction, const Tensor& input, DimMask mask,
            const Tensor& output, const ReductionParameters& parameters = {});

/**
 * The variance of every reduced group with n - correction in place of n (torch.var), and its mean; both
 * contiguous, floating. `mean` has the dtype compute_dtype(input.dtype). Two passes: the second adds up
 * squared differences to the mean, and what rounding the mean has left out.
 */
void variance(Queue& queue, const Tensor& input, DimMask mask, double correction, const Tensor& mean,
              const Tensor& output);

/**
 * torch.logsumexp in two parts, whose sum it is: the largest element of every reduced group, and the
 * logarithm of the sum of exponentials less that one. Apart they keep the digits that large elements differ
 * by. Both are contiguous, of the dtype compute_dtype(input.dtype).
 */
void logsumexp(Queue& queue, const Tensor& input, DimMask mask, const Tensor& largest, const Tensor& rest);

enum class Extreme { max, min };

/**
 * The extreme of every reduced group and where it stands, counted over the masked dimensions in order. The
 * first among equals counts; NaN counts as the extreme (torch.max and min with a dim, argmax, argmin).
 * `values` (input's dtype) and `indices` (int64) are contiguous; `values` may be undefined (a default Tensor)
 * when only the indices are wanted.
 */
void reduce_index(Queue& queue, Extreme extreme, const Tensor& input, DimMask mask, const Tensor& values,
                  const Tensor& indices);

/**
 * Undoes a selection along `dim`: output[.., indices[..], ..] = values[..], and 0 elsewhere. `values` and
 * `indices` (int64) have the size 1 in `dim`, the other sizes are those of `output`; all contiguous.
 * Precondition: the indices are in range, as reduce_index makes them.
 */
void place_at_index(Queue& queue, const Tensor& values, const Tensor& indices, int dim, const Tensor& output);

}  // namespace dlprim
