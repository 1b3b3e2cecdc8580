#include "dlprim/ops/conv/conv2d.h"

namespace dlprim {

Dims conv_transpose2d_output_shape(const Dims& x, const Dims& weight, const Conv2dGeometry& g,
                                   const std::array<int, 2>& output_padding) {
  constexpr const char* op = "conv_transpose2d";
  require(x.size() == 4, op, ": expected a 4D input [N, Cin, H, W], but got input of size: ", x);
  require(weight.size() == 4, op,
          ": expected a 4D weight [Cin, Cout / groups, KH, KW], but got weight of size: ", weight);
  require(g.groups > 0, op, ": non-positive groups is not supported, got ", g.groups);
  require(weight[0] > 0 && weight[0] % g.groups == 0, op, ": given groups=", g.groups,
          ", expected weight to be divisible by ", g.groups, " at dimension 0, but got weight of size ",
          weight);
  require(x[1] == weight[0], op, ": given weight of size ", weight, ", expected input", x, " to have ",
          weight[0], " channels, but got ", x[1], " channels instead");
  Dims shape{x[0], weight[1] * g.groups};
  for (int i = 0; i < 2; ++i) {
    const auto at = static_cast<std::size_t>(i);
    require(g.stride[at] > 0, op, ": non-positive stride is not supported, got ", g.stride[at]);
    require(g.dilation[at] > 0, op, ": dilation should be greater than zero, got ", g.dilation[at]);
    require(g.padding[at] >= 0, op, ": negative padding is not supported, got ", g.padding[at]);
    const int added = output_padding[at];
    require(added >= 0 && (added < g.stride[at] || added < g.dilation[at]), op,
            ": output padding must be smaller than either stride or dilation, got output_padding ", added,
            ", stride ", g.stride[at], " and dilation ", g.dilation[at]);
    require(x[i + 2] > 0 && weight[i + 2] > 0, op,
            ": expected input and weight without empty dimensions but the batch, got input ", x,
            " and weight ", weight);
    shape.push_back((x[i + 2] - 1) * g.stride[at] - 2 * std::int64_t{g.padding[at]} +
                    g.dilation[at] * (weight[i + 2] - 1) + added + 1);
    require(shape.back() > 0, op, ": input ", x, " and weight ", weight,
            " give an output of non-positive size ", shape.back());
  }
  return shape;
}

}  // namespace dlprim
