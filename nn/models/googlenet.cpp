#include "nn/models/googlenet.h"

#include "autograd/ops/join.h"
#include "autograd/ops/pointwise.h"

namespace ocl::models {
namespace {

using googlenet::Inception;
using googlenet::InceptionAux;
using googlenet::InceptionOptions;

/** Numbers of channels: before the branches, and in them. */
struct Widths {
  const char* name;
  std::int64_t in, ch1x1, ch3x3red, ch3x3, ch5x5red, ch5x5, pool_proj;
};
constexpr Widths widths[]{
    {"inception3a", 192, 64, 96, 128, 16, 32, 32},     {"inception3b", 256, 128, 128, 192, 32, 96, 64},
    {"inception4a", 480, 192, 96, 208, 16, 48, 64},    {"inception4b", 512, 160, 112, 224, 24, 64, 64},
    {"inception4c", 512, 128, 128, 256, 24, 64, 64},   {"inception4d", 512, 112, 144, 288, 32, 64, 64},
    {"inception4e", 528, 256, 160, 320, 32, 128, 128}, {"inception5a", 832, 256, 160, 320, 32, 128, 128},
    {"inception5b", 832, 384, 192, 384, 48, 128, 128}};

MaxPool2d::Options halving(int kernel_size) {
  return MaxPool2d::Options(kernel_size).stride(2).ceil_mode(true);
}

}  // namespace

Inception::Inception(const InceptionOptions& o) : Composed(o) {
  compose([&] {
    const auto conv3x3 = [](std::int64_t in, std::int64_t out) {
      return make<BasicConv2d>(BasicConv2dOptions(in, out, 3).padding(1));
    };
    add<BasicConv2d>("branch1", o.in_channels(), o.ch1x1(), 1);
    add<Sequential>("branch2", make<BasicConv2d>(o.in_channels(), o.ch3x3red(), 1),
                    conv3x3(o.ch3x3red(), o.ch3x3()));
    add<Sequential>("branch3", make<BasicConv2d>(o.in_channels(), o.ch5x5red(), 1),
                    conv3x3(o.ch5x5red(), o.ch5x5()));
    add<Sequential>("branch4", make<MaxPool2d>(MaxPool2d::Options(3).stride(1).padding(1).ceil_mode(true)),
                    make<BasicConv2d>(o.in_channels(), o.pool_proj(), 1));
  });
}

Tensor Inception::forward(const Tensor& x) {
  return cat({branch1(x), branch2(x), branch3(x), branch4(x)}, 1);
}

InceptionAux::InceptionAux(const InceptionAuxOptions& o) : Composed(o) {
  compose([&] {
    add<BasicConv2d>("conv", o.in_channels(), 128, 1);
    add<Linear>("fc1", 2048, 1024);
    add<Linear>("fc2", 1024, o.num_classes());
    add<Dropout>("dropout", o.dropout());
  });
}

Tensor InceptionAux::forward(const Tensor& x) {
  return fc2(dropout(relu(fc1(flatten(conv(adaptive_avg_pool2d(x, 4)), 1)))));
}

GoogLeNet::GoogLeNet(const GoogLeNetOptions& o) : Composed(o) {
  compose([&] {
    add<BasicConv2d>("conv1", BasicConv2dOptions(3, 64, 7).stride(2).padding(3));
    add<MaxPool2d>("maxpool1", halving(3));
    add<BasicConv2d>("conv2", 64, 64, 1);
    add<BasicConv2d>("conv3", BasicConv2dOptions(64, 192, 3).padding(1));
    add<MaxPool2d>("maxpool2", halving(3));
    add<MaxPool2d>("maxpool3", halving(3));
    add<MaxPool2d>("maxpool4", halving(2));
    for (const Widths& w : widths)
      add<Inception>(w.name, InceptionOptions()
                                 .in_channels(w.in)
                                 .ch1x1(w.ch1x1)
                                 .ch3x3red(w.ch3x3red)
                                 .ch3x3(w.ch3x3)
                                 .ch5x5red(w.ch5x5red)
                                 .ch5x5(w.ch5x5)
                                 .pool_proj(w.pool_proj));
    if (o.aux_logits()) {
      add<InceptionAux>("aux1",
                        googlenet::InceptionAuxOptions(512, o.num_classes()).dropout(o.dropout_aux()));
      add<InceptionAux>("aux2",
                        googlenet::InceptionAuxOptions(528, o.num_classes()).dropout(o.dropout_aux()));
    }
    add<AdaptiveAvgPool2d>("avgpool", AdaptiveSize(1, 1));
    add<Dropout>("dropout", o.dropout());
    add<Linear>("fc", 1024, o.num_classes());
    if (o.init_weights().value_or(true)) init_inception(*this, 0.01);
  });
  if (o.aux_logits()) return;
  unregister("aux1");
  unregister("aux2");
}

GoogLeNet::Outputs GoogLeNet::outputs(const Tensor& input) {
  const auto auxiliary = [&](const char* child_name, const Tensor& x) {
    const std::shared_ptr<Module> head = is_training() ? own_module(child_name) : nullptr;
    return head ? (*head)(x) : Tensor();
  };
  Tensor x = options().transform_input() ? with_inception_statistics(input) : input;
  x = maxpool2(conv3(conv2(maxpool1(conv1(x)))));
  x = inception4a(maxpool3(inception3b(inception3a(x))));
  const Tensor first = auxiliary("aux1", x);
  x = inception4d(inception4c(inception4b(x)));
  const Tensor second = auxiliary("aux2", x);
  x = inception5b(inception5a(maxpool4(inception4e(x))));
  return {fc(dropout(flatten(avgpool(x), 1))), second, first};
}

Value GoogLeNet::call(const Arguments& arguments) {
  const Outputs all = outputs(arguments.matched(name(), {"x"}).front().tensor("x of " + name()));
  if (!is_training() || !options().aux_logits()) return all.logits;
  return Value::Sequence{all.logits, all.aux_logits2, all.aux_logits1};
}

const Variants<GoogLeNetOptions>& GoogLeNet::variants() {
  static const auto& all = *new Variants<GoogLeNetOptions>{{"googlenet", {}}};
  return all;
}

}  // namespace ocl::models
