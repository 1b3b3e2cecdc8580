#include "nn/models/shufflenetv2.h"

#include "autograd/ops/join.h"
#include "autograd/ops/resample.h"

namespace ocl::models {
namespace {

using dlprim::require;
using shufflenetv2::InvertedResidual;
using shufflenetv2::InvertedResidualOptions;

void append_conv(Sequential& layers, const Conv2dOptions& conv, bool with_relu = true) {
  layers.append(make<Conv2d>(Conv2dOptions(conv).bias(false)));
  layers.append(make<BatchNorm2d>(conv.out_channels()));
  if (with_relu) layers.append(inplace_relu());
}

Conv2dOptions depthwise(std::int64_t channels, int stride) {
  return Conv2dOptions(channels, channels, 3).stride(stride).padding(1).groups(channels);
}

ShuffleNetV2Options scaled(std::vector<std::int64_t> channels) {
  return {{4, 8, 4}, std::move(channels)};
}

}  // namespace

InvertedResidual::InvertedResidual(const InvertedResidualOptions& o) : Composed(o) {
  compose([&] {
    require(1 <= o.stride() && o.stride() <= 3, "illegal stride value");
    const std::int64_t branch = o.oup() / 2;
    require(o.stride() > 1 || o.inp() == 2 * branch, "Invalid combination of stride ", o.stride(), ", inp ",
            o.inp(), " and oup ", o.oup(),
            " values. If stride == 1 then inp should be equal to oup // 2 << 1.");
    const auto first = add<Sequential>("branch1"), second = add<Sequential>("branch2");
    if (o.stride() > 1) {
      append_conv(*first.get(), depthwise(o.inp(), o.stride()), false);
      append_conv(*first.get(), Conv2dOptions(o.inp(), branch, 1));
    }
    append_conv(*second.get(), Conv2dOptions(o.stride() > 1 ? o.inp() : branch, branch, 1));
    append_conv(*second.get(), depthwise(branch, o.stride()), false);
    append_conv(*second.get(), Conv2dOptions(branch, branch, 1));
  });
}

Tensor InvertedResidual::forward(const Tensor& x) {
  if (options().stride() > 1) return channel_shuffle(cat({branch1(x), branch2(x)}, 1), 2);
  const TensorList halves = chunk(x, 2, 1);
  return channel_shuffle(cat({halves[0], branch2(halves[1])}, 1), 2);
}

ShuffleNetV2::ShuffleNetV2(const ShuffleNetV2Options& o) : Composed(o) {
  compose([&] {
    const auto& channels = o.stages_out_channels();
    require(o.stages_repeats().size() == 3, "expected stages_repeats as list of 3 positive ints");
    require(channels.size() == 5, "expected stages_out_channels as list of 5 positive ints");
    const auto first = add<Sequential>("conv1");
    append_conv(*first.get(), Conv2dOptions(3, channels[0], 3).stride(2).padding(1));
    add<MaxPool2d>("maxpool", MaxPool2d::Options(3).stride(2).padding(1));
    for (const std::size_t stage : {1, 2, 3}) {
      const auto blocks = add<Sequential>("stage" + std::to_string(stage + 1));
      for (std::int64_t i = 0; i < o.stages_repeats()[stage - 1]; ++i)
        blocks->append(make<InvertedResidual>(InvertedResidualOptions()
                                                  .inp(channels[i == 0 ? stage - 1 : stage])
                                                  .oup(channels[stage])
                                                  .stride(i == 0 ? 2 : 1)));
    }
    const auto last = add<Sequential>("conv5");
    append_conv(*last.get(), Conv2dOptions(channels[3], channels[4], 1));
    add<Linear>("fc", channels[4], o.num_classes());
  });
}

Tensor ShuffleNetV2::forward(const Tensor& x) {
  return fc(conv5(stage4(stage3(stage2(maxpool(conv1(x)))))).mean({2, 3}));
}

const Variants<ShuffleNetV2Options>& ShuffleNetV2::variants() {
  static const auto& all = *new Variants<ShuffleNetV2Options>{
      {"shufflenet_v2_x0_5", scaled({24, 48, 96, 192, 1024})},
      {"shufflenet_v2_x1_0", scaled({24, 116, 232, 464, 1024})},
      {"shufflenet_v2_x1_5", scaled({24, 176, 352, 704, 1024})},
      {"shufflenet_v2_x2_0", scaled({24, 244, 488, 976, 2048})},
  };
  return all;
}

}  // namespace ocl::models
