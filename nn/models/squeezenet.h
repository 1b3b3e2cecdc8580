#pragma once

#include "nn/models/composed.h"

namespace ocl::models {

struct FireOptions {
  OPTION(std::int64_t, inplanes) = 0;
  OPTION(std::int64_t, squeeze_planes) = 0;
  OPTION(std::int64_t, expand1x1_planes) = 0;
  OPTION(std::int64_t, expand3x3_planes) = 0;
  OPTION_LIST(4, inplanes_, squeeze_planes_, expand1x1_planes_, expand3x3_planes_)
};
/** torchvision's Fire: [N, inplanes, H, W] -> [N, expand1x1_planes + expand3x3_planes, H, W]. */
class Fire : public Composed<Fire, FireOptions> {
 public:
  explicit Fire(const FireOptions& options = {});
  Tensor forward(const Tensor& x) override;

  Child<Conv2d> squeeze = child<Conv2d>("squeeze");
  Child<ReLU> squeeze_activation = child<ReLU>("squeeze_activation");
  Child<Conv2d> expand1x1 = child<Conv2d>("expand1x1");
  Child<ReLU> expand1x1_activation = child<ReLU>("expand1x1_activation");
  Child<Conv2d> expand3x3 = child<Conv2d>("expand3x3");
  Child<ReLU> expand3x3_activation = child<ReLU>("expand3x3_activation");
};

struct SqueezeNetOptions {
  SqueezeNetOptions(std::string version = "1_0") : version_(std::move(version)) {}
  OPTION(std::string, version);
  OPTION(std::int64_t, num_classes) = 1000;
  OPTION(double, dropout) = 0.5;
  OPTION_LIST(0, version_, num_classes_, dropout_)
};
/** torchvision.models.SqueezeNet: "SqueezeNet: AlexNet-level accuracy with 50x fewer parameters" (Iandola et
 * al. 2016). Pictures of 21 x 21 or more, 17 x 17 of version "1_1". Throws ValueError for another version. */
class SqueezeNet : public Composed<SqueezeNet, SqueezeNetOptions> {
 public:
  explicit SqueezeNet(const SqueezeNetOptions& options = {});
  Tensor forward(const Tensor& x) override;
  static const Variants<SqueezeNetOptions>& variants();

  Child<Sequential> features = child<Sequential>("features"), classifier = child<Sequential>("classifier");
};

}  // namespace ocl::models
