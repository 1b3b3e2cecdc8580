#pragma once

#include "nn/models/composed.h"
#include "nn/modules/transformer.h"

namespace ocl::models {

/** The convolutional part of a VGG: a 3x3 convolution to each number of channels, a pool for each 0. */
std::shared_ptr<Sequential> vgg_features(const std::vector<std::int64_t>& channels, bool batch_norm);

struct VGGOptions {
  VGGOptions(std::shared_ptr<Module> features = nullptr) : features_(std::move(features)) {}
  /** The module that gives [N, 512, H, W]; becomes a submodule. */
  OPTION(std::shared_ptr<Module>, features);
  OPTION(std::int64_t, num_classes) = 1000;
  OPTION(bool, init_weights) = true;
  OPTION(double, dropout) = 0.5;
  /** Where `features` is none: what it is made of, see vgg_features. */
  OPTION(std::vector<std::int64_t>, channels);
  OPTION(bool, batch_norm) = false;
  OPTION_LIST(1, features_, num_classes_, init_weights_, dropout_)
};
/** torchvision.models.VGG: "Very Deep Convolutional Networks for Large-Scale Image Recognition" (Simonyan and
 * Zisserman 2014). Pictures of 32 x 32 or more. */
class VGG : public Composed<VGG, VGGOptions> {
 public:
  explicit VGG(const VGGOptions& options = {});
  Tensor forward(const Tensor& x) override;
  static const Variants<VGGOptions>& variants();

  Child<Module> features = child<Module>("features");
  Child<AdaptiveAvgPool2d> avgpool = child<AdaptiveAvgPool2d>("avgpool");
  Child<Sequential> classifier = child<Sequential>("classifier");
};

}  // namespace ocl::models
