#include "nn/models/efficientnet.h"

#include <algorithm>
#include <cmath>

#include "nn/init.h"
#include "nn/models/blocks.h"

namespace ocl::models {

using namespace efficientnet;

namespace {

const ActivationLayer silu = activation<SiLU>("SiLU");

/** The beginning of both blocks: the check, and how their convolutions differ from torchvision's default. */
struct BlockParts {
  const MBConvOptions& o;
  std::int64_t expanded = make_divisible(static_cast<double>(o.input_channels()) * o.expand_ratio());

  Conv2dNormActivationOptions conv(std::int64_t in, std::int64_t out) const {
    return Conv2dNormActivationOptions(in, out)
        .kernel_size(1)
        .norm_layer(or_default(o.norm_layer()))
        .activation_layer(silu);
  }
  bool expands() const { return expanded != o.input_channels(); }
};

template <class Block>
void add_parts(Block& block, const MBConvOptions& o, const std::shared_ptr<Sequential>& layers) {
  dlprim::require(o.stride() == 1 || o.stride() == 2, "illegal stride value");
  block.register_module("block", layers);
  block.template add<StochasticDepth>("stochastic_depth",
                                      StochasticDepthOptions(o.stochastic_depth_prob(), "row"));
}

using Stages = EfficientNetOptions::Stages;

/** The first EfficientNet's stages with channels and depths scaled. */
Stages scaled(double width_mult, double depth_mult) {
  Stages stages{{false, 1, 3, 1, 32, 16, 1},  {false, 6, 3, 2, 16, 24, 2},  {false, 6, 5, 2, 24, 40, 2},
                {false, 6, 3, 2, 40, 80, 3},  {false, 6, 5, 1, 80, 112, 3}, {false, 6, 5, 2, 112, 192, 4},
                {false, 6, 3, 1, 192, 320, 1}};
  const auto adjusted = [&](std::int64_t n) { return make_divisible(static_cast<double>(n) * width_mult); };
  for (Stage& stage : stages) {
    stage.input_channels = adjusted(stage.input_channels);
    stage.out_channels = adjusted(stage.out_channels);
    stage.num_layers =
        static_cast<std::int64_t>(std::ceil(static_cast<double>(stage.num_layers) * depth_mult));
  }
  return stages;
}

EfficientNetOptions version1(double width_mult, double depth_mult, double dropout) {
  return EfficientNetOptions(scaled(width_mult, depth_mult)).dropout(dropout);
}

EfficientNetOptions version2(Stages stages, double dropout) {
  return EfficientNetOptions(std::move(stages))
      .dropout(dropout)
      .norm_layer(batch_norm(1e-3))
      .last_channel(1280);
}

}  // namespace

template <class Block>
Tensor MBConvBase<Block>::forward(const Tensor& x) {
  const MBConvOptions o = this->options();
  if (o.stride() != 1 || o.input_channels() != o.out_channels()) return block(x);
  Tensor result = stochastic_depth(block(x));
  return result.add_(x);
}
template class efficientnet::MBConvBase<MBConv>;
template class efficientnet::MBConvBase<FusedMBConv>;

MBConv::MBConv(const MBConvOptions& o) : MBConvBase(o) {
  compose([&] {
    const BlockParts parts{o};
    const auto layers = make<Sequential>();
    if (parts.expands())
      layers->append(make<Conv2dNormActivation>(parts.conv(o.input_channels(), parts.expanded)));
    layers->append(make<Conv2dNormActivation>(parts.conv(parts.expanded, parts.expanded)
                                                  .kernel_size(o.kernel())
                                                  .stride(o.stride())
                                                  .groups(parts.expanded)));
    const ActivationLayer inplace{"", [](std::optional<bool>) { return silu(true); }};
    layers->append(make<SqueezeExcitation>(
        SqueezeExcitationOptions(parts.expanded, std::max<std::int64_t>(1, o.input_channels() / 4))
            .activation(inplace)));
    layers->append(
        make<Conv2dNormActivation>(parts.conv(parts.expanded, o.out_channels()).activation_layer(nullptr)));
    add_parts(*this, o, layers);
  });
}

FusedMBConv::FusedMBConv(const MBConvOptions& o) : MBConvBase(o) {
  compose([&] {
    const BlockParts parts{o};
    const auto layers = make<Sequential>();
    const auto first = [&](std::int64_t out) {
      return make<Conv2dNormActivation>(
          parts.conv(o.input_channels(), out).kernel_size(o.kernel()).stride(o.stride()));
    };
    layers->append(first(parts.expands() ? parts.expanded : o.out_channels()));
    if (parts.expands())
      layers->append(
          make<Conv2dNormActivation>(parts.conv(parts.expanded, o.out_channels()).activation_layer(nullptr)));
    add_parts(*this, o, layers);
  });
}

std::string efficientnet::repr_of(const Stage& s) {
  return dlprim::concat(s.fused ? "FusedMBConvConfig" : "MBConvConfig",
                        "(expand_ratio=", nn::repr_of(s.expand_ratio), ", kernel=", s.kernel,
                        ", stride=", s.stride, ", input_channels=", s.input_channels,
                        ", out_channels=", s.out_channels, ", num_layers=", s.num_layers, ')');
}

EfficientNet::EfficientNet(const EfficientNetOptions& o) : Composed(o) {
  compose([&] {
    const Stages& stages = o.inverted_residual_setting();
    dlprim::require(!stages.empty(), "The inverted_residual_setting should not be empty");
    const NormLayer norm = or_default(o.norm_layer());
    const auto conv = [&](std::int64_t in, std::int64_t out) {
      return Conv2dNormActivationOptions(in, out).norm_layer(norm).activation_layer(silu);
    };
    const auto layers = add<Sequential>("features");
    layers->append(make<Conv2dNormActivation>(conv(3, stages.front().input_channels).stride(2)));
    double total = 0, index = 0;
    for (const Stage& stage : stages) total += static_cast<double>(stage.num_layers);
    for (const Stage& stage : stages) {
      const auto blocks = make<Sequential>();
      auto block = MBConvOptions()
                       .expand_ratio(stage.expand_ratio)
                       .kernel(stage.kernel)
                       .stride(stage.stride)
                       .input_channels(stage.input_channels)
                       .out_channels(stage.out_channels)
                       .norm_layer(norm);
      for (std::int64_t i = 0; i < stage.num_layers; ++i) {
        block.stochastic_depth_prob(o.stochastic_depth_prob() * index++ / total);
        if (stage.fused)
          blocks->append(make<FusedMBConv>(block));
        else
          blocks->append(make<MBConv>(block));
        block.input_channels(stage.out_channels).stride(1);
      }
      layers->append(blocks);
    }
    const std::int64_t in = stages.back().out_channels, out = o.last_channel().value_or(4 * in);
    layers->append(make<Conv2dNormActivation>(conv(in, out).kernel_size(1)));
    add<AdaptiveAvgPool2d>("avgpool", 1);
    add<Sequential>("classifier", make<Dropout>(DropoutOptions(o.dropout()).inplace(true)),
                    make<Linear>(out, o.num_classes()));
    init_kaiming(*this);
    for_each<Linear>(*this, [](Linear& linear) {
      const double bound = 1 / std::sqrt(static_cast<double>(linear.options().out_features()));
      init::uniform_(linear.weight, -bound, bound);
    });
  });
}

Tensor EfficientNet::forward(const Tensor& x) {
  return classifier(flatten(avgpool(features(x)), 1));
}

const Variants<EfficientNetOptions>& EfficientNet::variants() {
  const NormLayer slow = batch_norm(0.001, 0.01);
  static const auto& all = *new Variants<EfficientNetOptions>{
      {"efficientnet_b0", version1(1.0, 1.0, 0.2)},
      {"efficientnet_b1", version1(1.0, 1.1, 0.2)},
      {"efficientnet_b2", version1(1.1, 1.2, 0.3)},
      {"efficientnet_b3", version1(1.2, 1.4, 0.3)},
      {"efficientnet_b4", version1(1.4, 1.8, 0.4)},
      {"efficientnet_b5", version1(1.6, 2.2, 0.4).norm_layer(slow)},
      {"efficientnet_b6", version1(1.8, 2.6, 0.5).norm_layer(slow)},
      {"efficientnet_b7", version1(2.0, 3.1, 0.5).norm_layer(slow)},
      {"efficientnet_v2_s", version2({{true, 1, 3, 1, 24, 24, 2},
                                      {true, 4, 3, 2, 24, 48, 4},
                                      {true, 4, 3, 2, 48, 64, 4},
                                      {false, 4, 3, 2, 64, 128, 6},
                                      {false, 6, 3, 1, 128, 160, 9},
                                      {false, 6, 3, 2, 160, 256, 15}},
                                     0.2)},
      {"efficientnet_v2_m", version2({{true, 1, 3, 1, 24, 24, 3},
                                      {true, 4, 3, 2, 24, 48, 5},
                                      {true, 4, 3, 2, 48, 80, 5},
                                      {false, 4, 3, 2, 80, 160, 7},
                                      {false, 6, 3, 1, 160, 176, 14},
                                      {false, 6, 3, 2, 176, 304, 18},
                                      {false, 6, 3, 1, 304, 512, 5}},
                                     0.3)},
      {"efficientnet_v2_l", version2({{true, 1, 3, 1, 32, 32, 4},
                                      {true, 4, 3, 2, 32, 64, 7},
                                      {true, 4, 3, 2, 64, 96, 7},
                                      {false, 4, 3, 2, 96, 192, 10},
                                      {false, 6, 3, 1, 192, 224, 19},
                                      {false, 6, 3, 2, 224, 384, 25},
                                      {false, 6, 3, 1, 384, 640, 7}},
                                     0.4)},
  };
  return all;
}

}  // namespace ocl::models
