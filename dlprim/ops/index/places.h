#pragma once

#include "dlprim/ops/index/index.h"
#include "dlprim/ops/index/index_shared.h"

/** \file What the host code of this family shares. */

namespace dlprim {

/** The places that an index names among `bound`; strides of other tensors are left 0. */
Places places_of(const Tensor& index, std::int64_t bound, Negative negative);

void copy_strides(const Tensor& t, cl_long* strides);

}  // namespace dlprim
