#pragma once

#include "dlprim/runtime/queue.h"

namespace dlprim {

/**
 * How often each place occurs (torch.bincount). places: int64, contiguous; those outside [0, bins) are left
 * out. counts: int64 [bins], contiguous. Throws ValueError for 2^31 places or bins and more, TypeError.
 */
void count_places(Queue& queue, const Tensor& places, const Tensor& counts);

}  // namespace dlprim
