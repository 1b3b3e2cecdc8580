#pragma once

#include "nn/models/composed.h"

namespace ocl::models {

struct CNBlockOptions {
  CNBlockOptions() = default;
  CNBlockOptions(std::int64_t dim, double layer_scale, double stochastic_depth_prob)
      : dim_(dim), layer_scale_(layer_scale), stochastic_depth_prob_(stochastic_depth_prob) {}
  OPTION(std::int64_t, dim) = 0;
  /** The initial scale of the branch. */
  OPTION(double, layer_scale) = 0;
  OPTION(double, stochastic_depth_prob) = 0;
  OPTION(NormLayer, norm_layer) = nullptr;
  OPTION_LIST(3, dim_, layer_scale_, stochastic_depth_prob_, norm_layer_)
};
/** torchvision's CNBlock: [N, dim, H, W] -> the same. */
class CNBlock : public Composed<CNBlock, CNBlockOptions> {
 public:
  explicit CNBlock(const CNBlockOptions& options = {});
  Tensor forward(const Tensor& x) override;

  Tensor layer_scale;  // [dim, 1, 1]
  Child<Sequential> block = child<Sequential>("block");
  Child<StochasticDepth> stochastic_depth = child<StochasticDepth>("stochastic_depth");
};

/** torchvision's CNBlockConfig: a stage of so many blocks, and the channels that a convolution then makes of
 * them. */
struct CNBlockConfig {
  std::int64_t input_channels;
  std::optional<std::int64_t> out_channels;
  std::int64_t num_layers;
};
std::string repr_of(const CNBlockConfig& config);

struct ConvNeXtOptions {
  using Stages = std::vector<CNBlockConfig>;
  ConvNeXtOptions(Stages block_setting = {}) : block_setting_(std::move(block_setting)) {}
  OPTION(Stages, block_setting);
  OPTION(double, stochastic_depth_prob) = 0;
  OPTION(double, layer_scale) = 1e-6;
  OPTION(std::int64_t, num_classes) = 1000;
  OPTION(NormLayer, norm_layer) = nullptr;
  OPTION_LIST(1, block_setting_, stochastic_depth_prob_, layer_scale_, num_classes_, norm_layer_)
};
/** torchvision.models.ConvNeXt: "A ConvNet for the 2020s" (Liu et al. 2022). Pictures of 32 x 32 or more. */
class ConvNeXt : public Composed<ConvNeXt, ConvNeXtOptions> {
 public:
  explicit ConvNeXt(const ConvNeXtOptions& options = {});
  Tensor forward(const Tensor& x) override;
  static const Variants<ConvNeXtOptions>& variants();

  Child<Sequential> features = child<Sequential>("features");
  Child<AdaptiveAvgPool2d> avgpool = child<AdaptiveAvgPool2d>("avgpool");
  Child<Sequential> classifier = child<Sequential>("classifier");
};

}  // namespace ocl::models
