#pragma once

#include "dlprim/ops/index/index.h"
#include "dlprim/ops/index/index_shared.h"
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

void copy_strides(const Tensor& t, cl_long* strides);

}  // namespace dlprim
