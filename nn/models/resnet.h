#pragma once

#include "nn/models/composed.h"
#include "nn/modules/transformer.h"

namespace ocl::models {

struct ResNetBlockOptions {
  ResNetBlockOptions() = default;
  ResNetBlockOptions(std::int64_t inplanes, std::int64_t planes) : inplanes_(inplanes), planes_(planes) {}
  OPTION(std::int64_t, inplanes) = 0;
  OPTION(std::int64_t, planes) = 0;
  OPTION(int, stride) = 1;
  /** The module that the input goes through before it is added, if any. */
  OPTION(std::shared_ptr<Module>, downsample) = nullptr;
  OPTION(std::int64_t, groups) = 1;
  OPTION(std::int64_t, base_width) = 64;
  OPTION(int, dilation) = 1;
  OPTION(NormLayer, norm_layer) = nullptr;
  OPTION_LIST(2, inplanes_, planes_, stride_, downsample_, groups_, base_width_, dilation_, norm_layer_)
};

/** The common part of ResNet's blocks. A submodule "downsample", where there is one, stands in the shortcut.
 */
template <class Block>
class ResNetBlock : public Composed<Block, ResNetBlockOptions> {
 protected:
  using Composed<Block, ResNetBlockOptions>::Composed;
  /** Adds the shortcut, registered last, as torchvision does. */
  void add_downsample(const ResNetBlockOptions& options);
  /** relu(norm(branch) + shortcut of x) */
  Tensor joined(const Child<Module>& norm, const Tensor& branch, const Tensor& x,
                const Child<ReLU>& relu) const;
};

/** torchvision's BasicBlock: two 3x3 convolutions; [N, inplanes, H, W] -> [N, planes, H / stride, W /
 * stride]. Throws ValueError for groups, widths or dilations that it does not have. */
class BasicBlock : public ResNetBlock<BasicBlock> {
 public:
  static constexpr std::int64_t expansion = 1;
  explicit BasicBlock(const ResNetBlockOptions& options = {});
  Tensor forward(const Tensor& x) override;

  Child<Conv2d> conv1 = child<Conv2d>("conv1");
  Child<Module> bn1 = child<Module>("bn1");
  Child<ReLU> relu = child<ReLU>("relu");
  Child<Conv2d> conv2 = child<Conv2d>("conv2");
  Child<Module> bn2 = child<Module>("bn2");
};

/** torchvision's Bottleneck: a 3x3 convolution between two 1x1, with the stride at the former ("ResNet
 * V1.5"); [N, inplanes, H, W] -> [N, 4 planes, H / stride, W / stride]. */
class Bottleneck : public ResNetBlock<Bottleneck> {
 public:
  static constexpr std::int64_t expansion = 4;
  explicit Bottleneck(const ResNetBlockOptions& options = {});
  Tensor forward(const Tensor& x) override;

  Child<Conv2d> conv1 = child<Conv2d>("conv1");
  Child<Module> bn1 = child<Module>("bn1");
  Child<Conv2d> conv2 = child<Conv2d>("conv2");
  Child<Module> bn2 = child<Module>("bn2");
  Child<Conv2d> conv3 = child<Conv2d>("conv3");
  Child<Module> bn3 = child<Module>("bn3");
  Child<ReLU> relu = child<ReLU>("relu");
};

/** Which block a ResNet is made of. */
enum class ResNetBlockKind { basic, bottleneck };
std::string repr_of(ResNetBlockKind block);

/** `ResNetOptions(ResNetBlockKind::basic, {2, 2, 2, 2}).num_classes(10)` */
struct ResNetOptions {
  ResNetOptions() = default;
  ResNetOptions(ResNetBlockKind block, std::vector<std::int64_t> layers)
      : block_(block), layers_(std::move(layers)) {}
  OPTION(ResNetBlockKind, block) = ResNetBlockKind::basic;
  /** Blocks in each of the four stages. */
  OPTION(std::vector<std::int64_t>, layers);
  OPTION(std::int64_t, num_classes) = 1000;
  /** Whether the last norm of each block begins at 0, so that blocks begin as the identity. */
  OPTION(bool, zero_init_residual) = false;
  OPTION(std::int64_t, groups) = 1;
  OPTION(std::int64_t, width_per_group) = 64;
  /** Whether stages 2 to 4 dilate where they would stride: three, or none at all. */
  OPTION(std::optional<std::vector<bool>>, replace_stride_with_dilation) = std::nullopt;
  OPTION(NormLayer, norm_layer) = nullptr;
  OPTION_LIST(2, block_, layers_, num_classes_, zero_init_residual_, groups_, width_per_group_,
              replace_stride_with_dilation_, norm_layer_)
};

/** torchvision.models.ResNet: "Deep Residual Learning for Image Recognition" (He et al. 2015), "Aggregated
 * Residual Transformations" (ResNeXt, Xie et al. 2016), "Wide Residual Networks" (Zagoruyko and Komodakis
 * 2016). Pictures of any size. */
class ResNet : public Composed<ResNet, ResNetOptions> {
 public:
  explicit ResNet(const ResNetOptions& options = {});
  Tensor forward(const Tensor& x) override;
  static const Variants<ResNetOptions>& variants();

  Child<Conv2d> conv1 = child<Conv2d>("conv1");
  Child<Module> bn1 = child<Module>("bn1");
  Child<ReLU> relu = child<ReLU>("relu");
  Child<MaxPool2d> maxpool = child<MaxPool2d>("maxpool");
  Child<Sequential> layer1 = child<Sequential>("layer1"), layer2 = child<Sequential>("layer2"),
                    layer3 = child<Sequential>("layer3"), layer4 = child<Sequential>("layer4");
  Child<AdaptiveAvgPool2d> avgpool = child<AdaptiveAvgPool2d>("avgpool");
  Child<Linear> fc = child<Linear>("fc");

 private:
  template <class Block>
  void build(const ResNetOptions& options);
};

}  // namespace ocl::models
