#include "dlprim/ops/conv/conv_geometry.h"

#include <algorithm>

#include "dlprim/core/checked.h"

namespace dlprim {
namespace {

/** The words of errors in `axes` dimensions. */
struct Words {
  const char *op, *transposed, *input, *weight, *transposed_weight;
};

template <std::size_t axes>
constexpr Words words() {
  return axes == 2 ? Words{"conv2d", "conv_transpose2d", "4D input [N, Cin, H, W]",
                           "4D weight [Cout, Cin / groups, KH, KW]", "4D weight [Cin, Cout / groups, KH, KW]"}
                   : Words{"conv3d", "conv_transpose3d", "5D input [N, Cin, D, H, W]",
                           "5D weight [Cout, Cin / groups, KD, KH, KW]",
                           "5D weight [Cin, Cout / groups, KD, KH, KW]"};
}

template <std::size_t axes>
void require_weight(const char* op, const char* expected, const Dims& weight) {
  require(weight.size() == static_cast<int>(axes) + 2, op, ": expected a ", expected,
          ", but got weight of size: ", weight);
}

template <std::size_t axes>
void require_ranks(const char* op, const char* expected_weight, const Dims& x, const Dims& weight) {
  require(x.size() == static_cast<int>(axes) + 2, op, ": expected a ", words<axes>().input,
          ", but got input of size: ", x);
  require_weight<axes>(op, expected_weight, weight);
}

template <std::size_t axes>
void require_geometry(const char* op, const ConvGeometry<axes>& g) {
  for (std::size_t i = 0; i < axes; ++i) {
    require(g.padding[i] >= 0, op, ": negative padding is not supported, got ", g.padding[i]);
    require(g.stride[i] > 0, op, ": non-positive stride is not supported, got ", g.stride[i]);
    require(g.dilation[i] > 0, op, ": dilation should be greater than zero, got ", g.dilation[i]);
  }
  require(g.groups > 0, op, ": non-positive groups is not supported, got ", g.groups);
}

void require_groups(const char* op, const Dims& weight, std::int64_t groups) {
  require(weight[0] > 0 && weight[0] % groups == 0, op, ": given groups=", groups,
          ", expected weight to be divisible by ", groups, " at dimension 0, but got weight of size ",
          weight);
}

template <std::size_t axes>
Dims output_shape(const Dims& x, const Dims& weight, const ConvGeometry<axes>& g) {
  constexpr const char* op = words<axes>().op;
  require_geometry(op, g);
  require_ranks<axes>(op, words<axes>().weight, x, weight);
  require_groups(op, weight, g.groups);
  require(x[1] == weight[1] * g.groups, op, ": given groups=", g.groups, ", weight of size ", weight,
          ", expected input", x, " to have ", weight[1] * g.groups, " channels, but got ", x[1],
          " channels instead");
  Dims padded, kernel, y{x[0], weight[0]};
  for (std::size_t i = 0; i < axes; ++i) {
    const int dim = static_cast<int>(i) + 2;
    padded.push_back(x[dim] + 2 * std::int64_t{g.padding[i]});
    kernel.push_back(g.dilation[i] * (weight[dim] - 1) + 1);
  }
  for (std::size_t i = 0; i < axes; ++i) {
    const int axis = static_cast<int>(i);
    require(weight[axis + 2] > 0 && padded[axis] >= kernel[axis], op,
            ": calculated padded input size per channel: ", padded, ". Kernel size: ", kernel,
            ". Kernel size can't be greater than actual input size");
    y.push_back((padded[axis] - kernel[axis]) / g.stride[i] + 1);
    kernel_int(2 * padded[axis], op, "twice a padded input");
  }
  return y;
}

template <std::size_t axes>
Dims transposed_output_shape(const Dims& x, const Dims& weight, const ConvGeometry<axes>& g,
                             const std::array<int, axes>& output_padding) {
  constexpr const char* op = words<axes>().transposed;
  require_ranks<axes>(op, words<axes>().transposed_weight, x, weight);
  require_geometry(op, g);
  require_groups(op, weight, g.groups);
  require(x[1] == weight[0], op, ": given weight of size ", weight, ", expected input", x, " to have ",
          weight[0], " channels, but got ", x[1], " channels instead");
  Dims shape{x[0], weight[1] * g.groups};
  for (std::size_t i = 0; i < axes; ++i) {
    const int dim = static_cast<int>(i) + 2, added = output_padding[i];
    require(added >= 0 && (added < g.stride[i] || added < g.dilation[i]), op,
            ": output padding must be smaller than either stride or dilation, got output_padding ", added,
            ", stride ", g.stride[i], " and dilation ", g.dilation[i]);
    require(x[dim] > 0 && weight[dim] > 0, op,
            ": expected input and weight without empty dimensions but the batch, got input ", x,
            " and weight ", weight);
    shape.push_back((x[dim] - 1) * g.stride[i] - 2 * std::int64_t{g.padding[i]} +
                    g.dilation[i] * (weight[dim] - 1) + added + 1);
    require(shape.back() > 0, op, ": input ", x, " and weight ", weight,
            " give an output of non-positive size ", shape.back());
  }
  return shape;
}

template <std::size_t axes>
PaddingThatKeeps<axes> same_padding(const Dims& weight, const ConvGeometry<axes>& g) {
  constexpr const char* op = words<axes>().op;
  require_weight<axes>(op, words<axes>().weight, weight);
  for (const int stride : g.stride)
    require(stride == 1, op, ": padding='same' is not supported for strided convolutions");
  PaddingThatKeeps<axes> same;
  for (std::size_t i = 0; i < axes; ++i) {
    require(g.dilation[i] > 0, op, ": dilation should be greater than zero, got ", g.dilation[i]);
    const std::int64_t gaps = std::max<std::int64_t>(weight[static_cast<int>(i) + 2] - 1, 0);
    const int total = kernel_int(g.dilation[i] * gaps, op, "a padding");
    same.padding[i] = total / 2;
    same.behind[i] = total % 2;
  }
  return same;
}

}  // namespace

Dims conv2d_output_shape(const Dims& x, const Dims& weight, const Conv2dGeometry& g) {
  return output_shape(x, weight, g);
}

Dims conv3d_output_shape(const Dims& x, const Dims& weight, const Conv3dGeometry& g) {
  return output_shape(x, weight, g);
}

Dims conv_transpose2d_output_shape(const Dims& x, const Dims& weight, const Conv2dGeometry& g,
                                   const std::array<int, 2>& output_padding) {
  return transposed_output_shape(x, weight, g, output_padding);
}

Dims conv_transpose3d_output_shape(const Dims& x, const Dims& weight, const Conv3dGeometry& g,
                                   const std::array<int, 3>& output_padding) {
  return transposed_output_shape(x, weight, g, output_padding);
}

SamePadding conv2d_same_padding(const Dims& weight, const Conv2dGeometry& g) {
  return same_padding(weight, g);
}

SamePadding3d conv3d_same_padding(const Dims& weight, const Conv3dGeometry& g) {
  return same_padding(weight, g);
}

}  // namespace dlprim
