#include "nn/models/resnet.h"

#include "nn/init.h"

namespace ocl::models {
namespace {

using dlprim::require;

Conv2dOptions conv1x1(std::int64_t in, std::int64_t out, int stride = 1) {
  return Conv2dOptions(in, out, 1).stride(stride).bias(false);
}

Conv2dOptions conv3x3(std::int64_t in, std::int64_t out) {
  return Conv2dOptions(in, out, 3).padding(1).bias(false);
}

/** The common part of the stages of one net, and the place where one begins. */
struct Stages {
  ResNetOptions options;
  NormLayer norm;
  std::int64_t inplanes = 64;
  int dilation = 1;

  template <class Block>
  std::shared_ptr<Sequential> next(std::size_t stage) {
    const std::int64_t planes = std::int64_t{64} << stage, out = planes * Block::expansion;
    int stride = stage == 0 ? 1 : 2;
    const int first_dilation = dilation;
    if (stage > 0 && options.replace_stride_with_dilation() &&
        (*options.replace_stride_with_dilation())[stage - 1])
      dilation *= std::exchange(stride, 1);
    std::shared_ptr<Module> downsample;
    if (stride != 1 || inplanes != out)
      downsample = make<Sequential>(make<Conv2d>(conv1x1(inplanes, out, stride)), norm(out));
    const auto blocks = make<Sequential>();
    for (std::int64_t i = 0; i < options.layers()[stage]; ++i) {
      auto block = ResNetBlockOptions(inplanes, planes)
                       .groups(options.groups())
                       .base_width(options.width_per_group())
                       .dilation(i == 0 ? first_dilation : dilation)
                       .norm_layer(norm);
      if (i == 0) block.stride(stride).downsample(downsample);
      blocks->append(make<Block>(block));
      inplanes = out;
    }
    return blocks;
  }
};

ResNetOptions basic(std::vector<std::int64_t> layers) {
  return {ResNetBlockKind::basic, std::move(layers)};
}
ResNetOptions bottleneck(std::vector<std::int64_t> layers) {
  return {ResNetBlockKind::bottleneck, std::move(layers)};
}

}  // namespace

std::string repr_of(ResNetBlockKind block) {
  return block == ResNetBlockKind::basic ? "BasicBlock" : "Bottleneck";
}

template <class Block>
void ResNetBlock<Block>::add_downsample(const ResNetBlockOptions& o) {
  if (o.downsample()) this->register_module("downsample", o.downsample());
  this->change_options([](auto& own) { own.downsample(nullptr); });
}

template <class Block>
Tensor ResNetBlock<Block>::joined(const Child<Module>& norm, const Tensor& branch, const Tensor& x,
                                  const Child<ReLU>& relu) const {
  return norm_then(norm, branch, relu, [&] { return this->through_optional("downsample", x); });
}

BasicBlock::BasicBlock(const ResNetBlockOptions& o) : ResNetBlock(o) {
  compose([&] {
    require(o.groups() == 1 && o.base_width() == 64, "BasicBlock only supports groups=1 and base_width=64");
    require(o.dilation() <= 1, "Dilation > 1 not supported in BasicBlock");
    const NormLayer norm = or_default(o.norm_layer());
    add<Conv2d>("conv1", conv3x3(o.inplanes(), o.planes()).stride(o.stride()));
    register_module("bn1", norm(o.planes()));
    register_module("relu", inplace_relu());
    add<Conv2d>("conv2", conv3x3(o.planes(), o.planes()));
    register_module("bn2", norm(o.planes()));
    add_downsample(o);
  });
}

Tensor BasicBlock::forward(const Tensor& x) {
  return joined(bn2, conv2(norm_then(bn1, conv1(x), relu)), x, relu);
}

Bottleneck::Bottleneck(const ResNetBlockOptions& o) : ResNetBlock(o) {
  compose([&] {
    const NormLayer norm = or_default(o.norm_layer());
    const double share = static_cast<double>(o.base_width()) / 64;
    const std::int64_t width =
        static_cast<std::int64_t>(static_cast<double>(o.planes()) * share) * o.groups();
    add<Conv2d>("conv1", conv1x1(o.inplanes(), width));
    register_module("bn1", norm(width));
    add<Conv2d>("conv2", conv3x3(width, width)
                             .stride(o.stride())
                             .padding(o.dilation())
                             .dilation(o.dilation())
                             .groups(o.groups()));
    register_module("bn2", norm(width));
    add<Conv2d>("conv3", conv1x1(width, o.planes() * expansion));
    register_module("bn3", norm(o.planes() * expansion));
    register_module("relu", inplace_relu());
    add_downsample(o);
  });
}

Tensor Bottleneck::forward(const Tensor& x) {
  return joined(bn3, conv3(norm_then(bn2, conv2(norm_then(bn1, conv1(x), relu)), relu)), x, relu);
}

template <class Block>
void ResNet::build(const ResNetOptions& o) {
  require(o.layers().size() == 4, "ResNet: layers must have 4 entries, got ", o.layers().size());
  const auto& dilated = o.replace_stride_with_dilation();
  require(!dilated || dilated->size() == 3,
          "replace_stride_with_dilation should be None or a 3-element tuple, got ", nn::repr_of(dilated));
  Stages stages{o, or_default(o.norm_layer())};
  add<Conv2d>("conv1", Conv2dOptions(3, stages.inplanes, 7).stride(2).padding(3).bias(false));
  register_module("bn1", stages.norm(stages.inplanes));
  register_module("relu", inplace_relu());
  add<MaxPool2d>("maxpool", MaxPool2d::Options(3).stride(2).padding(1));
  for (const std::size_t stage : {0, 1, 2, 3})
    register_module("layer" + std::to_string(stage + 1), stages.next<Block>(stage));
  add<AdaptiveAvgPool2d>("avgpool", AdaptiveSize(1, 1));
  add<Linear>("fc", 512 * Block::expansion, o.num_classes());
}

ResNet::ResNet(const ResNetOptions& o) : Composed(o) {
  compose([&] {
    if (o.block() == ResNetBlockKind::basic)
      build<BasicBlock>(o);
    else
      build<Bottleneck>(o);
    for_each<Conv2d>(*this, [](Conv2d& conv) { init::kaiming_normal_(conv.weight, 0, true, "relu"); });
    const auto zero_weight = [](const Child<Module>& norm) {
      if (auto weight = norm->own_parameter("weight"); weight && weight->defined()) init::zeros_(*weight);
    };
    if (!o.zero_init_residual()) return;
    for_each<BasicBlock>(*this, [&](BasicBlock& block) { zero_weight(block.bn2); });
    for_each<Bottleneck>(*this, [&](Bottleneck& block) { zero_weight(block.bn3); });
  });
}

Tensor ResNet::forward(const Tensor& x) {
  const Tensor stem = maxpool(norm_then(bn1, conv1(x), relu));
  return fc(flatten(avgpool(layer4(layer3(layer2(layer1(stem))))), 1));
}

const Variants<ResNetOptions>& ResNet::variants() {
  static const auto& all = *new Variants<ResNetOptions>{
      {"resnet18", basic({2, 2, 2, 2})},
      {"resnet34", basic({3, 4, 6, 3})},
      {"resnet50", bottleneck({3, 4, 6, 3})},
      {"resnet101", bottleneck({3, 4, 23, 3})},
      {"resnet152", bottleneck({3, 8, 36, 3})},
      {"resnext50_32x4d", bottleneck({3, 4, 6, 3}).groups(32).width_per_group(4)},
      {"resnext101_32x8d", bottleneck({3, 4, 23, 3}).groups(32).width_per_group(8)},
      {"resnext101_64x4d", bottleneck({3, 4, 23, 3}).groups(64).width_per_group(4)},
      {"wide_resnet50_2", bottleneck({3, 4, 6, 3}).width_per_group(128)},
      {"wide_resnet101_2", bottleneck({3, 4, 23, 3}).width_per_group(128)},
  };
  return all;
}

}  // namespace ocl::models
