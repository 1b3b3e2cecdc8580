#pragma once

#include "dlprim/core/shared.h"
#include "dlprim/runtime/device_info.h"
#include "dlprim/runtime/queue.h"

/** \file Ranges of launches in which every work item does the same kind of work. */

namespace dlprim {

/** The largest power of two that a work group may have on the device, at most `most`. */
int work_group(const DeviceInfo& device, int most = MAX_GROUP);

/** How many work items share `parts` on a CPU: a few a core, each with enough to be worth its start. `cost`:
 * elements that a part stands for. */
std::int64_t cpu_shares(const DeviceInfo& device, std::int64_t parts, std::int64_t cost = 1);

/** A work item for each of `parts`, in groups of at most `most`; on a CPU those of cpu_shares. */
Range share_range(const Queue& queue, std::int64_t parts, std::int64_t cost = 1, int most = MAX_GROUP);

/** A line of a work group for each row of `n` elements, or pieces of some, not much longer than the row; a
 * group has several where rows are short. Lines have `least_lanes` items at least, a power of two. For
 * kernels of KernelShape::simt (core/group.cl). */
Range line_per_row_range(const Queue& queue, std::int64_t rows, std::int64_t n, int least_lanes = 4);

}  // namespace dlprim
