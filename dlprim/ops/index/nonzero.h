#pragma once

#include "dlprim/core/fields.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

/** torch.nonzero, first half: how many elements of `x` (bool, contiguous) are true, and what write_true needs
 * to know. */
struct TrueCount {
  std::int64_t count;
  Tensor starts;
  FIELDS(count, starts)
};

/** Counts. Waits. Throws ValueError for 2^31 elements and more. */
TrueCount count_true(Queue& queue, const Tensor& x);

/** Writes the coordinates of the true elements in row-major order to `places`, int64 [count, rank] of any
 * strides (rank 1 for a scalar). */
void write_true(Queue& queue, const Tensor& x, const TrueCount& counted, const Tensor& places);

}  // namespace dlprim
