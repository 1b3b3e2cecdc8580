#include "nn/models/densenet.h"

#include "autograd/ops/dropout.h"
#include "autograd/ops/join.h"
#include "autograd/ops/pointwise.h"
#include "nn/init.h"

namespace ocl::models {
namespace {

DenseNetOptions dense(std::int64_t growth_rate, std::vector<std::int64_t> blocks) {
  return DenseNetOptions()
      .growth_rate(growth_rate)
      .block_config(std::move(blocks))
      .num_init_features(2 * growth_rate);
}

}  // namespace

DenseLayer::DenseLayer(const DenseLayerOptions& o) : Composed(o) {
  compose([&] {
    const std::int64_t width = o.bn_size() * o.growth_rate();
    add<BatchNorm2d>("norm1", o.num_input_features());
    register_module("relu1", inplace_relu());
    add<Conv2d>("conv1", Conv2dOptions(o.num_input_features(), width, 1).bias(false));
    add<BatchNorm2d>("norm2", width);
    register_module("relu2", inplace_relu());
    add<Conv2d>("conv2", Conv2dOptions(width, o.growth_rate(), 3).padding(1).bias(false));
  });
}

Tensor DenseLayer::forward(const Tensor& x) {
  const Tensor features = conv2(norm_then(norm2, conv1(norm_then(norm1, x, relu1)), relu2));
  const double drop_rate = options().drop_rate();
  return drop_rate > 0 ? dropout(features, drop_rate, is_training()) : features;
}

Value DenseLayer::call(const Arguments& arguments) {
  TensorList inputs;
  for (const Value& value : arguments.matched(name(), {"input"}).front().sequence())
    inputs.push_back(value.tensor("input of " + name()));
  return forward(cat(inputs, 1));
}

DenseBlock::DenseBlock(const DenseBlockOptions& o) : Composed(o) {
  compose([&] {
    for (std::int64_t i = 0; i < o.num_layers(); ++i)
      add<DenseLayer>("denselayer" + std::to_string(i + 1),
                      DenseLayerOptions()
                          .num_input_features(o.num_input_features() + i * o.growth_rate())
                          .growth_rate(o.growth_rate())
                          .bn_size(o.bn_size())
                          .drop_rate(o.drop_rate())
                          .memory_efficient(o.memory_efficient()));
  });
}

Tensor DenseBlock::forward(const Tensor& x) {
  Value::Sequence features{x};
  TensorList tensors{x};
  for (const auto& [layer_name, layer] : named_children()) {
    tensors.push_back((*layer)(Arguments{{features}, {}}).tensor("the output of " + layer_name));
    features.push_back(tensors.back());
  }
  return cat(tensors, 1);
}

Transition::Transition(const TransitionOptions& o) : Composed(o) {
  compose([&] {
    add<BatchNorm2d>("norm", o.num_input_features());
    register_module("relu", inplace_relu());
    add<Conv2d>("conv", Conv2dOptions(o.num_input_features(), o.num_output_features(), 1).bias(false));
    add<AvgPool2d>("pool", AvgPool2dOptions(2).stride(2));
  });
}

DenseNet::DenseNet(const DenseNetOptions& o) : Composed(o) {
  compose([&] {
    std::int64_t channels = o.num_init_features();
    const auto layers = make<Sequential>(
        Children{{"conv0", make<Conv2d>(Conv2dOptions(3, channels, 7).stride(2).padding(3).bias(false))},
                 {"norm0", make<BatchNorm2d>(channels)},
                 {"relu0", inplace_relu()},
                 {"pool0", make<MaxPool2d>(MaxPool2d::Options(3).stride(2).padding(1))}});
    for (std::size_t i = 0; i < o.block_config().size(); ++i) {
      const std::int64_t count = o.block_config()[i];
      const std::string number = std::to_string(i + 1);
      layers->register_module("denseblock" + number,
                              make<DenseBlock>(DenseBlockOptions()
                                                   .num_layers(count)
                                                   .num_input_features(channels)
                                                   .bn_size(o.bn_size())
                                                   .growth_rate(o.growth_rate())
                                                   .drop_rate(o.drop_rate())
                                                   .memory_efficient(o.memory_efficient())));
      channels += count * o.growth_rate();
      if (i + 1 == o.block_config().size()) break;
      layers->register_module("transition" + number,
                              make<Transition>(TransitionOptions(channels, channels / 2)));
      channels /= 2;
    }
    layers->register_module("norm5", make<BatchNorm2d>(channels));
    register_module("features", layers);
    add<Linear>("classifier", channels, o.num_classes());
    for_each<Conv2d>(*this, [](Conv2d& conv) { init::kaiming_normal_(conv.weight); });
    for_each<Linear>(*this, [](Linear& linear) { init::zeros_(linear.bias); });
  });
}

Tensor DenseNet::forward(const Tensor& x) {
  Tensor out = features(x);
  out.relu_();
  return classifier(flatten(adaptive_avg_pool2d(out, 1), 1));
}

const Variants<DenseNetOptions>& DenseNet::variants() {
  static const auto& all = *new Variants<DenseNetOptions>{
      {"densenet121", dense(32, {6, 12, 24, 16})},
      {"densenet161", dense(48, {6, 12, 36, 24})},
      {"densenet169", dense(32, {6, 12, 32, 32})},
      {"densenet201", dense(32, {6, 12, 48, 32})},
  };
  return all;
}

}  // namespace ocl::models
