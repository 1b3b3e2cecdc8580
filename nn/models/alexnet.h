#pragma once

#include "nn/models/composed.h"

namespace ocl::models {

struct AlexNetOptions {
  OPTION(std::int64_t, num_classes) = 1000;
  OPTION(double, dropout) = 0.5;
  OPTION_LIST(0, num_classes_, dropout_)
};
/** torchvision.models.AlexNet: "One weird trick for parallelizing convolutional neural networks" (Krizhevsky
 * 2014). Pictures of 63 x 63 or more. */
class AlexNet : public Composed<AlexNet, AlexNetOptions> {
 public:
  explicit AlexNet(const AlexNetOptions& options = {});
  Tensor forward(const Tensor& x) override;
  static const Variants<AlexNetOptions>& variants();

  Child<Sequential> features = child<Sequential>("features");
  Child<AdaptiveAvgPool2d> avgpool = child<AdaptiveAvgPool2d>("avgpool");
  Child<Sequential> classifier = child<Sequential>("classifier");
};

}  // namespace ocl::models
