#pragma once

#include "dlprim/core/precision.h"
#include "dlprim/core/tensor.h"
#include "dlprim/ops/conv/conv_geometry.h"
#include "dlprim/ops/pointwise/epilogue.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

// The three directions. All tensors are contiguous, of one floating dtype, and shaped as above (checked);
// outputs overlap no input. Half types are summed in float32; how float32 is multiplied: `precision`.

/** y = conv2d(x, weight) + bias; bias [Cout] may be null. */
void conv2d_forward(Queue& queue, const Tensor& x, const Tensor& weight, const Tensor* bias,
                    const Conv2dGeometry& geometry, const Tensor& y,
                    MatmulPrecision precision = MatmulPrecision::highest);

/** y = activation(conv2d(x, weight) + bias + addend), of an epilogue that norms can have (can_be_epilogue).
 */
void conv2d_epilogue_forward(Queue& queue, const Tensor& x, const Tensor& weight, const Tensor* bias,
                             const Conv2dGeometry& geometry, const Tensor& y, MatmulPrecision precision,
                             const Epilogue& epilogue);

/** dx = gradient with respect to x; also the forward pass of conv_transpose2d, with dy as its input
 * and dx as its result. Its gradient by the input is conv2d_forward; by the weight it is
 * conv2d_backward_weight with input and gradient swapped. */
void conv2d_backward_data(Queue& queue, const Tensor& dy, const Tensor& weight,
                          const Conv2dGeometry& geometry, const Tensor& dx,
                          MatmulPrecision precision = MatmulPrecision::highest);

/** dw = gradient with respect to weight. Deterministic: partial sums are added in a fixed order. */
void conv2d_backward_weight(Queue& queue, const Tensor& dy, const Tensor& x, const Conv2dGeometry& geometry,
                            const Tensor& dw, MatmulPrecision precision = MatmulPrecision::highest);

/** db [Cout] = gradient with respect to bias: dy summed over all but dimension 1, in a fixed order. dy may
 * have any strides. */
void conv2d_backward_bias(Queue& queue, const Tensor& dy, const Tensor& db);

}  // namespace dlprim
