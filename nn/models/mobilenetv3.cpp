#include "nn/models/mobilenetv3.h"

#include "nn/models/blocks.h"

namespace ocl::models {
namespace {

using mobilenetv3::InvertedResidual;
using mobilenetv3::InvertedResidualOptions;

enum class Act { relu, hardswish };

/** A block of the paper's tables, before channels are scaled. */
struct Row {
  std::int64_t in;
  int kernel;
  std::int64_t expanded, out;
  bool use_se;
  Act act;
  int stride;
};

constexpr Act RE = Act::relu, HS = Act::hardswish;

/** The first row of the last stage has the number `tail`; its channels and those after may be halved. */
struct Architecture {
  std::vector<Row> rows;
  std::size_t tail;
  std::int64_t last_channel;
};

const Architecture& architecture(const std::string& name) {
  static const auto& large = *new Architecture{{{16, 3, 16, 16, false, RE, 1},
                                                {16, 3, 64, 24, false, RE, 2},
                                                {24, 3, 72, 24, false, RE, 1},
                                                {24, 5, 72, 40, true, RE, 2},
                                                {40, 5, 120, 40, true, RE, 1},
                                                {40, 5, 120, 40, true, RE, 1},
                                                {40, 3, 240, 80, false, HS, 2},
                                                {80, 3, 200, 80, false, HS, 1},
                                                {80, 3, 184, 80, false, HS, 1},
                                                {80, 3, 184, 80, false, HS, 1},
                                                {80, 3, 480, 112, true, HS, 1},
                                                {112, 3, 672, 112, true, HS, 1},
                                                {112, 5, 672, 160, true, HS, 2},
                                                {160, 5, 960, 160, true, HS, 1},
                                                {160, 5, 960, 160, true, HS, 1}},
                                               12,
                                               1280};
  static const auto& small = *new Architecture{{{16, 3, 16, 16, true, RE, 2},
                                                {16, 3, 72, 24, false, RE, 2},
                                                {24, 3, 88, 24, false, RE, 1},
                                                {24, 5, 96, 40, true, HS, 2},
                                                {40, 5, 240, 40, true, HS, 1},
                                                {40, 5, 240, 40, true, HS, 1},
                                                {40, 5, 120, 48, true, HS, 1},
                                                {48, 5, 144, 48, true, HS, 1},
                                                {48, 5, 288, 96, true, HS, 2},
                                                {96, 5, 576, 96, true, HS, 1},
                                                {96, 5, 576, 96, true, HS, 1}},
                                               8,
                                               1024};
  dlprim::require(name == "large" || name == "small", "Unsupported model type ", name);
  return name == "large" ? large : small;
}

/** The rows as blocks, with all that the net's options say of their sizes. */
std::vector<InvertedResidualOptions> blocks_of(const MobileNetV3Options& o) {
  const Architecture& arch = architecture(o.arch());
  const auto adjusted = [&](std::int64_t channels, bool in_tail) {
    const std::int64_t halved = in_tail && o.reduced_tail() ? channels / 2 : channels;
    return make_divisible(static_cast<double>(halved) * o.width_mult());
  };
  std::vector<InvertedResidualOptions> blocks;
  for (std::size_t i = 0; i < arch.rows.size(); ++i) {
    const Row& row = arch.rows[i];
    blocks.push_back(InvertedResidualOptions()
                         .input_channels(adjusted(row.in, i > arch.tail))
                         .kernel(row.kernel)
                         .expanded_channels(adjusted(row.expanded, i > arch.tail))
                         .out_channels(adjusted(row.out, i >= arch.tail))
                         .use_se(row.use_se)
                         .use_hs(row.act == Act::hardswish)
                         .stride(row.stride)
                         .dilation(i >= arch.tail && o.dilated() ? 2 : 1));
  }
  return blocks;
}

const ActivationLayer hardswish = activation<Hardswish>("Hardswish");

}  // namespace

InvertedResidual::InvertedResidual(const InvertedResidualOptions& o) : Composed(o) {
  compose([&] {
    dlprim::require(o.stride() == 1 || o.stride() == 2, "illegal stride value");
    const std::int64_t expanded = o.expanded_channels();
    const auto conv = [&](std::int64_t in, std::int64_t out) {
      return Conv2dNormActivationOptions(in, out)
          .kernel_size(1)
          .norm_layer(or_default(o.norm_layer()))
          .activation_layer(o.use_hs() ? hardswish : activation<ReLU>("ReLU"));
    };
    const auto layers = add<Sequential>("block");
    if (expanded != o.input_channels())
      layers->append(make<Conv2dNormActivation>(conv(o.input_channels(), expanded)));
    layers->append(make<Conv2dNormActivation>(conv(expanded, expanded)
                                                  .kernel_size(o.kernel())
                                                  .stride(o.dilation() > 1 ? 1 : o.stride())
                                                  .dilation(o.dilation())
                                                  .groups(expanded)));
    if (o.use_se())
      layers->append(make<SqueezeExcitation>(
          SqueezeExcitationOptions(expanded, make_divisible(static_cast<double>(expanded / 4)))
              .scale_activation(activation<Hardsigmoid>("Hardsigmoid"))));
    layers->append(make<Conv2dNormActivation>(conv(expanded, o.out_channels()).activation_layer(nullptr)));
  });
}

Tensor InvertedResidual::forward(const Tensor& x) {
  const InvertedResidualOptions o = options();
  Tensor result = block(x);
  return o.stride() == 1 && o.input_channels() == o.out_channels() ? result.add_(x) : result;
}

std::vector<std::int64_t> mobilenetv3::stages_of(const Sequential& features) {
  std::vector<std::int64_t> stages{0};
  const auto last = static_cast<std::int64_t>(features.size()) - 1;
  for (std::int64_t i = 1; i < last; ++i)
    if (dynamic_cast<const InvertedResidual&>(*features.at(i)).options().stride() > 1) stages.push_back(i);
  stages.push_back(last);
  return stages;
}

std::int64_t mobilenetv3::channels_of(const Sequential& features, std::int64_t index) {
  const std::shared_ptr<Module> layer = features.at(index);
  if (const auto* block = dynamic_cast<const InvertedResidual*>(layer.get()))
    return block->options().out_channels();
  return dynamic_cast<const Conv2dNormActivation&>(*layer).options().out_channels();
}

MobileNetV3::MobileNetV3(const MobileNetV3Options& o) : Composed(o) {
  compose([&] {
    const NormLayer norm = or_default(o.norm_layer(), batch_norm(0.001, 0.01));
    const std::vector<InvertedResidualOptions> blocks = blocks_of(o);
    const auto conv = [&](std::int64_t in, std::int64_t out) {
      return Conv2dNormActivationOptions(in, out).norm_layer(norm).activation_layer(hardswish);
    };
    const auto layers = add<Sequential>("features");
    layers->append(make<Conv2dNormActivation>(conv(3, blocks.front().input_channels()).stride(2)));
    for (InvertedResidualOptions block : blocks)
      layers->append(make<InvertedResidual>(block.norm_layer(norm)));
    const std::int64_t in = blocks.back().out_channels(), out = 6 * in;
    layers->append(make<Conv2dNormActivation>(conv(in, out).kernel_size(1)));
    add<AdaptiveAvgPool2d>("avgpool", 1);
    const std::int64_t last =
        make_divisible(static_cast<double>(architecture(o.arch()).last_channel / (o.reduced_tail() ? 2 : 1)) *
                       o.width_mult());
    add<Sequential>(
        "classifier", make<Linear>(out, last), make<Hardswish>(Hardswish::Options().inplace(true)),
        make<Dropout>(DropoutOptions(o.dropout()).inplace(true)), make<Linear>(last, o.num_classes()));
    init_kaiming(*this);
  });
}

Tensor MobileNetV3::forward(const Tensor& x) {
  return classifier(flatten(avgpool(features(x)), 1));
}

const Variants<MobileNetV3Options>& MobileNetV3::variants() {
  static const auto& all =
      *new Variants<MobileNetV3Options>{{"mobilenet_v3_large", {"large"}}, {"mobilenet_v3_small", {"small"}}};
  return all;
}

}  // namespace ocl::models
