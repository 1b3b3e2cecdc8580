#pragma once

#include "nn/models/blocks.h"

namespace ocl::models {
namespace regnet {

/** The options of all parts of one net. */
struct BlockOptions {
  OPTION(std::int64_t, width_in) = 0;
  OPTION(std::int64_t, width_out) = 0;
  OPTION(int, stride) = 1;
  OPTION(NormLayer, norm_layer) = batch_norm();
  OPTION(ActivationLayer, activation_layer) = activation<ReLU>("ReLU");
  OPTION(std::int64_t, group_width) = 1;
  OPTION(double, bottleneck_multiplier) = 1;
  /** The ratio of squeeze and excitation, if there is one. */
  OPTION(std::optional<double>, se_ratio) = std::nullopt;
  OPTION_LIST(3, width_in_, width_out_, stride_, norm_layer_, activation_layer_, group_width_,
              bottleneck_multiplier_, se_ratio_)
};

/** torchvision's SimpleStemIN: a 3x3 convolution of stride 2. */
class SimpleStemIN : public Composed<SimpleStemIN, BlockOptions, Sequential> {
 public:
  explicit SimpleStemIN(const BlockOptions& options = {});
};

/** torchvision's BottleneckTransform: 1x1, grouped 3x3 (with squeeze and excitation) and 1x1 convolutions. */
class BottleneckTransform : public Composed<BottleneckTransform, BlockOptions, Sequential> {
 public:
  explicit BottleneckTransform(const BlockOptions& options = {});
};

/** torchvision's ResBottleneckBlock: [N, width_in, H, W] -> [N, width_out, H / stride, W / stride]. */
class ResBottleneckBlock : public Composed<ResBottleneckBlock, BlockOptions> {
 public:
  explicit ResBottleneckBlock(const BlockOptions& options = {});
  Tensor forward(const Tensor& x) override;

  Child<Module> proj = child<Module>("proj");  // where width or stride change
  Child<BottleneckTransform> f = child<BottleneckTransform>("f");
  Child<Module> activation = child<Module>("activation");
};

struct StageOptions : BlockOptions {
  OPTION(std::int64_t, depth) = 0;
  OPTION(std::int64_t, stage_index) = 0;
};
/** torchvision's AnyStage: `depth` blocks, of which the first strides. */
class AnyStage : public Composed<AnyStage, NoOptions, Sequential> {
 public:
  explicit AnyStage(const NoOptions& = {}) {}
  explicit AnyStage(const StageOptions& options);
};

/** Widths and depths of the stages, all alike in the rest: torchvision's BlockParams. */
struct BlockParams {
  std::vector<std::int64_t> depths, widths, group_widths;
  double bottleneck_multiplier = 1;
  std::optional<double> se_ratio;
};

}  // namespace regnet

/** The paper's parameters of a design, and what the rest of the net is made with. */
struct RegNetOptions {
  /** Blocks in all. */
  OPTION(std::int64_t, depth) = 0;
  /** Width of the first block, slope over the blocks, and the step between widths. */
  OPTION(std::int64_t, w_0) = 0;
  OPTION(double, w_a) = 0;
  OPTION(double, w_m) = 0;
  OPTION(std::int64_t, group_width) = 1;
  OPTION(double, bottleneck_multiplier) = 1;
  OPTION(std::optional<double>, se_ratio) = std::nullopt;
  OPTION(std::int64_t, num_classes) = 1000;
  OPTION(std::int64_t, stem_width) = 32;
  OPTION(NormLayer, norm_layer) = nullptr;
  OPTION(ActivationLayer, activation) = nullptr;
  OPTION_LIST(5, depth_, w_0_, w_a_, w_m_, group_width_, bottleneck_multiplier_, se_ratio_, num_classes_,
              stem_width_, norm_layer_, activation_)

  /** Throws ValueError for what gives no net. */
  regnet::BlockParams block_params() const;
};
/** torchvision.models.RegNet: "Designing Network Design Spaces" (Radosavovic et al. 2020). Pictures of any
 * size. Throws ValueError. */
class RegNet : public Composed<RegNet, RegNetOptions> {
 public:
  explicit RegNet(const RegNetOptions& options = {});
  Tensor forward(const Tensor& x) override;
  static const Variants<RegNetOptions>& variants();

  Child<Sequential> stem = child<Sequential>("stem"), trunk_output = child<Sequential>("trunk_output");
  Child<AdaptiveAvgPool2d> avgpool = child<AdaptiveAvgPool2d>("avgpool");
  Child<Linear> fc = child<Linear>("fc");
};

}  // namespace ocl::models
