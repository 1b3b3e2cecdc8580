#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dlprim/core/tensor.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

/** How a reduction's result type follows from its input's; see table.def. */
enum class ReductionResult { Sum, Float, Same, Bool, Count };

/** A row of the reduction table (table.def), as data. */
struct ReductionOp {
  std::string name;
  ReductionResult result;
  std::string identity, map, combine, finish, gradient, documentation;

  /** The dtype of the result for an input of `dtype`. Throws TypeError where the reduction does not take it.
   */
  DType result_dtype(DType dtype) const;
};

/** Every reduction, in the table's order. */
const std::vector<ReductionOp>& reduction_table();
/** The row of that name. Throws ValueError. */
const ReductionOp& reduction(std::string_view name);

/** Which dimensions a reduction takes: bit d stands for dimension d. */
using DimMask = unsigned;

/** `dims` as a mask; empty stands for all. Throws IndexError (out of range) or ValueError (twice), naming
 * `op`. */
DimMask dim_mask(const std::vector<std::int64_t>& dims, int rank, const char* op);

/** The shape without the masked dimensions, or with size 1 in their place. */
Dims reduced_shape(const Dims& shape, DimMask mask, bool keepdim);

/**
 * Reduces the masked dimensions of `input` (any strides) into `output`: contiguous, with as many elements as
 * the kept dimensions give, of dtype `reduction.result_dtype(input.dtype)`. An empty reduction gives the
 * identity.
 */
void reduce(Queue& queue, const ReductionOp& reduction, const Tensor& input, DimMask mask,
            const Tensor& output);

enum class Extreme { max, min };

/**
 * The extreme of every reduced group and where it stands, counted over the masked dimensions in order. Of
 * equal ones the first counts; NaN counts as the extreme. `values` (input's dtype) and `indices` (int64) are
 * contiguous; `values` may be undefined (a default Tensor) when only the indices are wanted.
 */
void reduce_index(Queue& queue, Extreme extreme, const Tensor& input, DimMask mask, const Tensor& values,
                  const Tensor& indices);

}  // namespace dlprim
