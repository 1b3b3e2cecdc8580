#pragma once

#include "nn/models/composed.h"

/** \file What several nets are made of, as torchvision.ops. */
namespace ocl::models {

struct Conv2dNormActivationOptions {
  using Size = Extents<2>;
  using Padding = Conv2dOptions::Padding;
  Conv2dNormActivationOptions() = default;
  Conv2dNormActivationOptions(std::int64_t in_channels, std::int64_t out_channels)
      : in_channels_(in_channels), out_channels_(out_channels) {}
  OPTION(std::int64_t, in_channels) = 0;
  OPTION(std::int64_t, out_channels) = 0;
  OPTION(Size, kernel_size) = 3;
  OPTION(Size, stride) = 1;
  /** Without a value, the padding that keeps the size at a stride of 1. */
  OPTION(std::optional<Padding>, padding) = std::nullopt;
  OPTION(std::int64_t, groups) = 1;
  OPTION(NormLayer, norm_layer) = batch_norm();
  OPTION(ActivationLayer, activation_layer) = activation<ReLU>("ReLU");
  OPTION(Size, dilation) = 1;
  /** In place, for the activation, if it has the option. */
  OPTION(std::optional<bool>, inplace) = true;
  /** Where it is none: whether there is no norm. */
  OPTION(std::optional<bool>, bias) = std::nullopt;
  OPTION_LIST(2, in_channels_, out_channels_, kernel_size_, stride_, padding_, groups_, norm_layer_,
              activation_layer_, dilation_, inplace_, bias_)
};
/** torchvision.ops.Conv2dNormActivation: a Sequential of a Conv2d, a norm and an activation, the latter two
 * where there are any; [N, in, H, W] -> [N, out, OH, OW]. */
class Conv2dNormActivation : public Composed<Conv2dNormActivation, Conv2dNormActivationOptions, Sequential> {
 public:
  explicit Conv2dNormActivation(const Conv2dNormActivationOptions& options = {});
};

struct SqueezeExcitationOptions {
  SqueezeExcitationOptions() = default;
  SqueezeExcitationOptions(std::int64_t input_channels, std::int64_t squeeze_channels)
      : input_channels_(input_channels), squeeze_channels_(squeeze_channels) {}
  OPTION(std::int64_t, input_channels) = 0;
  OPTION(std::int64_t, squeeze_channels) = 0;
  OPTION(ActivationLayer, activation) = models::activation<ReLU>("ReLU");
  OPTION(ActivationLayer, scale_activation) = models::activation<Sigmoid>("Sigmoid");
  OPTION_LIST(2, input_channels_, squeeze_channels_, activation_, scale_activation_)
};
/** torchvision.ops.SqueezeExcitation (Hu et al. 2017): x [N, C, H, W] times a factor for each channel, which
 * two convolutions make of the channels' means. */
class SqueezeExcitation : public Composed<SqueezeExcitation, SqueezeExcitationOptions> {
 public:
  explicit SqueezeExcitation(const SqueezeExcitationOptions& options = {});
  Tensor forward(const Tensor& x) override;

  Child<AdaptiveAvgPool2d> avgpool = child<AdaptiveAvgPool2d>("avgpool");
  Child<Conv2d> fc1 = child<Conv2d>("fc1"), fc2 = child<Conv2d>("fc2");
  Child<Module> activation = child<Module>("activation"),
                scale_activation = child<Module>("scale_activation");
};

struct MLPOptions {
  MLPOptions() = default;
  MLPOptions(std::int64_t in_channels, std::vector<std::int64_t> hidden_channels)
      : in_channels_(in_channels), hidden_channels_(std::move(hidden_channels)) {}
  OPTION(std::int64_t, in_channels) = 0;
  OPTION(std::vector<std::int64_t>, hidden_channels);
  OPTION(NormLayer, norm_layer) = nullptr;
  OPTION(ActivationLayer, activation_layer) = activation<ReLU>("ReLU");
  /** In place, for the activations and dropouts, where it has a value. */
  OPTION(std::optional<bool>, inplace) = std::nullopt;
  OPTION(bool, bias) = true;
  OPTION(double, dropout) = 0;
  OPTION_LIST(2, in_channels_, hidden_channels_, norm_layer_, activation_layer_, inplace_, bias_, dropout_)
};
/** torchvision's MLP, and the classes derived from it: a Sequential of linear layers, each but the
 * last with its norm, activation and dropout. */
void append_mlp(Sequential& sequential, const MLPOptions& options);
/** How the MLPs of transformers begin: Glorot's uniform numbers for the weights, and biases close to zero. */
void init_mlp(const Sequential& mlp);
/** torchvision.ops.MLP: [..., in_channels] -> [..., the last of hidden_channels]. */
class MLP : public Composed<MLP, MLPOptions, Sequential> {
 public:
  explicit MLP(const MLPOptions& options = {});
};

struct PermuteOptions {
  PermuteOptions(std::vector<std::int64_t> dims = {}) : dims_(std::move(dims)) {}
  OPTION(std::vector<std::int64_t>, dims);
  OPTION_LIST(1, dims_)
};
/** torchvision.ops.Permute: the dimensions in another order. */
class Permute : public Layer<Permute, PermuteOptions> {
 public:
  using Layer::Layer;
  Tensor forward(const Tensor& x) override { return permute(x, options().dims()); }
  std::string extra_repr() const override { return ""; }
};

/** torchvision's LayerNorm2d: LayerNorm over the channels of [N, C, H, W]. */
class LayerNorm2d : public LayerNorm {
 public:
  using LayerNorm::LayerNorm;
  Tensor forward(const Tensor& x) override;
  std::shared_ptr<Module> alike() const override { return std::make_shared<LayerNorm2d>(options()); }
};

}  // namespace ocl::models
