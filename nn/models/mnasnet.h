#pragma once

#include "nn/models/composed.h"

namespace ocl::models {
namespace mnasnet {

struct InvertedResidualOptions {
  OPTION(std::int64_t, in_ch) = 0;
  OPTION(std::int64_t, out_ch) = 0;
  OPTION(int, kernel_size) = 3;
  OPTION(int, stride) = 1;
  OPTION(std::int64_t, expansion_factor) = 1;
  OPTION(double, bn_momentum) = 0.1;
  OPTION_LIST(5, in_ch_, out_ch_, kernel_size_, stride_, expansion_factor_, bn_momentum_)
};
/** torchvision's _InvertedResidual of MNASNet: [N, in_ch, H, W] -> [N, out_ch, H / stride, W / stride].
 * Throws ValueError for strides other than 1 and 2, kernel sizes other than 3 and 5. */
class InvertedResidual : public Composed<InvertedResidual, InvertedResidualOptions> {
 public:
  explicit InvertedResidual(const InvertedResidualOptions& options = {});
  Tensor forward(const Tensor& x) override;
  std::string name() const override { return "_InvertedResidual"; }

  Child<Sequential> layers = child<Sequential>("layers");
};

}  // namespace mnasnet

struct MNASNetOptions {
  MNASNetOptions(double alpha = 1) : alpha_(alpha) {}
  /** The scale of the channels. */
  OPTION(double, alpha);
  OPTION(std::int64_t, num_classes) = 1000;
  OPTION(double, dropout) = 0.2;
  OPTION_LIST(1, alpha_, num_classes_, dropout_)
};
/** torchvision.models.MNASNet: "MnasNet: Platform-Aware Neural Architecture Search for Mobile" (Tan et al.
 * 2018). Pictures of any size. Throws ValueError for an alpha that is not positive. */
class MNASNet : public Composed<MNASNet, MNASNetOptions> {
 public:
  explicit MNASNet(const MNASNetOptions& options = {});
  Tensor forward(const Tensor& x) override;
  static const Variants<MNASNetOptions>& variants();

  Child<Sequential> layers = child<Sequential>("layers"), classifier = child<Sequential>("classifier");
};

}  // namespace ocl::models
