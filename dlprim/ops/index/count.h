#pragma once

#include "dlprim/runtime/queue.h"

namespace dlprim {

/**
 * How often each place occurs (torch.bincount). places: int64, contiguous; those outside [0, bins) are left
 * out. counts: int64 [bins], contiguous. Throws ValueError for 2^31 places or bins and more, TypeError.
 */
void count_places(Queue& queue, const Tensor& places, const Tensor& counts);

/**
 * How many elements fall into each of the bins that cut [low, high] evenly (torch.histc); those outside and
 * NaN are left out. An element is placed by the operations of its own type. x: float32 or float64,
 * contiguous. counts: int64 [bins], contiguous. Throws ValueError for 2^31 elements or bins and more,
 * TypeError.
 */
void count_in_bins(Queue& queue, const Tensor& x, double low, double high, const Tensor& counts);

}  // namespace dlprim
