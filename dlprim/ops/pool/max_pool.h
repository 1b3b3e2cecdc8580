#pragma once

#include "dlprim/ops/pool/pool_geometry.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

/**
 * torch.max_pool2d over `x`, [N, C, H, W] or [C, H, W], of any floating dtype. `y` has the shape of
 * pool2d_output_shape. `indices` (int32 or int64, the shape of y, or nullptr when not wanted) receives the
 * place h * W + w of each maximum in its plane. The first among equals counts, and a NaN counts as larger
 * than any number. Padding never wins (PyTorch's indices are the same numbers). x, y and indices are
 * contiguous; precondition: they do not overlap. Throws ValueError, TypeError.
 */
void max_pool2d_forward(Queue& queue, const Tensor& x, const Pool2dGeometry& geometry, const Tensor& y,
                        const Tensor* indices);
/** Like max_pool2d_forward, for volumes, [N, C, D, H, W] or [C, D, H, W]: places are (d * H + h) * W + w. */
void max_pool3d_forward(Queue& queue, const Tensor& x, const Pool3dGeometry& geometry, const Tensor& y,
                        const Tensor* indices);

/**
 * Gradient of max_pool2d: every element of `dx` is written, with the sum of those `dy` whose index names it,
 * in a fixed order. `dx` has the shape of the forward input; dtypes as there. Contiguous; precondition: no
 * overlap, indices as the forward pass has written them.
 */
void max_pool2d_backward(Queue& queue, const Tensor& dy, const Tensor& indices,
                         const Pool2dGeometry& geometry, const Tensor& dx);
void max_pool3d_backward(Queue& queue, const Tensor& dy, const Tensor& indices,
                         const Pool3dGeometry& geometry, const Tensor& dx);

/** torch.nn.functional.adaptive_max_pool2d and 3d to the size of `y`; `indices` (or nullptr) as in
 * max_pool2d_forward and 3d. */
void adaptive_max_pool2d_forward(Queue& queue, const Tensor& x, const Tensor& y, const Tensor* indices);
void adaptive_max_pool3d_forward(Queue& queue, const Tensor& x, const Tensor& y, const Tensor* indices);

/** Gradients of adaptive_max_pool2d and 3d; write every element of `dx`. */
void adaptive_max_pool2d_backward(Queue& queue, const Tensor& dy, const Tensor& indices, const Tensor& dx);
void adaptive_max_pool3d_backward(Queue& queue, const Tensor& dy, const Tensor& indices, const Tensor& dx);

}  // namespace dlprim
