#pragma once

#include "nn/models/inception_parts.h"

namespace ocl::models {
namespace googlenet {

struct InceptionOptions {
  OPTION(std::int64_t, in_channels) = 0;
  OPTION(std::int64_t, ch1x1) = 0;
  OPTION(std::int64_t, ch3x3red) = 0;
  OPTION(std::int64_t, ch3x3) = 0;
  OPTION(std::int64_t, ch5x5red) = 0;
  OPTION(std::int64_t, ch5x5) = 0;
  OPTION(std::int64_t, pool_proj) = 0;
  OPTION_LIST(7, in_channels_, ch1x1_, ch3x3red_, ch3x3_, ch5x5red_, ch5x5_, pool_proj_)
};
/** torchvision's Inception: four branches, joined; [N, in_channels, H, W] -> [N, ch1x1 + ch3x3 + ch5x5 +
 * pool_proj, H, W]. (The "5x5" branch has a kernel of 3, as torchvision's.) */
class Inception : public Composed<Inception, InceptionOptions> {
 public:
  explicit Inception(const InceptionOptions& options = {});
  Tensor forward(const Tensor& x) override;

  Child<BasicConv2d> branch1 = child<BasicConv2d>("branch1");
  Child<Sequential> branch2 = child<Sequential>("branch2"), branch3 = child<Sequential>("branch3"),
                    branch4 = child<Sequential>("branch4");
};

struct InceptionAuxOptions {
  InceptionAuxOptions(std::int64_t in_channels = 0, std::int64_t num_classes = 0)
      : in_channels_(in_channels), num_classes_(num_classes) {}
  OPTION(std::int64_t, in_channels);
  OPTION(std::int64_t, num_classes);
  OPTION(double, dropout) = 0.7;
  OPTION_LIST(2, in_channels_, num_classes_, dropout_)
};
/** torchvision's InceptionAux of GoogLeNet: [N, in_channels, H, W] -> [N, num_classes]. */
class InceptionAux : public Composed<InceptionAux, InceptionAuxOptions> {
 public:
  explicit InceptionAux(const InceptionAuxOptions& options = {});
  Tensor forward(const Tensor& x) override;

  Child<BasicConv2d> conv = child<BasicConv2d>("conv");
  Child<Linear> fc1 = child<Linear>("fc1"), fc2 = child<Linear>("fc2");
  Child<Dropout> dropout = child<Dropout>("dropout");
};

}  // namespace googlenet

struct GoogLeNetOptions {
  OPTION(std::int64_t, num_classes) = 1000;
  OPTION(bool, aux_logits) = true;
  /** From torchvision's mean and deviation of pictures to those that the paper's weights expect. */
  OPTION(bool, transform_input) = false;
  /** None: true. */
  OPTION(std::optional<bool>, init_weights) = std::nullopt;
  OPTION(double, dropout) = 0.2;
  OPTION(double, dropout_aux) = 0.7;
  OPTION_LIST(0, num_classes_, aux_logits_, transform_input_, init_weights_, dropout_, dropout_aux_)
};
/** torchvision.models.GoogLeNet: "Going Deeper with Convolutions" (Szegedy et al. 2014). Pictures of 15 x 15
 * or more. */
class GoogLeNet : public Composed<GoogLeNet, GoogLeNetOptions> {
 public:
  /** aux_logits2 and aux_logits1: undefined but while training with aux_logits. */
  struct Outputs {
    Tensor logits, aux_logits2, aux_logits1;
  };
  explicit GoogLeNet(const GoogLeNetOptions& options = {});
  Outputs outputs(const Tensor& x);
  /** The logits alone. */
  Tensor forward(const Tensor& x) override { return outputs(x).logits; }
  /** While training with aux_logits (logits, aux_logits2, aux_logits1), else the logits. */
  Value call(const Arguments& arguments) override;
  static const Variants<GoogLeNetOptions>& variants();

  Child<BasicConv2d> conv1 = child<BasicConv2d>("conv1");
  Child<MaxPool2d> maxpool1 = child<MaxPool2d>("maxpool1");
  Child<BasicConv2d> conv2 = child<BasicConv2d>("conv2"), conv3 = child<BasicConv2d>("conv3");
  Child<MaxPool2d> maxpool2 = child<MaxPool2d>("maxpool2");
  Child<googlenet::Inception> inception3a = child<googlenet::Inception>("inception3a"),
                              inception3b = child<googlenet::Inception>("inception3b");
  Child<MaxPool2d> maxpool3 = child<MaxPool2d>("maxpool3");
  Child<googlenet::Inception> inception4a = child<googlenet::Inception>("inception4a"),
                              inception4b = child<googlenet::Inception>("inception4b"),
                              inception4c = child<googlenet::Inception>("inception4c"),
                              inception4d = child<googlenet::Inception>("inception4d"),
                              inception4e = child<googlenet::Inception>("inception4e");
  Child<MaxPool2d> maxpool4 = child<MaxPool2d>("maxpool4");
  Child<googlenet::Inception> inception5a = child<googlenet::Inception>("inception5a"),
                              inception5b = child<googlenet::Inception>("inception5b");
  Child<googlenet::InceptionAux> aux1 = child<googlenet::InceptionAux>("aux1"),
                                 aux2 = child<googlenet::InceptionAux>("aux2");  // with aux_logits
  Child<AdaptiveAvgPool2d> avgpool = child<AdaptiveAvgPool2d>("avgpool");
  Child<Dropout> dropout = child<Dropout>("dropout");
  Child<Linear> fc = child<Linear>("fc");
};

}  // namespace ocl::models
