#pragma once

#include "dlprim/ops/index/index.h"
#include "dlprim/ops/index/index_shared.h"
#include "dlprim/runtime/device_info.h"
#include "dlprim/runtime/queue.h"

/** \file What the host code of this family shares. */

namespace dlprim {

/** Throws ValueError or TypeError unless `index` is int64 [outer, along, inner], `moved` of its shape and of
 * the dtype of `named`, and `named`, whose places it names, of its outer and inner sizes. */
void require_lines(const char* op, const Tensor& named, const Tensor& index, const Tensor& moved);

/** The places that an index names among `bound`; strides of other tensors are left 0. */
Places places_of(const Tensor& index, std::int64_t bound, Negative negative);

/** A work item for each stretch of places that a kernel of shape cpu owns (lines.cl). */
Range owners_range(const Queue& queue, const Tensor& index);

/** Whether work groups of shape simt take a line (o, i) each, with so many bytes of local memory for each of
 * `bound` places: where an index names single elements, lines are short, and neighbours are read together. */
bool groups_take_lines(const DeviceInfo& device, const Tensor& index, std::int64_t bound, std::size_t bytes);

/** A work group for each line. */
Range lines_range(const DeviceInfo& device, const Tensor& index);

LocalMemory memory_of_places(std::int64_t bound, std::size_t bytes);

void copy_strides(const Tensor& t, cl_long* strides);

}  // namespace dlprim
