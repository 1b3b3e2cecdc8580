#include "nn/models/blocks.h"

#include "autograd/ops/pointwise.h"
#include "nn/init.h"

namespace ocl::models {

Conv2dNormActivation::Conv2dNormActivation(const Conv2dNormActivationOptions& o) : Composed(o) {
  compose([&] {
    Extents<2> padding;
    for (std::size_t i = 0; i < padding.size(); ++i)
      padding[i] = (o.kernel_size()[i] - 1) / 2 * o.dilation()[i];
    append(make<Conv2d>(Conv2dOptions(o.in_channels(), o.out_channels(), o.kernel_size())
                            .stride(o.stride())
                            .padding(o.padding().value_or(padding))
                            .dilation(o.dilation())
                            .groups(o.groups())
                            .bias(o.bias().value_or(!o.norm_layer()))));
    if (o.norm_layer()) append(o.norm_layer()(o.out_channels()));
    if (o.activation_layer()) append(o.activation_layer()(o.inplace()));
  });
}

SqueezeExcitation::SqueezeExcitation(const SqueezeExcitationOptions& o) : Composed(o) {
  compose([&] {
    add<AdaptiveAvgPool2d>("avgpool", 1);
    add<Conv2d>("fc1", o.input_channels(), o.squeeze_channels(), 1);
    add<Conv2d>("fc2", o.squeeze_channels(), o.input_channels(), 1);
    register_module("activation", o.activation()(std::nullopt));
    register_module("scale_activation", o.scale_activation()(std::nullopt));
  });
}

Tensor SqueezeExcitation::forward(const Tensor& x) {
  return scale_activation(fc2(activation(fc1(avgpool(x))))) * x;
}

void append_mlp(Sequential& sequential, const MLPOptions& o) {
  dlprim::require(!o.hidden_channels().empty(), "MLP: hidden_channels must name one layer at least");
  const auto dropout = [&] {
    return make<Dropout>(DropoutOptions(o.dropout()).inplace(o.inplace().value_or(false)));
  };
  std::int64_t in = o.in_channels();
  for (std::size_t i = 0; i < o.hidden_channels().size(); ++i) {
    const std::int64_t out = o.hidden_channels()[i];
    sequential.append(make<Linear>(LinearOptions(in, out).bias(o.bias())));
    if (i + 1 < o.hidden_channels().size()) {
      if (o.norm_layer()) sequential.append(o.norm_layer()(out));
      sequential.append(o.activation_layer()(o.inplace()));
    }
    sequential.append(dropout());
    in = out;
  }
}

void init_mlp(const Sequential& mlp) {
  for_each<Linear>(mlp, [](Linear& linear) {
    init::xavier_uniform_(linear.weight);
    init::normal_(linear.bias, 0, 1e-6);
  });
}

MLP::MLP(const MLPOptions& o) : Composed(o) {
  compose([&] { append_mlp(*this, o); });
}

Tensor LayerNorm2d::forward(const Tensor& x) {
  return permute(LayerNorm::forward(permute(x, {0, 2, 3, 1})), {0, 3, 1, 2});
}

}  // namespace ocl::models
