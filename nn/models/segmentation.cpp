#include "nn/models/segmentation.h"

#include <algorithm>

#include "autograd/ops/join.h"
#include "autograd/ops/resample.h"
#include "nn/models/mobilenetv3.h"

namespace ocl::models {
namespace {

Tensor as_large_as(const Tensor& x, const Tensor& picture) {
  return interpolate(x, {picture.size(-2), picture.size(-1)}, {}, "bilinear", false);
}

std::shared_ptr<Conv2d> convolution(std::int64_t in, std::int64_t out, int kernel_size, int dilation = 1) {
  return make<Conv2d>(Conv2dOptions(in, out, kernel_size)
                          .padding(Extents<2>(kernel_size / 2 * dilation))
                          .dilation(dilation)
                          .bias(false));
}

/** A convolution, its norm and a ReLU, as modules of `sequential`. */
void append_block(Sequential& sequential, std::shared_ptr<Conv2d> conv) {
  const std::int64_t out = conv->options().out_channels();
  sequential.append(std::move(conv));
  sequential.append(make<BatchNorm2d>(out));
  sequential.append(make<ReLU>());
}

}  // namespace

std::string repr_of(const ReturnLayers& layers) {
  std::string text;
  for (const auto& [name, output] : layers.names)
    text += (text.empty() ? "" : ", ") + nn::repr_of(name) + ": " + nn::repr_of(output);
  return "{" + text + "}";
}

IntermediateLayerGetter::IntermediateLayerGetter(const Sequential& layers, ReturnLayers return_layers)
    : Composed(IntermediateLayerGetterOptions(return_layers)) {
  auto& wanted = return_layers.names;
  for (const auto& [name, layer] : layers.named_children()) {
    if (wanted.empty()) break;
    register_module(name, layer);
    wanted.erase(std::remove_if(wanted.begin(), wanted.end(),
                                [&key = name](const auto& layer_name) { return layer_name.first == key; }),
                 wanted.end());
  }
  dlprim::require(wanted.empty(), "return_layers are not present in model");
}

NamedTensors IntermediateLayerGetter::outputs(const Tensor& input) {
  const ReturnLayers wanted = options().return_layers();
  NamedTensors found;
  Tensor x = input;
  for (const auto& [name, layer] : named_children()) {
    x = (*layer)(x);
    for (const auto& [key, output] : wanted.names)
      if (key == name) found.emplace_back(output, x);
  }
  return found;
}

Value IntermediateLayerGetter::call(const Arguments& arguments) {
  return value_of(outputs(arguments.matched(name(), {"x"}).front().tensor("x of " + name())));
}

namespace segmentation {

FCNHead::FCNHead(const ChannelsOptions& o) : Composed(o) {
  compose([&] {
    const std::int64_t inner = o.in_channels() / 4;
    append_block(*this, convolution(o.in_channels(), inner, 3));
    append(make<Dropout>(0.1));
    append(make<Conv2d>(inner, o.channels(), 1));
  });
}

ASPPConv::ASPPConv(const ASPPConvOptions& o) : Composed(o) {
  compose([&] { append_block(*this, convolution(o.in_channels(), o.out_channels(), 3, o.dilation())); });
}

ASPPPooling::ASPPPooling(const ASPPPoolingOptions& o) : Composed(o) {
  compose([&] {
    append(make<AdaptiveAvgPool2d>(1));
    append_block(*this, convolution(o.in_channels(), o.out_channels(), 1));
  });
}

Tensor ASPPPooling::forward(const Tensor& x) {
  return as_large_as(Sequential::forward(x), x);
}

ASPP::ASPP(const ASPPOptions& o) : Composed(o) {
  compose([&] {
    const std::int64_t in = o.in_channels(), out = o.out_channels();
    const auto branches = add<ModuleList>("convs");
    const auto narrow = make<Sequential>();
    append_block(*narrow, convolution(in, out, 1));
    branches->append(narrow);
    for (const std::int64_t rate : o.atrous_rates())
      branches->append(make<ASPPConv>(
          ASPPConvOptions().in_channels(in).out_channels(out).dilation(static_cast<int>(rate))));
    branches->append(make<ASPPPooling>(ASPPPoolingOptions().in_channels(in).out_channels(out)));
    const auto joined = add<Sequential>("project");
    append_block(*joined.get(), convolution(static_cast<std::int64_t>(branches->size()) * out, out, 1));
    joined->append(make<Dropout>(0.5));
  });
}

Tensor ASPP::forward(const Tensor& x) {
  TensorList results;
  for (const auto& branch : convs->entries()) results.push_back((*branch)(x));
  return project(cat(results, 1));
}

DeepLabHead::DeepLabHead(const DeepLabHeadOptions& o) : Composed(o) {
  compose([&] {
    append(make<ASPP>(ASPPOptions().in_channels(o.in_channels()).atrous_rates(o.atrous_rates())));
    append_block(*this, convolution(256, 256, 3));
    append(make<Conv2d>(256, o.num_classes(), 1));
  });
}

}  // namespace segmentation

void expect_weights(DeepLabV3Options& options) {
  if (!options.aux_loss()) options.aux_loss(true);
}

DeepLabV3::DeepLabV3(const DeepLabV3Options& o) : Composed(o) {
  compose([&] {
    const auto net = make<MobileNetV3>(MobileNetV3Options("large").dilated(true));
    if (const StateDict& weights = o.weights_backbone().state; !weights.empty())
      net->load_state_dict(weights);
    const std::shared_ptr<Sequential> features = net->features.get();
    const std::vector<std::int64_t> stages = mobilenetv3::stages_of(*features);
    const std::int64_t out = stages.back(), aux = stages[stages.size() - 4];
    ReturnLayers layers{{{std::to_string(out), "out"}}};
    if (o.aux_loss().value_or(false)) layers.names.emplace_back(std::to_string(aux), "aux");
    register_module("backbone", make<IntermediateLayerGetter>(*features, layers));
    add<segmentation::DeepLabHead>("classifier", segmentation::DeepLabHeadOptions()
                                                     .in_channels(mobilenetv3::channels_of(*features, out))
                                                     .num_classes(o.num_classes()));
    if (o.aux_loss().value_or(false))
      add<segmentation::FCNHead>(
          "aux_classifier",
          segmentation::ChannelsOptions(mobilenetv3::channels_of(*features, aux), o.num_classes()));
  });
  change_options([](DeepLabV3Options& own) { own.weights_backbone({}); });
}

DeepLabV3::Outputs DeepLabV3::outputs(const Tensor& x) {
  const std::string what = "what the backbone of DeepLabV3 gives";
  const Value::Mapping features = mapping_of(backbone(Arguments{{x}, {}}), what);
  Outputs result{as_large_as(classifier(entry(features, "out", what)), x), {}};
  if (const std::shared_ptr<Module> head = own_module("aux_classifier"))
    result.aux = as_large_as((*head)(entry(features, "aux", what)), x);
  return result;
}

Value DeepLabV3::call(const Arguments& arguments) {
  const Outputs all = outputs(arguments.matched(name(), {"x"}).front().tensor("x of " + name()));
  NamedTensors named{{"out", all.out}};
  if (all.aux.defined()) named.emplace_back("aux", all.aux);
  return value_of(named);
}

const Variants<DeepLabV3Options>& DeepLabV3::variants() {
  static const auto& all = *new Variants<DeepLabV3Options>{{"deeplabv3_mobilenet_v3_large", {}}};
  return all;
}

}  // namespace ocl::models
