#pragma once

#include "nn/models/composed.h"

namespace ocl::models {
namespace mobilenetv3 {

/** torchvision's InvertedResidualConfig, and how the block is made of it. */
struct InvertedResidualOptions {
  OPTION(std::int64_t, input_channels) = 0;
  OPTION(int, kernel) = 3;
  OPTION(std::int64_t, expanded_channels) = 0;
  OPTION(std::int64_t, out_channels) = 0;
  OPTION(bool, use_se) = false;
  /** Hardswish, else ReLU. */
  OPTION(bool, use_hs) = false;
  OPTION(int, stride) = 1;
  OPTION(int, dilation) = 1;
  OPTION(NormLayer, norm_layer) = nullptr;
  OPTION_LIST(8, input_channels_, kernel_, expanded_channels_, out_channels_, use_se_, use_hs_, stride_,
              dilation_, norm_layer_)
};
/** torchvision's InvertedResidual of MobileNetV3: [N, input_channels, H, W] -> [N, out_channels, H / stride,
 * W / stride]. Throws ValueError for strides other than 1 and 2. */
class InvertedResidual : public Composed<InvertedResidual, InvertedResidualOptions> {
 public:
  explicit InvertedResidual(const InvertedResidualOptions& options = {});
  Tensor forward(const Tensor& x) override;

  Child<Sequential> block = child<Sequential>("block");
};

/** Where the stages of a MobileNetV3's features begin: the first layer, those with a stride (or with dilation
 * in its place), and the last one. (torchvision's C0 to Cn) */
std::vector<std::int64_t> stages_of(const Sequential& features);
/** How many channels layer `index` of the features gives. */
std::int64_t channels_of(const Sequential& features, std::int64_t index);

}  // namespace mobilenetv3

/** `MobileNetV3Options("small")` */
struct MobileNetV3Options {
  MobileNetV3Options(std::string arch = "large") : arch_(std::move(arch)) {}
  /** "large" or "small". */
  OPTION(std::string, arch);
  OPTION(std::int64_t, num_classes) = 1000;
  OPTION(NormLayer, norm_layer) = nullptr;
  OPTION(double, dropout) = 0.2;
  OPTION(double, width_mult) = 1;
  /** Half the channels in the last stage. */
  OPTION(bool, reduced_tail) = false;
  /** Dilation in place of the last stride. */
  OPTION(bool, dilated) = false;
  OPTION_LIST(1, arch_, num_classes_, norm_layer_, dropout_, width_mult_, reduced_tail_, dilated_)
};
/** torchvision.models.MobileNetV3: "Searching for MobileNetV3" (Howard et al. 2019). Pictures of any size.
 * Throws ValueError for another arch. */
class MobileNetV3 : public Composed<MobileNetV3, MobileNetV3Options> {
 public:
  explicit MobileNetV3(const MobileNetV3Options& options = {});
  Tensor forward(const Tensor& x) override;
  static const Variants<MobileNetV3Options>& variants();

  Child<Sequential> features = child<Sequential>("features");
  Child<AdaptiveAvgPool2d> avgpool = child<AdaptiveAvgPool2d>("avgpool");
  Child<Sequential> classifier = child<Sequential>("classifier");
};

}  // namespace ocl::models
