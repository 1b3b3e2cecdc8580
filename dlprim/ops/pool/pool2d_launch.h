#pragma once

#include "dlprim/ops/pool/pool2d_geometry.h"
#include "dlprim/ops/pool/pool_shared.h"
#include "dlprim/runtime/queue.h"

/** \file What the pooling operators share on the host side. */

namespace dlprim {

/** The windows that lead from planes of `x` to planes of `y`; no geometry means adaptive pooling. Throws
 * ValueError naming `op` where 32 bits do not hold a position. */
PoolWindow pool_window(const char* op, const Dims& x, const Dims& y, const Pool2dGeometry* geometry);

/** Planes of a shape whose last two dimensions are a plane. */
std::int64_t pool_planes(const Dims& shape);

/** A few dozen work items that share the planes of `result`. For kernels of KernelShape::cpu. */
Range pool_planes_range(Queue& queue, const Tensor& result);
/** A work item for each element of `result`. For kernels of KernelShape::simt. */
Range pool_elements_range(Queue& queue, const Tensor& result);

/** Kernel `name` of pool2d.cl for that dtype, and for that of the places of maxima, int32 or int64. */
Kernel& pool_kernel(Queue& queue, const char* name, DType dtype, DType places = DType::int32);

/** Throws unless `y` is contiguous, and `x`, [N, C, H, W] or [C, H, W], with another, positive, plane size.
 */
void require_adaptive_shapes(const char* op, const Tensor& x, const Tensor& y);

}  // namespace dlprim
