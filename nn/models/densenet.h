#pragma once

#include "nn/models/composed.h"

namespace ocl::models {

struct DenseLayerOptions {
  OPTION(std::int64_t, num_input_features) = 0;
  OPTION(std::int64_t, growth_rate) = 0;
  OPTION(std::int64_t, bn_size) = 0;
  OPTION(double, drop_rate) = 0;
  /** Without effect: nothing is computed twice here. */
  OPTION(bool, memory_efficient) = false;
  OPTION_LIST(4, num_input_features_, growth_rate_, bn_size_, drop_rate_, memory_efficient_)
};
/** torchvision's _DenseLayer: growth_rate new channels from all before, given joined or as a list. */
class DenseLayer : public Composed<DenseLayer, DenseLayerOptions> {
 public:
  explicit DenseLayer(const DenseLayerOptions& options = {});
  Tensor forward(const Tensor& x) override;
  /** (one tensor or a sequence of them). */
  Value call(const Arguments& arguments) override;
  std::string name() const override { return "_DenseLayer"; }

  Child<BatchNorm2d> norm1 = child<BatchNorm2d>("norm1");
  Child<ReLU> relu1 = child<ReLU>("relu1");
  Child<Conv2d> conv1 = child<Conv2d>("conv1");
  Child<BatchNorm2d> norm2 = child<BatchNorm2d>("norm2");
  Child<ReLU> relu2 = child<ReLU>("relu2");
  Child<Conv2d> conv2 = child<Conv2d>("conv2");
};

struct DenseBlockOptions {
  OPTION(std::int64_t, num_layers) = 0;
  OPTION(std::int64_t, num_input_features) = 0;
  OPTION(std::int64_t, bn_size) = 0;
  OPTION(std::int64_t, growth_rate) = 0;
  OPTION(double, drop_rate) = 0;
  OPTION(bool, memory_efficient) = false;
  OPTION_LIST(5, num_layers_, num_input_features_, bn_size_, growth_rate_, drop_rate_, memory_efficient_)
};
/** torchvision's _DenseBlock: layers each of which sees what all before it gave; [N, C, H, W] ->
 * [N, C + num_layers growth_rate, H, W]. */
class DenseBlock : public Composed<DenseBlock, DenseBlockOptions, ModuleDict> {
 public:
  explicit DenseBlock(const DenseBlockOptions& options = {});
  Tensor forward(const Tensor& x) override;
  std::string name() const override { return "_DenseBlock"; }
};

struct TransitionOptions {
  TransitionOptions(std::int64_t num_input_features = 0, std::int64_t num_output_features = 0)
      : num_input_features_(num_input_features), num_output_features_(num_output_features) {}
  OPTION(std::int64_t, num_input_features);
  OPTION(std::int64_t, num_output_features);
  OPTION_LIST(2, num_input_features_, num_output_features_)
};
/** torchvision's _Transition: fewer channels, half the height and width. */
class Transition : public Composed<Transition, TransitionOptions, Sequential> {
 public:
  explicit Transition(const TransitionOptions& options = {});
  std::string name() const override { return "_Transition"; }
};

struct DenseNetOptions {
  OPTION(std::int64_t, growth_rate) = 32;
  OPTION(std::vector<std::int64_t>, block_config) = { 6, 12, 24, 16 };
  OPTION(std::int64_t, num_init_features) = 64;
  OPTION(std::int64_t, bn_size) = 4;
  OPTION(double, drop_rate) = 0;
  OPTION(std::int64_t, num_classes) = 1000;
  /** Without effect: nothing is computed twice here. */
  OPTION(bool, memory_efficient) = false;
  OPTION_LIST(0, growth_rate_, block_config_, num_init_features_, bn_size_, drop_rate_, num_classes_,
              memory_efficient_)
};
/** torchvision.models.DenseNet: "Densely Connected Convolutional Networks" (Huang et al. 2016). Pictures of
 * 29 x 29 or more. */
class DenseNet : public Composed<DenseNet, DenseNetOptions> {
 public:
  explicit DenseNet(const DenseNetOptions& options = {});
  Tensor forward(const Tensor& x) override;
  static const Variants<DenseNetOptions>& variants();

  Child<Sequential> features = child<Sequential>("features");
  Child<Linear> classifier = child<Linear>("classifier");
};

}  // namespace ocl::models
