#pragma once

#include "dlprim/core/precision.h"
#include "dlprim/core/tensor.h"
#include "dlprim/ops/conv/conv_geometry.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

// Convolutions of volumes: those of planes (conv2d.h) whose channels hold, beside each channel, the slices
// that the taps of the depth meet. Scratch memory holds an input for each of these taps. The rules of
// conv2d's directions hold for these: shapes as in conv_geometry.h, contiguous, one floating dtype, and so
// on.

/** y = conv3d(x, weight) + bias; bias [Cout] may be null. */
void conv3d_forward(Queue& queue, const Tensor& x, const Tensor& weight, const Tensor* bias,
                    const Conv3dGeometry& geometry, const Tensor& y,
                    MatmulPrecision precision = MatmulPrecision::highest);

/** dx = gradient with respect to x; also the forward pass of conv_transpose3d, with dy as its input and dx as
 * its result. */
void conv3d_backward_data(Queue& queue, const Tensor& dy, const Tensor& weight,
                          const Conv3dGeometry& geometry, const Tensor& dx,
                          MatmulPrecision precision = MatmulPrecision::highest);

/** dw = gradient with respect to weight. */
void conv3d_backward_weight(Queue& queue, const Tensor& dy, const Tensor& x, const Conv3dGeometry& geometry,
                            const Tensor& dw, MatmulPrecision precision = MatmulPrecision::highest);

/** db [Cout] = gradient with respect to bias: dy summed over all but dimension 1, in a fixed order. dy may
 * have any strides. */
void conv3d_backward_bias(Queue& queue, const Tensor& dy, const Tensor& db);

}  // namespace dlprim
