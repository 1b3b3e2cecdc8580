#pragma once

#include "nn/models/backbone.h"

/** torchvision's nets of semantic segmentation: pictures [N, 3, H, W] -> classes [N, num_classes, H, W]. */
namespace ocl::models {

/** Layers of a net by the names that their outputs get: {{"16", "out"}}. */
struct ReturnLayers {
  std::vector<std::pair<std::string, std::string>> names;
};
std::string repr_of(const ReturnLayers& layers);

struct IntermediateLayerGetterOptions {
  IntermediateLayerGetterOptions(ReturnLayers return_layers = {})
      : return_layers_(std::move(return_layers)) {}
  OPTION(ReturnLayers, return_layers);
  OPTION_LIST(1, return_layers_)
};
/** torchvision's IntermediateLayerGetter: modules one after another, up to the last whose output is wanted;
 * it gives what `return_layers` names. */
class IntermediateLayerGetter
    : public Composed<IntermediateLayerGetter, IntermediateLayerGetterOptions, ModuleDict> {
 public:
  using Composed::Composed;
  IntermediateLayerGetter(const Sequential& layers, ReturnLayers return_layers);
  NamedTensors outputs(const Tensor& x);
  Value call(const Arguments& arguments) override;
};

namespace segmentation {

struct ChannelsOptions {
  ChannelsOptions(std::int64_t in_channels = 0, std::int64_t channels = 0)
      : in_channels_(in_channels), channels_(channels) {}
  OPTION(std::int64_t, in_channels);
  OPTION(std::int64_t, channels);
  OPTION_LIST(2, in_channels_, channels_)
};
/** torchvision's FCNHead: [N, in_channels, H, W] -> [N, channels, H, W]. */
class FCNHead : public Composed<FCNHead, ChannelsOptions, Sequential> {
 public:
  explicit FCNHead(const ChannelsOptions& options = {});
};

struct ASPPConvOptions {
  OPTION(std::int64_t, in_channels) = 0;
  OPTION(std::int64_t, out_channels) = 0;
  OPTION(int, dilation) = 1;
  OPTION_LIST(3, in_channels_, out_channels_, dilation_)
};
/** torchvision's ASPPConv: [N, in_channels, H, W] -> [N, out_channels, H, W]. */
class ASPPConv : public Composed<ASPPConv, ASPPConvOptions, Sequential> {
 public:
  explicit ASPPConv(const ASPPConvOptions& options = {});
};
struct ASPPPoolingOptions {
  OPTION(std::int64_t, in_channels) = 0;
  OPTION(std::int64_t, out_channels) = 0;
  OPTION_LIST(2, in_channels_, out_channels_)
};
/** torchvision's ASPPPooling: the means of channels, mixed, at every place; [N, in_channels, H, W] -> [N,
 * out_channels, H, W]. */
class ASPPPooling : public Composed<ASPPPooling, ASPPPoolingOptions, Sequential> {
 public:
  explicit ASPPPooling(const ASPPPoolingOptions& options = {});
  Tensor forward(const Tensor& x) override;
};

struct ASPPOptions {
  OPTION(std::int64_t, in_channels) = 0;
  OPTION(std::vector<std::int64_t>, atrous_rates);
  OPTION(std::int64_t, out_channels) = 256;
  OPTION_LIST(2, in_channels_, atrous_rates_, out_channels_)
};
/** torchvision's ASPP (atrous spatial pyramid pooling): [N, in_channels, H, W] -> [N, out_channels, H, W]. */
class ASPP : public Composed<ASPP, ASPPOptions> {
 public:
  explicit ASPP(const ASPPOptions& options = {});
  Tensor forward(const Tensor& x) override;

  Child<ModuleList> convs = child<ModuleList>("convs");
  Child<Sequential> project = child<Sequential>("project");
};

struct DeepLabHeadOptions {
  OPTION(std::int64_t, in_channels) = 0;
  OPTION(std::int64_t, num_classes) = 0;
  OPTION(std::vector<std::int64_t>, atrous_rates) { 12, 24, 36 };
  OPTION_LIST(2, in_channels_, num_classes_, atrous_rates_)
};
/** torchvision's DeepLabHead: [N, in_channels, H, W] -> [N, num_classes, H, W]. */
class DeepLabHead : public Composed<DeepLabHead, DeepLabHeadOptions, Sequential> {
 public:
  explicit DeepLabHead(const DeepLabHeadOptions& options = {});
};

}  // namespace segmentation

struct DeepLabV3Options {
  OPTION(std::int64_t, num_classes) = 21;
  /** Whether there is an auxiliary classifier; none: where a file of weights is loaded. */
  OPTION(std::optional<bool>, aux_loss) = std::nullopt;
  /** Weights of mobilenet_v3_large. */
  OPTION(BackboneWeights, weights_backbone);
  OPTION_LIST(0, num_classes_, aux_loss_, weights_backbone_)
};
/** A part that a file of torchvision's weights expects: its auxiliary classifier. */
void expect_weights(DeepLabV3Options& options);

/** torchvision.models.segmentation.DeepLabV3: "Rethinking Atrous Convolution for Semantic Image Segmentation"
 * (Chen et al. 2017), over a MobileNetV3 with dilation. It trains on two pictures and more at once, as one
 * value a channel has no variance. */
class DeepLabV3 : public Composed<DeepLabV3, DeepLabV3Options> {
 public:
  /** [N, num_classes, H, W] each; aux: undefined without aux_loss. */
  struct Outputs {
    Tensor out, aux;
  };
  explicit DeepLabV3(const DeepLabV3Options& options = {});
  Outputs outputs(const Tensor& x);
  /** `out` alone. */
  Tensor forward(const Tensor& x) override { return outputs(x).out; }
  /** {"out": …} and, with aux_loss, "aux". */
  Value call(const Arguments& arguments) override;
  static const Variants<DeepLabV3Options>& variants();

  Child<Module> backbone = child<Module>("backbone");
  Child<Module> classifier = child<Module>("classifier");
};

}  // namespace ocl::models
