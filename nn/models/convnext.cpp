#include "nn/models/convnext.h"

#include "autograd/ops/pointwise.h"
#include "nn/init.h"
#include "nn/models/blocks.h"

namespace ocl::models {
namespace {

/** Four stages; `width`: channels of the first, which each doubles; `third`: blocks of the third. */
ConvNeXtOptions stages(std::int64_t width, std::int64_t third, double stochastic_depth_prob) {
  return ConvNeXtOptions({{width, 2 * width, 3},
                          {2 * width, 4 * width, 3},
                          {4 * width, 8 * width, third},
                          {8 * width, std::nullopt, 3}})
      .stochastic_depth_prob(stochastic_depth_prob);
}

}  // namespace

std::string repr_of(const CNBlockConfig& c) {
  return dlprim::concat("CNBlockConfig(input_channels=", c.input_channels,
                        ", out_channels=", nn::repr_of(c.out_channels), ", num_layers=", c.num_layers, ')');
}

CNBlock::CNBlock(const CNBlockOptions& o) : Composed(o) {
  register_parameter("layer_scale", layer_scale, made({o.dim(), 1, 1}));
  compose([&] {
    init::constant_(layer_scale, o.layer_scale());
    add<Sequential>("block", make<Conv2d>(Conv2dOptions(o.dim(), o.dim(), 7).padding(3).groups(o.dim())),
                    make<Permute>(PermuteOptions({0, 2, 3, 1})),
                    or_default(o.norm_layer(), layer_norm(1e-6))(o.dim()), make<Linear>(o.dim(), 4 * o.dim()),
                    make<GELU>(), make<Linear>(4 * o.dim(), o.dim()),
                    make<Permute>(PermuteOptions({0, 3, 1, 2})));
    add<StochasticDepth>("stochastic_depth", StochasticDepthOptions(o.stochastic_depth_prob(), "row"));
  });
}

Tensor CNBlock::forward(const Tensor& x) {
  return stochastic_depth(held(layer_scale) * block(x)) + x;
}

ConvNeXt::ConvNeXt(const ConvNeXtOptions& o) : Composed(o) {
  compose([&] {
    const auto& setting = o.block_setting();
    dlprim::require(!setting.empty(), "The block_setting should not be empty");
    const NormLayer over_channels{
        "", [](std::int64_t channels) { return make<LayerNorm2d>(LayerNormOptions({channels}).eps(1e-6)); }};
    const NormLayer norm = or_default(o.norm_layer(), over_channels);
    const auto layers = add<Sequential>("features");
    layers->append(make<Conv2dNormActivation>(Conv2dNormActivationOptions(3, setting.front().input_channels)
                                                  .kernel_size(4)
                                                  .stride(4)
                                                  .padding(Extents<2>(0))
                                                  .norm_layer(norm)
                                                  .activation_layer(nullptr)
                                                  .bias(true)));
    double total = 0, index = 0;
    for (const CNBlockConfig& stage : setting) total += static_cast<double>(stage.num_layers);
    for (const CNBlockConfig& stage : setting) {
      const auto blocks = make<Sequential>();
      for (std::int64_t i = 0; i < stage.num_layers; ++i)
        blocks->append(make<CNBlock>(CNBlockOptions(stage.input_channels, o.layer_scale(),
                                                    o.stochastic_depth_prob() * index++ / (total - 1))));
      layers->append(blocks);
      if (!stage.out_channels) continue;
      layers->append(make<Sequential>(
          norm(stage.input_channels),
          make<Conv2d>(Conv2dOptions(stage.input_channels, *stage.out_channels, 2).stride(2))));
    }
    add<AdaptiveAvgPool2d>("avgpool", 1);
    const std::int64_t last = setting.back().out_channels.value_or(setting.back().input_channels);
    add<Sequential>("classifier", norm(last), make<Flatten>(FlattenOptions().start_dim(1)),
                    make<Linear>(last, o.num_classes()));
    init_layers<Conv2d, Linear>(*this, [](Tensor& weight) { init::trunc_normal_(weight, 0, 0.02); });
  });
}

Tensor ConvNeXt::forward(const Tensor& x) {
  return classifier(avgpool(features(x)));
}

const Variants<ConvNeXtOptions>& ConvNeXt::variants() {
  static const auto& all = *new Variants<ConvNeXtOptions>{
      {"convnext_tiny", stages(96, 9, 0.1)},
      {"convnext_small", stages(96, 27, 0.4)},
      {"convnext_base", stages(128, 27, 0.5)},
      {"convnext_large", stages(192, 27, 0.5)},
  };
  return all;
}

}  // namespace ocl::models
