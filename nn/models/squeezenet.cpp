#include "nn/models/squeezenet.h"

#include "autograd/ops/join.h"
#include "nn/init.h"

namespace ocl::models {
namespace {

/** Fires with as many channels of either width, and a pool for each 0. */
void append_fires(Sequential& features, std::int64_t in, const std::vector<std::int64_t>& squeezes) {
  const auto pool = [] { return make<MaxPool2d>(MaxPool2d::Options(3).stride(2).ceil_mode(true)); };
  features.append(inplace_relu());
  features.append(pool());
  for (const std::int64_t squeeze : squeezes) {
    if (squeeze == 0) {
      features.append(pool());
      continue;
    }
    features.append(make<Fire>(FireOptions()
                                   .inplanes(in)
                                   .squeeze_planes(squeeze)
                                   .expand1x1_planes(4 * squeeze)
                                   .expand3x3_planes(4 * squeeze)));
    in = 8 * squeeze;
  }
}

}  // namespace

Fire::Fire(const FireOptions& o) : Composed(o) {
  compose([&] {
    add<Conv2d>("squeeze", o.inplanes(), o.squeeze_planes(), 1);
    register_module("squeeze_activation", inplace_relu());
    add<Conv2d>("expand1x1", o.squeeze_planes(), o.expand1x1_planes(), 1);
    register_module("expand1x1_activation", inplace_relu());
    add<Conv2d>("expand3x3", Conv2dOptions(o.squeeze_planes(), o.expand3x3_planes(), 3).padding(1));
    register_module("expand3x3_activation", inplace_relu());
  });
}

Tensor Fire::forward(const Tensor& x) {
  const Tensor squeezed = squeeze_activation(squeeze(x));
  return cat({expand1x1_activation(expand1x1(squeezed)), expand3x3_activation(expand3x3(squeezed))}, 1);
}

SqueezeNet::SqueezeNet(const SqueezeNetOptions& o) : Composed(o) {
  compose([&] {
    dlprim::require(o.version() == "1_0" || o.version() == "1_1", "Unsupported SqueezeNet version ",
                    o.version(), ": 1_0 or 1_1 expected");
    const auto layers = make<Sequential>();
    if (o.version() == "1_0") {
      layers->append(make<Conv2d>(Conv2dOptions(3, 96, 7).stride(2)));
      append_fires(*layers, 96, {16, 16, 32, 0, 32, 48, 48, 64, 0, 64});
    } else {
      layers->append(make<Conv2d>(Conv2dOptions(3, 64, 3).stride(2)));
      append_fires(*layers, 64, {16, 16, 0, 32, 32, 0, 48, 48, 64, 64});
    }
    register_module("features", layers);
    const auto last = make<Conv2d>(512, o.num_classes(), 1);
    add<Sequential>("classifier", make<Dropout>(o.dropout()), last, inplace_relu(),
                    make<AdaptiveAvgPool2d>(AdaptiveSize(1, 1)));
    for_each<Conv2d>(*this, [&](Conv2d& conv) {
      if (&conv == last.get())
        init::normal_(conv.weight, 0, 0.01);
      else
        init::kaiming_uniform_(conv.weight);
      zero_if_defined(conv.bias);
    });
  });
}

Tensor SqueezeNet::forward(const Tensor& x) {
  return flatten(classifier(features(x)), 1);
}

const Variants<SqueezeNetOptions>& SqueezeNet::variants() {
  static const auto& all =
      *new Variants<SqueezeNetOptions>{{"squeezenet1_0", {"1_0"}}, {"squeezenet1_1", {"1_1"}}};
  return all;
}

}  // namespace ocl::models
