#include "nn/models/mnasnet.h"

#include "autograd/ops/pointwise.h"
#include "nn/init.h"

namespace ocl::models {
namespace {

using dlprim::require;
using mnasnet::InvertedResidual;
using mnasnet::InvertedResidualOptions;

constexpr double momentum = 1 - 0.9997;

/** A convolution, its norm, and a ReLU unless it is the last of its kind. */
void append_conv(Sequential& layers, const Conv2dOptions& conv, double bn_momentum, bool with_relu = true) {
  layers.append(make<Conv2d>(Conv2dOptions(conv).bias(false)));
  layers.append(make<BatchNorm2d>(BatchNormOptions(conv.out_channels()).momentum(bn_momentum)));
  if (with_relu) layers.append(inplace_relu());
}

Conv2dOptions depthwise(std::int64_t channels, int kernel_size) {
  return Conv2dOptions(channels, channels, kernel_size).padding(kernel_size / 2).groups(channels);
}

/** So many blocks, of which the first strides. */
struct Stack {
  int kernel_size, stride;
  std::int64_t expansion_factor;
  int repeats;
};

std::shared_ptr<Sequential> stacked(std::int64_t in, std::int64_t out, const Stack& stack) {
  const auto blocks = make<Sequential>();
  for (int i = 0; i < stack.repeats; ++i)
    blocks->append(make<InvertedResidual>(InvertedResidualOptions()
                                              .in_ch(i == 0 ? in : out)
                                              .out_ch(out)
                                              .kernel_size(stack.kernel_size)
                                              .stride(i == 0 ? stack.stride : 1)
                                              .expansion_factor(stack.expansion_factor)
                                              .bn_momentum(momentum)));
  return blocks;
}

}  // namespace

InvertedResidual::InvertedResidual(const InvertedResidualOptions& o) : Composed(o) {
  compose([&] {
    require(o.stride() == 1 || o.stride() == 2, "stride should be 1 or 2 instead of ", o.stride());
    require(o.kernel_size() == 3 || o.kernel_size() == 5, "kernel_size should be 3 or 5 instead of ",
            o.kernel_size());
    const std::int64_t middle = o.in_ch() * o.expansion_factor();
    const auto all = add<Sequential>("layers");
    append_conv(*all.get(), Conv2dOptions(o.in_ch(), middle, 1), o.bn_momentum());
    append_conv(*all.get(), depthwise(middle, o.kernel_size()).stride(o.stride()), o.bn_momentum());
    append_conv(*all.get(), Conv2dOptions(middle, o.out_ch(), 1), o.bn_momentum(), false);
  });
}

Tensor InvertedResidual::forward(const Tensor& x) {
  const InvertedResidualOptions o = options();
  return o.in_ch() == o.out_ch() && o.stride() == 1 ? layers(x) + x : layers(x);
}

MNASNet::MNASNet(const MNASNetOptions& o) : Composed(o) {
  compose([&] {
    require(o.alpha() > 0, "alpha should be greater than 0.0 instead of ", o.alpha());
    std::vector<std::int64_t> depths{32, 16, 24, 40, 80, 96, 192, 320};
    for (std::int64_t& depth : depths) depth = make_divisible(static_cast<double>(depth) * o.alpha());
    const auto all = add<Sequential>("layers");
    append_conv(*all.get(), Conv2dOptions(3, depths[0], 3).padding(1).stride(2), momentum);
    append_conv(*all.get(), depthwise(depths[0], 3), momentum);
    append_conv(*all.get(), Conv2dOptions(depths[0], depths[1], 1), momentum, false);
    const Stack stacks[]{{3, 2, 3, 3}, {5, 2, 3, 3}, {5, 2, 6, 3}, {3, 1, 6, 2}, {5, 2, 6, 4}, {3, 1, 6, 1}};
    std::size_t i = 1;
    for (const Stack& stack : stacks) {
      all->append(stacked(depths[i], depths[i + 1], stack));
      ++i;
    }
    append_conv(*all.get(), Conv2dOptions(depths.back(), 1280, 1), momentum);
    add<Sequential>("classifier", make<Dropout>(DropoutOptions(o.dropout()).inplace(true)),
                    make<Linear>(1280, o.num_classes()));
    init_layers<Conv2d>(*this, [](Tensor& weight) { init::kaiming_normal_(weight, 0, true, "relu"); });
    init_layers<Linear>(*this, [](Tensor& weight) { init::kaiming_uniform_(weight, 0, true, "sigmoid"); });
  });
}

Tensor MNASNet::forward(const Tensor& x) {
  return classifier(layers(x).mean({2, 3}));
}

const Variants<MNASNetOptions>& MNASNet::variants() {
  static const auto& all = *new Variants<MNASNetOptions>{
      {"mnasnet0_5", {0.5}}, {"mnasnet0_75", {0.75}}, {"mnasnet1_0", {1.0}}, {"mnasnet1_3", {1.3}}};
  return all;
}

}  // namespace ocl::models
