#pragma once

#include "dlprim/core/fields.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

/**
 * The order that sorts every row (torch.argsort with stable=True). `order` (int32 [rows, k], k at most n)
 * gets the positions of a row's elements, from the first in order to the k-th. Equal elements keep their
 * order; NaN counts as the largest value. `x`: [rows, n], contiguous, any dtype. Throws ValueError for rows
 * of 2^31 elements and more.
 */
void sort_order(Queue& queue, const Tensor& x, bool descending, const Tensor& order);

/** Keys in order, and the position that each had. */
struct SortedKeys {
  Tensor keys, order;  // int32 [n]
  FIELDS(keys, order)
};

/** Sorts the non-negative `keys` (int32 [n], contiguous), all below `bound`; equal ones keep their order. The
 * memory of `keys` may be written. */
SortedKeys sort_keys(Queue& queue, const Tensor& keys, std::int64_t bound);

}  // namespace dlprim
