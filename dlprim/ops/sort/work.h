#pragma once

#include "dlprim/runtime/queue.h"

/** \file The host's side of work.cl: how work is shared out, and prefix sums. */

namespace dlprim {

/** A work item for each of `parts`, or on a CPU a few that share them; `cost`: elements that a part stands
 * for. */
Range share_range(const Queue& queue, std::int64_t parts, std::int64_t cost = 1);

/** Work items of a group that kernels with local memory of their own are launched with: a power of two. */
int local_group(const Queue& queue);

/**
 * Replaces every one of a row's counts by the sum of those before it. `counts`: int32 [rows, length];
 * `totals`: int32 [rows], the rows' sums, or nullptr. `file` and `defines` name a program that includes
 * work.cl.
 */
void sums_before(Queue& queue, const char* file, const Defines& defines, const Tensor& counts,
                 const Tensor* totals);

}  // namespace dlprim
