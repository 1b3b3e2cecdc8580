#pragma once

#include "dlprim/ops/index/index.h"

/** \file What the host code of this family shares. */

namespace dlprim {

/** places_t of index.cl. */
struct Places {
  cl_long size[3];
  cl_long index[3], x[3], y[3], winner[3];
  cl_long bound, wraps;
};

/** The places that an index names among `bound`; strides of other tensors are left 0. */
Places places_of(const Tensor& index, std::int64_t bound, Negative negative);

void copy_strides(const Tensor& t, cl_long* strides);

}  // namespace dlprim
