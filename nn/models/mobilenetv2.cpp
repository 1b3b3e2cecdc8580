#include "nn/models/mobilenetv2.h"

#include <algorithm>

#include "autograd/ops/pointwise.h"
#include "nn/models/blocks.h"

namespace ocl::models {
namespace {

const MobileNetV2Options::Setting paper_setting{{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                                                {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};

/** A convolution with norm and ReLU6. */
Conv2dNormActivationOptions conv_relu6(std::int64_t in, std::int64_t out, const NormLayer& norm) {
  return Conv2dNormActivationOptions(in, out).norm_layer(norm).activation_layer(activation<ReLU6>("ReLU6"));
}

}  // namespace

mobilenetv2::InvertedResidual::InvertedResidual(const InvertedResidualOptions& o) : Composed(o) {
  compose([&] {
    dlprim::require(o.stride() == 1 || o.stride() == 2, "stride should be 1 or 2 instead of ", o.stride());
    const NormLayer norm = or_default(o.norm_layer());
    const std::int64_t hidden = o.inp() * o.expand_ratio();
    const auto layers = add<Sequential>("conv");
    if (o.expand_ratio() != 1)
      layers->append(make<Conv2dNormActivation>(conv_relu6(o.inp(), hidden, norm).kernel_size(1)));
    layers->append(
        make<Conv2dNormActivation>(conv_relu6(hidden, hidden, norm).stride(o.stride()).groups(hidden)));
    layers->append(make<Conv2d>(Conv2dOptions(hidden, o.oup(), 1).bias(false)));
    layers->append(norm(o.oup()));
  });
}

Tensor mobilenetv2::InvertedResidual::forward(const Tensor& x) {
  const InvertedResidualOptions o = options();
  return o.stride() == 1 && o.inp() == o.oup() ? x + conv(x) : conv(x);
}

MobileNetV2::MobileNetV2(const MobileNetV2Options& o) : Composed(o) {
  compose([&] {
    const NormLayer norm = or_default(o.norm_layer());
    const auto& setting = o.inverted_residual_setting() ? *o.inverted_residual_setting() : paper_setting;
    const auto rounded = [&](double channels) { return make_divisible(channels, o.round_nearest()); };
    std::int64_t channels = rounded(32 * o.width_mult());
    const std::int64_t last_channel = rounded(1280 * std::max(1.0, o.width_mult()));
    const auto layers = add<Sequential>("features");
    layers->append(make<Conv2dNormActivation>(conv_relu6(3, channels, norm).stride(2)));
    for (const std::vector<std::int64_t>& stage : setting) {
      dlprim::require(stage.size() == 4,
                      "inverted_residual_setting should be non-empty or a 4-element list, got ",
                      nn::repr_of(setting));
      const std::int64_t out = rounded(static_cast<double>(stage[1]) * o.width_mult());
      for (std::int64_t i = 0; i < stage[2]; ++i) {
        layers->append(
            make<mobilenetv2::InvertedResidual>(mobilenetv2::InvertedResidualOptions()
                                                    .inp(channels)
                                                    .oup(out)
                                                    .stride(i == 0 ? static_cast<int>(stage[3]) : 1)
                                                    .expand_ratio(stage[0])
                                                    .norm_layer(norm)));
        channels = out;
      }
    }
    layers->append(make<Conv2dNormActivation>(conv_relu6(channels, last_channel, norm).kernel_size(1)));
    add<Sequential>("classifier", make<Dropout>(o.dropout()), make<Linear>(last_channel, o.num_classes()));
    init_kaiming(*this);
  });
}

Tensor MobileNetV2::forward(const Tensor& x) {
  return classifier(flatten(adaptive_avg_pool2d(features(x), AdaptiveSize(1, 1)), 1));
}

const Variants<MobileNetV2Options>& MobileNetV2::variants() {
  static const auto& all = *new Variants<MobileNetV2Options>{{"mobilenet_v2", {}}};
  return all;
}

}  // namespace ocl::models
