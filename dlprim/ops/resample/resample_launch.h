#pragma once

#include "dlprim/runtime/queue.h"

/** \file What the resampling operators share on the host side. */

namespace dlprim {

/** Kernel `name` of resample.cl for that dtype. */
Kernel& resample_kernel(Queue& queue, const char* name, DType dtype);

/** The launch of a kernel over rows of columns (rows.cl). */
Range rows_range(const Queue& queue, std::int64_t rows, std::int64_t columns);

/** The sizes of the last `axes` of three spatial axes; those before them are 1. Throws ValueError, naming
 * `op`, when an int cannot hold one. */
std::array<cl_int, 3> spatial_sizes(const char* op, const Dims& shape, int axes);

}  // namespace dlprim
