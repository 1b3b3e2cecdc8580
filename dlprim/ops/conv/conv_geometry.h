#pragma once

#include <array>

#include "dlprim/core/dims.h"
#include "dlprim/core/fields.h"

namespace dlprim {

/** Options of a convolution over the last `axes` dimensions, {height, width} or {depth, height, width}. */
template <std::size_t axes>
struct ConvGeometry {
  std::array<int, axes> stride = filled(1), padding = filled(0), dilation = filled(1);
  std::int64_t groups = 1;
  FIELDS(stride, padding, dilation, groups)

 private:
  static constexpr std::array<int, axes> filled(int value) {
    std::array<int, axes> all{};
    for (int& n : all) n = value;
    return all;
  }
};
using Conv2dGeometry = ConvGeometry<2>;
using Conv3dGeometry = ConvGeometry<3>;

/**
 * Shape [N, Cout, OH, OW] of torch.nn.functional.conv2d for x [N, Cin, H, W] and weight [Cout, Cin / groups,
 * KH, KW]; OH = (H + 2 * padding - dilation * (KH - 1) - 1) / stride + 1, rounded down. Throws ValueError,
 * with PyTorch's words, on what does not fit.
 */
Dims conv2d_output_shape(const Dims& x, const Dims& weight, const Conv2dGeometry& geometry);
/** Shape [N, Cout, OD, OH, OW] of conv3d for x [N, Cin, D, H, W] and weight [Cout, Cin / groups, KD, KH,
 * KW]. */
Dims conv3d_output_shape(const Dims& x, const Dims& weight, const Conv3dGeometry& geometry);

/**
 * Shape [N, Cout, OH, OW] of torch.nn.functional.conv_transpose2d for x [N, Cin, H, W] and weight [Cin, Cout
 * / groups, KH, KW]. The convolution of that shape by that geometry has the shape of x; `output_padding`
 * chooses among several such shapes. Where that holds a whole stride (dilation allows it), x needs a row or
 * column of zeros behind it for each. Throws ValueError.
 */
Dims conv_transpose2d_output_shape(const Dims& x, const Dims& weight, const Conv2dGeometry& geometry,
                                   const std::array<int, 2>& output_padding = {0, 0});
/** Like conv_transpose2d_output_shape, in three dimensions. */
Dims conv_transpose3d_output_shape(const Dims& x, const Dims& weight, const Conv3dGeometry& geometry,
                                   const std::array<int, 3>& output_padding = {0, 0, 0});

/** Zeros that keep the size: `padding` before and behind the input, and `behind` more of them behind it
 * (pad_constant puts them there) where an even number is one too few. */
template <std::size_t axes>
struct PaddingThatKeeps {
  std::array<int, axes> padding{}, behind{};
};
using SamePadding = PaddingThatKeeps<2>;
using SamePadding3d = PaddingThatKeeps<3>;

/** The padding that "same" stands for in torch.nn.functional.conv2d and conv3d by a weight of that shape.
 * Throw ValueError for strides other than 1. */
SamePadding conv2d_same_padding(const Dims& weight, const Conv2dGeometry& geometry);
SamePadding3d conv3d_same_padding(const Dims& weight, const Conv3dGeometry& geometry);

}  // namespace dlprim
