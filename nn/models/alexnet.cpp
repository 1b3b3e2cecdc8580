#include "nn/models/alexnet.h"

namespace ocl::models {

AlexNet::AlexNet(const AlexNetOptions& o) : Composed(o) {
  compose([&] {
    const auto pool = [] { return make<MaxPool2d>(MaxPool2d::Options(3).stride(2)); };
    const auto conv = [](std::int64_t in, std::int64_t out) {
      return make<Conv2d>(Conv2dOptions(in, out, 3).padding(1));
    };
    add<Sequential>("features", make<Conv2d>(Conv2dOptions(3, 64, 11).stride(4).padding(2)), inplace_relu(),
                    pool(), make<Conv2d>(Conv2dOptions(64, 192, 5).padding(2)), inplace_relu(), pool(),
                    conv(192, 384), inplace_relu(), conv(384, 256), inplace_relu(), conv(256, 256),
                    inplace_relu(), pool());
    add<AdaptiveAvgPool2d>("avgpool", AdaptiveSize(6, 6));
    add<Sequential>("classifier", make<Dropout>(o.dropout()), make<Linear>(256 * 6 * 6, 4096), inplace_relu(),
                    make<Dropout>(o.dropout()), make<Linear>(4096, 4096), inplace_relu(),
                    make<Linear>(4096, o.num_classes()));
  });
}

Tensor AlexNet::forward(const Tensor& x) {
  return classifier(flatten(avgpool(features(x)), 1));
}

const Variants<AlexNetOptions>& AlexNet::variants() {
  static const auto& all = *new Variants<AlexNetOptions>{{"alexnet", {}}};
  return all;
}

}  // namespace ocl::models
