#pragma once

#include "dlprim/core/scalar.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

/**
 * out[i] = start + i * step, for a contiguous `out` [n] of any dtype but bool. Whole numbers are computed in
 * 64-bit arithmetic, floating ones in twice the dtype's precision and rounded once. `step` may be negative or
 * 0. Throws TypeError. (torch.arange)
 */
void arange(Queue& queue, const Tensor& out, Scalar start, Scalar step);

}  // namespace dlprim
