#pragma once

#include "dlprim/runtime/queue.h"

/** \file The host's side of work.cl: prefix sums. */

namespace dlprim {

/**
 * Replaces every one of a row's counts by the sum of those before it. `counts`: int32 [rows, length];
 * `totals`: int32 [rows], the rows' sums, or nullptr. `file` and `defines` name a program that includes
 * work.cl.
 */
void sums_before(Queue& queue, const char* file, const Defines& defines, const Tensor& counts,
                 const Tensor* totals);

}  // namespace dlprim
