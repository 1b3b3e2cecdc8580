#pragma once

#include "dlprim/ops/conv/conv2d.h"
#include "dlprim/ops/conv/conv3d.h"

namespace dlprim {

/** The convolutions over the last `axes` dimensions, for callers that are templates of their number. */
template <std::size_t axes>
struct Convolutions;

template <>
struct Convolutions<2> {
  static constexpr const char *op = "conv2d", *transposed_op = "conv_transpose2d";
  static constexpr auto output_shape = conv2d_output_shape;
  static constexpr auto transposed_output_shape = conv_transpose2d_output_shape;
  static constexpr auto same_padding = conv2d_same_padding;
  static constexpr auto forward = conv2d_forward;
  static constexpr auto backward_data = conv2d_backward_data;
  static constexpr auto backward_weight = conv2d_backward_weight;
  static constexpr auto backward_bias = conv2d_backward_bias;
};

template <>
struct Convolutions<3> {
  static constexpr const char *op = "conv3d", *transposed_op = "conv_transpose3d";
  static constexpr auto output_shape = conv3d_output_shape;
  static constexpr auto transposed_output_shape = conv_transpose3d_output_shape;
  static constexpr auto same_padding = conv3d_same_padding;
  static constexpr auto forward = conv3d_forward;
  static constexpr auto backward_data = conv3d_backward_data;
  static constexpr auto backward_weight = conv3d_backward_weight;
  static constexpr auto backward_bias = conv3d_backward_bias;
};

}  // namespace dlprim
