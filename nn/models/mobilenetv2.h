#pragma once

#include "nn/models/composed.h"

namespace ocl::models {
namespace mobilenetv2 {

struct InvertedResidualOptions {
  OPTION(std::int64_t, inp) = 0;
  OPTION(std::int64_t, oup) = 0;
  OPTION(int, stride) = 1;
  OPTION(std::int64_t, expand_ratio) = 1;
  OPTION(NormLayer, norm_layer) = nullptr;
  OPTION_LIST(4, inp_, oup_, stride_, expand_ratio_, norm_layer_)
};
/** torchvision's InvertedResidual of MobileNetV2: [N, inp, H, W] -> [N, oup, H / stride, W / stride]. Throws
 * ValueError for strides other than 1 and 2. */
class InvertedResidual : public Composed<InvertedResidual, InvertedResidualOptions> {
 public:
  explicit InvertedResidual(const InvertedResidualOptions& options = {});
  Tensor forward(const Tensor& x) override;

  Child<Sequential> conv = child<Sequential>("conv");
};

}  // namespace mobilenetv2

struct MobileNetV2Options {
  using Setting = std::vector<std::vector<std::int64_t>>;
  OPTION(std::int64_t, num_classes) = 1000;
  OPTION(double, width_mult) = 1;
  /** {expand_ratio, channels, blocks, stride of the first} of each stage; the paper's where there are none.
   */
  OPTION(std::optional<Setting>, inverted_residual_setting) = std::nullopt;
  OPTION(std::int64_t, round_nearest) = 8;
  OPTION(NormLayer, norm_layer) = nullptr;
  OPTION(double, dropout) = 0.2;
  OPTION_LIST(0, num_classes_, width_mult_, inverted_residual_setting_, round_nearest_, norm_layer_, dropout_)
};
/** torchvision.models.MobileNetV2: "MobileNetV2: Inverted Residuals and Linear Bottlenecks" (Sandler et al.
 * 2018). Pictures of any size. */
class MobileNetV2 : public Composed<MobileNetV2, MobileNetV2Options> {
 public:
  explicit MobileNetV2(const MobileNetV2Options& options = {});
  Tensor forward(const Tensor& x) override;
  static const Variants<MobileNetV2Options>& variants();

  Child<Sequential> features = child<Sequential>("features"), classifier = child<Sequential>("classifier");
};

}  // namespace ocl::models
