#include "nn/models/regnet.h"

#include <algorithm>
#include <cmath>

#include "autograd/ops/pointwise.h"
#include "nn/init.h"

namespace ocl::models {

using namespace regnet;

namespace {

std::int64_t rounded(double value) {
  return static_cast<std::int64_t>(std::nearbyint(value));
}

/** A convolution with the norm and activation of all. */
Conv2dNormActivationOptions conv(const regnet::BlockOptions& o, std::int64_t in, std::int64_t out) {
  return Conv2dNormActivationOptions(in, out)
      .norm_layer(o.norm_layer())
      .activation_layer(o.activation_layer());
}

RegNetOptions x_net(std::int64_t depth, std::int64_t w_0, double w_a, double w_m, std::int64_t group_width) {
  return RegNetOptions().depth(depth).w_0(w_0).w_a(w_a).w_m(w_m).group_width(group_width);
}
RegNetOptions y_net(std::int64_t depth, std::int64_t w_0, double w_a, double w_m, std::int64_t group_width) {
  return x_net(depth, w_0, w_a, w_m, group_width).se_ratio(0.25);
}

}  // namespace

BlockParams RegNetOptions::block_params() const {
  dlprim::require(w_a() >= 0 && w_0() > 0 && w_m() > 1 && w_0() % 8 == 0, "Invalid RegNet settings");
  BlockParams params;
  params.bottleneck_multiplier = bottleneck_multiplier();
  params.se_ratio = se_ratio();
  const auto first = static_cast<double>(w_0());
  for (std::int64_t i = 0; i < depth(); ++i) {
    const double wanted = first + w_a() * static_cast<double>(i);
    const double step = std::nearbyint(std::log(wanted / first) / std::log(w_m()));
    const std::int64_t width = 8 * rounded(first * std::pow(w_m(), step) / 8);
    if (params.widths.empty() || params.widths.back() != width) {
      params.widths.push_back(width);
      params.depths.push_back(0);
    }
    ++params.depths.back();
  }
  for (std::int64_t& width : params.widths) {  // of which groups take equal parts
    const auto inner = static_cast<std::int64_t>(static_cast<double>(width) * bottleneck_multiplier());
    params.group_widths.push_back(std::min(group_width(), inner));
    width = static_cast<std::int64_t>(
        static_cast<double>(make_divisible(static_cast<double>(inner), params.group_widths.back())) /
        bottleneck_multiplier());
  }
  return params;
}

SimpleStemIN::SimpleStemIN(const regnet::BlockOptions& o) : Composed(o) {
  compose([&] {
    const Conv2dNormActivation parts(conv(o, o.width_in(), o.width_out()).stride(2));
    extend(parts.entries());
  });
}

BottleneckTransform::BottleneckTransform(const regnet::BlockOptions& o) : Composed(o) {
  compose([&] {
    const std::int64_t width = rounded(static_cast<double>(o.width_out()) * o.bottleneck_multiplier());
    add<Conv2dNormActivation>("a", conv(o, o.width_in(), width).kernel_size(1));
    add<Conv2dNormActivation>("b", conv(o, width, width).stride(o.stride()).groups(width / o.group_width()));
    if (o.se_ratio().value_or(0) != 0)
      add<SqueezeExcitation>(
          "se", SqueezeExcitationOptions(width, rounded(*o.se_ratio() * static_cast<double>(o.width_in())))
                    .activation(o.activation_layer()));
    add<Conv2dNormActivation>("c", conv(o, width, o.width_out()).kernel_size(1).activation_layer(nullptr));
  });
}

ResBottleneckBlock::ResBottleneckBlock(const regnet::BlockOptions& o) : Composed(o) {
  const bool projects = o.width_in() != o.width_out() || o.stride() != 1;
  if (!projects) unregister("proj");
  compose([&] {
    if (projects)
      add<Conv2dNormActivation>(
          "proj",
          conv(o, o.width_in(), o.width_out()).kernel_size(1).stride(o.stride()).activation_layer(nullptr));
    add<BottleneckTransform>("f", o);
    register_module("activation", o.activation_layer()(true));
  });
}

Tensor ResBottleneckBlock::forward(const Tensor& x) {
  return activation(through_optional("proj", x) + f(x));
}

AnyStage::AnyStage(const StageOptions& o) {
  regnet::BlockOptions block = o;
  for (std::int64_t i = 0; i < o.depth(); ++i) {
    add<ResBottleneckBlock>(dlprim::concat("block", o.stage_index(), '-', i), block);
    block.width_in(o.width_out()).stride(1);
  }
}

RegNet::RegNet(const RegNetOptions& o) : Composed(o) {
  compose([&] {
    const BlockParams params = o.block_params();
    StageOptions stage;
    if (o.norm_layer()) stage.norm_layer(o.norm_layer());
    if (o.activation()) stage.activation_layer(o.activation());
    stage.width_in(3).width_out(o.stem_width());
    add<SimpleStemIN>("stem", stage);
    stage.stride(2).bottleneck_multiplier(params.bottleneck_multiplier).se_ratio(params.se_ratio);
    const auto trunk = add<Sequential>("trunk_output");
    for (std::size_t i = 0; i < params.widths.size(); ++i) {
      stage.depth(params.depths[i]).stage_index(static_cast<std::int64_t>(i) + 1);
      stage.width_in(stage.width_out()).width_out(params.widths[i]).group_width(params.group_widths[i]);
      trunk->register_module("block" + std::to_string(i + 1), make<AnyStage>(stage));
    }
    add<AdaptiveAvgPool2d>("avgpool", AdaptiveSize(1, 1));
    add<Linear>("fc", stage.width_out(), o.num_classes());
    for_each<Conv2d>(*this, [](Conv2d& layer) {
      const Conv2dOptions own = layer.options();
      const auto fan_out =
          static_cast<double>(own.kernel_size()[0] * own.kernel_size()[1] * own.out_channels());
      init::normal_(layer.weight, 0, std::sqrt(2 / fan_out));
    });
    init_layers<Linear>(*this, [](Tensor& weight) { init::normal_(weight, 0, 0.01); });
  });
}

Tensor RegNet::forward(const Tensor& x) {
  return fc(flatten(avgpool(trunk_output(stem(x))), 1));
}

const Variants<RegNetOptions>& RegNet::variants() {
  static const auto& all = *new Variants<RegNetOptions>{
      {"regnet_y_400mf", y_net(16, 48, 27.89, 2.09, 8)},
      {"regnet_y_800mf", y_net(14, 56, 38.84, 2.4, 16)},
      {"regnet_y_1_6gf", y_net(27, 48, 20.71, 2.65, 24)},
      {"regnet_y_3_2gf", y_net(21, 80, 42.63, 2.66, 24)},
      {"regnet_y_8gf", y_net(17, 192, 76.82, 2.19, 56)},
      {"regnet_y_16gf", y_net(18, 200, 106.23, 2.48, 112)},
      {"regnet_y_32gf", y_net(20, 232, 115.89, 2.53, 232)},
      {"regnet_y_128gf", y_net(27, 456, 160.83, 2.52, 264)},
      {"regnet_x_400mf", x_net(22, 24, 24.48, 2.54, 16)},
      {"regnet_x_800mf", x_net(16, 56, 35.73, 2.28, 16)},
      {"regnet_x_1_6gf", x_net(18, 80, 34.01, 2.25, 24)},
      {"regnet_x_3_2gf", x_net(25, 88, 26.31, 2.25, 48)},
      {"regnet_x_8gf", x_net(23, 80, 49.56, 2.88, 120)},
      {"regnet_x_16gf", x_net(22, 216, 55.59, 2.1, 128)},
      {"regnet_x_32gf", x_net(23, 320, 69.86, 2.0, 168)},
  };
  return all;
}

}  // namespace ocl::models
