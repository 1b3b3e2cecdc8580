#pragma once

#include "dlprim/core/fields.h"
#include "dlprim/ops/pool/pool_geometry.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

/** The divisor of a window's sum: torch.nn.AvgPool2d's and AvgPool3d's count_include_pad and
 * divisor_override (0 = none).
 */
struct AveragePoolDivisor {
  bool count_include_pad = true;
  std::int64_t divisor_override = 0;
  FIELDS(count_include_pad, divisor_override)
};

/**
 * torch.nn.functional.avg_pool2d over `x`, [N, C, H, W] or [C, H, W], of any floating dtype. `y` has the
 * shape of pool2d_output_shape; dilation must be 1. Contiguous; precondition: no overlap. Throws ValueError,
 * TypeError.
 */
void avg_pool2d_forward(Queue& queue, const Tensor& x, const Pool2dGeometry& geometry,
                        const AveragePoolDivisor& divisor, const Tensor& y);
/** Like avg_pool2d_forward, for volumes, [N, C, D, H, W] or [C, D, H, W]. */
void avg_pool3d_forward(Queue& queue, const Tensor& x, const Pool3dGeometry& geometry,
                        const AveragePoolDivisor& divisor, const Tensor& y);

/** Gradients of avg_pool2d and 3d; write every element of `dx`, which has the shape of the forward input. */
void avg_pool2d_backward(Queue& queue, const Tensor& dy, const Pool2dGeometry& geometry,
                         const AveragePoolDivisor& divisor, const Tensor& dx);
void avg_pool3d_backward(Queue& queue, const Tensor& dy, const Pool3dGeometry& geometry,
                         const AveragePoolDivisor& divisor, const Tensor& dx);

/** torch.nn.functional.adaptive_avg_pool2d and 3d to the size of `y` (see adaptive_pool2d_output_shape). */
void adaptive_avg_pool2d_forward(Queue& queue, const Tensor& x, const Tensor& y);
void adaptive_avg_pool3d_forward(Queue& queue, const Tensor& x, const Tensor& y);

/** Gradients of adaptive_avg_pool2d and 3d; write every element of `dx`. */
void adaptive_avg_pool2d_backward(Queue& queue, const Tensor& dy, const Tensor& dx);
void adaptive_avg_pool3d_backward(Queue& queue, const Tensor& dy, const Tensor& dx);

}  // namespace dlprim
