#include "nn/models/vgg.h"

namespace ocl::models {
namespace {

/** Five stages of so many convolutions. */
VGGOptions stages(const std::vector<std::int64_t>& convolutions, bool batch_norm) {
  constexpr std::int64_t channels[]{64, 128, 256, 512, 512};
  std::vector<std::int64_t> all;
  for (std::size_t i = 0; i < convolutions.size(); ++i) {
    all.insert(all.end(), static_cast<std::size_t>(convolutions[i]), channels[i]);
    all.push_back(0);
  }
  return VGGOptions().channels(all).batch_norm(batch_norm);
}

}  // namespace

std::shared_ptr<Sequential> vgg_features(const std::vector<std::int64_t>& channels, bool batch_norm) {
  const auto layers = make<Sequential>();
  std::int64_t in = 3;
  for (const std::int64_t out : channels) {
    if (out == 0) {
      layers->append(make<MaxPool2d>(MaxPool2d::Options(2).stride(2)));
      continue;
    }
    layers->append(make<Conv2d>(Conv2dOptions(in, out, 3).padding(1)));
    if (batch_norm) layers->append(make<BatchNorm2d>(out));
    layers->append(inplace_relu());
    in = out;
  }
  return layers;
}

VGG::VGG(const VGGOptions& o) : Composed(o) {
  compose([&] {
    register_module("features", o.features() ? o.features() : vgg_features(o.channels(), o.batch_norm()));
    add<AdaptiveAvgPool2d>("avgpool", AdaptiveSize(7, 7));
    add<Sequential>("classifier", make<Linear>(512 * 7 * 7, 4096), inplace_relu(), make<Dropout>(o.dropout()),
                    make<Linear>(4096, 4096), inplace_relu(), make<Dropout>(o.dropout()),
                    make<Linear>(4096, o.num_classes()));
    if (o.init_weights()) init_kaiming(*this);
  });
  change_options([](auto& own) { own.features(nullptr); });
}

Tensor VGG::forward(const Tensor& x) {
  return classifier(flatten(avgpool(features(x)), 1));
}

const Variants<VGGOptions>& VGG::variants() {
  static const auto& all = *new Variants<VGGOptions>{
      {"vgg11", stages({1, 1, 2, 2, 2}, false)}, {"vgg11_bn", stages({1, 1, 2, 2, 2}, true)},
      {"vgg13", stages({2, 2, 2, 2, 2}, false)}, {"vgg13_bn", stages({2, 2, 2, 2, 2}, true)},
      {"vgg16", stages({2, 2, 3, 3, 3}, false)}, {"vgg16_bn", stages({2, 2, 3, 3, 3}, true)},
      {"vgg19", stages({2, 2, 4, 4, 4}, false)}, {"vgg19_bn", stages({2, 2, 4, 4, 4}, true)},
  };
  return all;
}

}  // namespace ocl::models
