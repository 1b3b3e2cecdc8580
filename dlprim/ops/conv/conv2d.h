#pragma once

#include <array>

#include "dlprim/core/fields.h"
#include "dlprim/core/precision.h"
#include "dlprim/core/tensor.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

/** Options of a two-dimensional convolution, {height, width} each. */
struct Conv2dGeometry {
  std::array<int, 2> stride{1, 1}, padding{0, 0}, dilation{1, 1};
  std::int64_t groups = 1;
  FIELDS(stride, padding, dilation, groups)
};

/**
 * Shape [N, Cout, OH, OW] of torch.nn.functional.conv2d for x [N, Cin, H, W] and weight [Cout, Cin / groups,
 * KH, KW]; OH = (H + 2 * padding - dilation * (KH - 1) - 1) / stride + 1, rounded down. Throws ValueError,
 * with PyTorch's words, on what does not fit.
 */
Dims conv2d_output_shape(const Dims& x, const Dims& weight, const Conv2dGeometry& geometry);

/**
 * Shape [N, Cout, OH, OW] of torch.nn.functional.conv_transpose2d for x [N, Cin, H, W] and weight [Cin,
 * Cout / groups, KH, KW]: the shape whose convolution by that geometry has the shape of x, where
 * `output_padding` tells which of several. Where that holds a whole stride (dilation allows it), x needs a
 * row or column of zeros behind it for each. Throws ValueError.
 */
Dims conv_transpose2d_output_shape(const Dims& x, const Dims& weight, const Conv2dGeometry& geometry,
                                   const std::array<int, 2>& output_padding = {0, 0});

/** Zeros that keep height and width: `padding` before and behind the input, and `behind` more of them behind
 * it (pad_constant puts them there) where an even number is one too few. */
struct SamePadding {
  std::array<int, 2> padding{0, 0}, behind{0, 0};
};

/** What padding="same" stands for in torch.nn.functional.conv2d by a weight of that shape. Throws ValueError
 * for strides other than 1. */
SamePadding conv2d_same_padding(const Dims& weight, const Conv2dGeometry& geometry);

// The three directions. All tensors are contiguous, of one floating dtype, and shaped as above (checked);
// outputs overlap no input. Half types are summed in float32; how float32 is multiplied: `precision`.

/** y = conv2d(x, weight) + bias; bias [Cout] may be null. */
void conv2d_forward(Queue& queue, const Tensor& x, const Tensor& weight, const Tensor* bias,
                    const Conv2dGeometry& geometry, const Tensor& y,
                    MatmulPrecision precision = MatmulPrecision::highest);

/** dx = gradient with respect to x; also the forward pass of conv_transpose2d, with dy as its input
 * and dx as its result. That has the gradients conv2d_forward by the input, conv2d_backward_weight, with
 * input and gradient changed about, by the weight. */
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
