#pragma once

#include "nn/models/composed.h"

namespace ocl::models {
namespace shufflenetv2 {

struct InvertedResidualOptions {
  OPTION(std::int64_t, inp) = 0;
  OPTION(std::int64_t, oup) = 0;
  OPTION(int, stride) = 1;
  OPTION_LIST(3, inp_, oup_, stride_)
};
/** torchvision's InvertedResidual of ShuffleNetV2: [N, inp, H, W] -> [N, oup, H / stride, W / stride]. Throws
 * ValueError for strides beyond 1 to 3, and where stride 1 would change the number of channels. */
class InvertedResidual : public Composed<InvertedResidual, InvertedResidualOptions> {
 public:
  explicit InvertedResidual(const InvertedResidualOptions& options = {});
  Tensor forward(const Tensor& x) override;

  Child<Sequential> branch1 = child<Sequential>("branch1"), branch2 = child<Sequential>("branch2");
};

}  // namespace shufflenetv2

struct ShuffleNetV2Options {
  using Counts = std::vector<std::int64_t>;
  ShuffleNetV2Options() = default;
  ShuffleNetV2Options(Counts stages_repeats, Counts stages_out_channels)
      : stages_repeats_(std::move(stages_repeats)), stages_out_channels_(std::move(stages_out_channels)) {}
  /** Blocks in each of the three stages. */
  OPTION(Counts, stages_repeats);
  /** Channels of the stem, the three stages and the last convolution. */
  OPTION(Counts, stages_out_channels);
  OPTION(std::int64_t, num_classes) = 1000;
  OPTION_LIST(2, stages_repeats_, stages_out_channels_, num_classes_)
};
/** torchvision.models.ShuffleNetV2: "ShuffleNet V2: Practical Guidelines for Efficient CNN Architecture
 * Design" (Ma et al. 2018). Pictures of any size. */
class ShuffleNetV2 : public Composed<ShuffleNetV2, ShuffleNetV2Options> {
 public:
  explicit ShuffleNetV2(const ShuffleNetV2Options& options = {});
  Tensor forward(const Tensor& x) override;
  static const Variants<ShuffleNetV2Options>& variants();

  Child<Sequential> conv1 = child<Sequential>("conv1");
  Child<MaxPool2d> maxpool = child<MaxPool2d>("maxpool");
  Child<Sequential> stage2 = child<Sequential>("stage2"), stage3 = child<Sequential>("stage3"),
                    stage4 = child<Sequential>("stage4"), conv5 = child<Sequential>("conv5");
  Child<Linear> fc = child<Linear>("fc");
};

}  // namespace ocl::models
