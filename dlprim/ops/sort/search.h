#pragma once

#include "dlprim/runtime/queue.h"

namespace dlprim {

/**
 * torch.searchsorted: how many leading elements of a value's row of `sequences` stand before the value, those
 * below it, or with `right` those not above it. All stand before NaN. sequences: [rows, n], each row in
 * order. values: [rows, m], of the same dtype (any but bool). places: int64 [rows, m]. All are contiguous.
 * Throws ValueError, TypeError.
 */
void places_in_order(Queue& queue, const Tensor& sequences, const Tensor& values, bool right,
                     const Tensor& places);

}  // namespace dlprim
