#pragma once

#include "nn/models/composed.h"

namespace ocl::models {
namespace efficientnet {

/** torchvision's MBConvConfig and FusedMBConvConfig, of one stage or one block, and how a block is made of
 * it.
 */
struct MBConvOptions {
  OPTION(double, expand_ratio) = 1;
  OPTION(int, kernel) = 3;
  OPTION(int, stride) = 1;
  OPTION(std::int64_t, input_channels) = 0;
  OPTION(std::int64_t, out_channels) = 0;
  OPTION(double, stochastic_depth_prob) = 0;
  OPTION(NormLayer, norm_layer) = nullptr;
  OPTION_LIST(5, expand_ratio_, kernel_, stride_, input_channels_, out_channels_, stochastic_depth_prob_,
              norm_layer_)
};

/** The common part of MBConv and FusedMBConv. */
template <class Block>
class MBConvBase : public Composed<Block, MBConvOptions> {
 public:
  Tensor forward(const Tensor& x) override;

  Child<Sequential> block = this->template child<Sequential>("block");
  Child<StochasticDepth> stochastic_depth = this->template child<StochasticDepth>("stochastic_depth");

 protected:
  using Composed<Block, MBConvOptions>::Composed;
};

/** torchvision's MBConv: an inverted residual with squeeze and excitation; [N, input_channels, H, W] ->
 * [N, out_channels, H / stride, W / stride]. Throws ValueError for strides other than 1 and 2. */
class MBConv : public MBConvBase<MBConv> {
 public:
  explicit MBConv(const MBConvOptions& options = {});
};

/** torchvision's FusedMBConv: as MBConv, with one convolution in place of the first two. */
class FusedMBConv : public MBConvBase<FusedMBConv> {
 public:
  explicit FusedMBConv(const MBConvOptions& options = {});
};

/** So many blocks of one kind, the first with the stride and the input's channels. */
struct Stage {
  bool fused;
  double expand_ratio;
  int kernel, stride;
  std::int64_t input_channels, out_channels, num_layers;
};
std::string repr_of(const Stage& stage);

}  // namespace efficientnet

/** torchvision.models.EfficientNet's. */
struct EfficientNetOptions {
  using Stages = std::vector<efficientnet::Stage>;
  EfficientNetOptions(Stages stages = {}) : inverted_residual_setting_(std::move(stages)) {}
  OPTION(Stages, inverted_residual_setting);
  OPTION(double, dropout) = 0.2;
  OPTION(double, stochastic_depth_prob) = 0.2;
  OPTION(std::int64_t, num_classes) = 1000;
  OPTION(NormLayer, norm_layer) = nullptr;
  /** Channels of the last convolution; without a value, four times its input's. */
  OPTION(std::optional<std::int64_t>, last_channel) = std::nullopt;
  OPTION_LIST(1, inverted_residual_setting_, dropout_, stochastic_depth_prob_, num_classes_, norm_layer_,
              last_channel_)
};
/** torchvision.models.EfficientNet: "EfficientNet: Rethinking Model Scaling for Convolutional Neural
 * Networks" (Tan and Le 2019), "EfficientNetV2: Smaller Models and Faster Training" (2021). Pictures of any
 * size. */
class EfficientNet : public Composed<EfficientNet, EfficientNetOptions> {
 public:
  explicit EfficientNet(const EfficientNetOptions& options = {});
  Tensor forward(const Tensor& x) override;
  static const Variants<EfficientNetOptions>& variants();

  Child<Sequential> features = child<Sequential>("features");
  Child<AdaptiveAvgPool2d> avgpool = child<AdaptiveAvgPool2d>("avgpool");
  Child<Sequential> classifier = child<Sequential>("classifier");
};

}  // namespace ocl::models
