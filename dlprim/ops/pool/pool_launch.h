#pragma once

#include "dlprim/ops/pool/pool_geometry.h"
#include "dlprim/ops/pool/pool_shared.h"
#include "dlprim/runtime/queue.h"

/** \file What the pooling operators share on the host side: all pool volumes, and planes as volumes of depth
 * 1. */

namespace dlprim {

/** Planes or volumes, by their `axes`, as [count, depth, height, width]. Contiguous. */
Tensor as_volumes(const Tensor& tensor, int axes);

/** A window over planes as one over volumes. */
Pool3dGeometry over_volumes(const Pool2dGeometry& geometry);

/** The windows that lead from volumes [count, depth, height, width] of shape `x` to those of shape `y`; no
 * geometry means adaptive pooling. Throws ValueError naming `op` where 32 bits do not hold a position. */
PoolWindow pool_window(const char* op, const Dims& x, const Dims& y, const Pool3dGeometry* geometry);

/** Whether the depth is more than the one position of a plane. */
bool has_depth(const PoolWindow& window);

/** A few dozen work items that share the volumes of `result`. For kernels of KernelShape::cpu. */
Range pool_volumes_range(Queue& queue, const Tensor& result);
/** A work item for each element of `result`. For kernels of KernelShape::simt. */
Range pool_elements_range(Queue& queue, const Tensor& result);

/** Kernel `name` of pool.cl for such windows, that dtype, and that of the places of maxima, int32 or int64.
 */
Kernel& pool_kernel(Queue& queue, const char* name, const PoolWindow& window, DType dtype,
                    DType places = DType::int32);

/** Throws TypeError naming `op` unless the dtype is one of real numbers; DeviceError if the device lacks it.
 */
void require_ordered(DType dtype, const Device& device, const char* op);

/** Throws unless `y` is contiguous, and `x`, [N, C, sizes…] or [C, sizes…], with other, positive, sizes of
 * its last `axes` dimensions. */
void require_adaptive_shapes(const char* op, const Tensor& x, const Tensor& y, int axes);

}  // namespace dlprim
