#include "nn/models/inception.h"

#include "autograd/ops/join.h"
#include "nn/init.h"

namespace ocl::models {
namespace {

using namespace inception;

constexpr int one = 1;
const Extents<2> wide{1, 7}, tall{7, 1}, beside{0, 3}, above{3, 0};  // 7x7 in two steps, and their paddings

using Names = std::vector<const char*>;

/** Through the submodules of these names, one after the other. */
Tensor through(const Module& net, Tensor x, const Names& names) {
  for (const char* name : names) {
    const std::shared_ptr<Module> next = net.own_module(name);
    dlprim::require(next != nullptr, "there is no submodule '", name, "' any more");
    x = (*next)(x);
  }
  return x;
}

Tensor average(const Tensor& x) {
  return avg_pool2d(x, 3, Pair(1), Pair(1));
}
Tensor maximum(const Tensor& x) {
  return max_pool2d(x, 3, Pair(2));
}

}  // namespace

template <class Block, class Options>
void InceptionBlock<Block, Options>::add_convolutions(const std::vector<BranchConv>& convolutions) {
  for (const BranchConv& c : convolutions)
    this->template add<BasicConv2d>(
        c.name, BasicConv2dOptions(c.in == 0 ? this->options().in_channels() : c.in, c.out, c.kernel_size)
                    .stride(c.stride)
                    .padding(c.padding));
}

InceptionA::InceptionA(const PoolFeaturesOptions& o) : InceptionBlock(o) {
  compose([&] {
    add_convolutions({{"branch1x1", 0, 64},
                      {"branch5x5_1", 0, 48},
                      {"branch5x5_2", 48, 64, 5, one, 2},
                      {"branch3x3dbl_1", 0, 64},
                      {"branch3x3dbl_2", 64, 96, 3, one, 1},
                      {"branch3x3dbl_3", 96, 96, 3, one, 1},
                      {"branch_pool", 0, o.pool_features()}});
  });
}

Tensor InceptionA::forward(const Tensor& x) {
  return cat({through(*this, x, {"branch1x1"}), through(*this, x, {"branch5x5_1", "branch5x5_2"}),
              through(*this, x, {"branch3x3dbl_1", "branch3x3dbl_2", "branch3x3dbl_3"}),
              through(*this, average(x), {"branch_pool"})},
             1);
}

InceptionB::InceptionB(const BlockOptions& o) : InceptionBlock(o) {
  compose([&] {
    add_convolutions({{"branch3x3", 0, 384, 3, 2},
                      {"branch3x3dbl_1", 0, 64},
                      {"branch3x3dbl_2", 64, 96, 3, one, 1},
                      {"branch3x3dbl_3", 96, 96, 3, 2}});
  });
}

Tensor InceptionB::forward(const Tensor& x) {
  return cat({through(*this, x, {"branch3x3"}),
              through(*this, x, {"branch3x3dbl_1", "branch3x3dbl_2", "branch3x3dbl_3"}), maximum(x)},
             1);
}

InceptionC::InceptionC(const SevenOptions& o) : InceptionBlock(o) {
  compose([&] {
    const std::int64_t c7 = o.channels_7x7();
    add_convolutions({{"branch1x1", 0, 192},
                      {"branch7x7_1", 0, c7},
                      {"branch7x7_2", c7, c7, wide, one, beside},
                      {"branch7x7_3", c7, 192, tall, one, above},
                      {"branch7x7dbl_1", 0, c7},
                      {"branch7x7dbl_2", c7, c7, tall, one, above},
                      {"branch7x7dbl_3", c7, c7, wide, one, beside},
                      {"branch7x7dbl_4", c7, c7, tall, one, above},
                      {"branch7x7dbl_5", c7, 192, wide, one, beside},
                      {"branch_pool", 0, 192}});
  });
}

Tensor InceptionC::forward(const Tensor& x) {
  return cat(
      {through(*this, x, {"branch1x1"}), through(*this, x, {"branch7x7_1", "branch7x7_2", "branch7x7_3"}),
       through(*this, x,
               {"branch7x7dbl_1", "branch7x7dbl_2", "branch7x7dbl_3", "branch7x7dbl_4", "branch7x7dbl_5"}),
       through(*this, average(x), {"branch_pool"})},
      1);
}

InceptionD::InceptionD(const BlockOptions& o) : InceptionBlock(o) {
  compose([&] {
    add_convolutions({{"branch3x3_1", 0, 192},
                      {"branch3x3_2", 192, 320, 3, 2},
                      {"branch7x7x3_1", 0, 192},
                      {"branch7x7x3_2", 192, 192, wide, one, beside},
                      {"branch7x7x3_3", 192, 192, tall, one, above},
                      {"branch7x7x3_4", 192, 192, 3, 2}});
  });
}

Tensor InceptionD::forward(const Tensor& x) {
  return cat(
      {through(*this, x, {"branch3x3_1", "branch3x3_2"}),
       through(*this, x, {"branch7x7x3_1", "branch7x7x3_2", "branch7x7x3_3", "branch7x7x3_4"}), maximum(x)},
      1);
}

InceptionE::InceptionE(const BlockOptions& o) : InceptionBlock(o) {
  compose([&] {
    const Extents<2> row{1, 3}, column{3, 1}, left{0, 1}, top{1, 0};
    add_convolutions({{"branch1x1", 0, 320},
                      {"branch3x3_1", 0, 384},
                      {"branch3x3_2a", 384, 384, row, one, left},
                      {"branch3x3_2b", 384, 384, column, one, top},
                      {"branch3x3dbl_1", 0, 448},
                      {"branch3x3dbl_2", 448, 384, 3, one, 1},
                      {"branch3x3dbl_3a", 384, 384, row, one, left},
                      {"branch3x3dbl_3b", 384, 384, column, one, top},
                      {"branch_pool", 0, 192}});
  });
}

Tensor InceptionE::forward(const Tensor& x) {
  const Tensor single = through(*this, x, {"branch3x3_1"}),
               twice = through(*this, x, {"branch3x3dbl_1", "branch3x3dbl_2"});
  return cat({through(*this, x, {"branch1x1"}), through(*this, single, {"branch3x3_2a"}),
              through(*this, single, {"branch3x3_2b"}), through(*this, twice, {"branch3x3dbl_3a"}),
              through(*this, twice, {"branch3x3dbl_3b"}), through(*this, average(x), {"branch_pool"})},
             1);
}

InceptionAux::InceptionAux(const InceptionAuxOptions& o) : Composed(o) {
  compose([&] {
    add<BasicConv2d>("conv0", o.in_channels(), 128, 1);
    add<BasicConv2d>("conv1", 128, 768, 5);
    add<Linear>("fc", 768, o.num_classes());
  });
}

Tensor InceptionAux::forward(const Tensor& x) {
  const Tensor pooled = avg_pool2d(x, 5, Pair(3));
  return fc(flatten(adaptive_avg_pool2d(conv1(conv0(pooled)), 1), 1));
}

Inception3::Inception3(const Inception3Options& o) : Composed(o) {
  compose([&] {
    const auto pool = MaxPool2d::Options(3).stride(2);
    add<BasicConv2d>("Conv2d_1a_3x3", BasicConv2dOptions(3, 32, 3).stride(2));
    add<BasicConv2d>("Conv2d_2a_3x3", 32, 32, 3);
    add<BasicConv2d>("Conv2d_2b_3x3", BasicConv2dOptions(32, 64, 3).padding(1));
    add<MaxPool2d>("maxpool1", pool);
    add<BasicConv2d>("Conv2d_3b_1x1", 64, 80, 1);
    add<BasicConv2d>("Conv2d_4a_3x3", 80, 192, 3);
    add<MaxPool2d>("maxpool2", pool);
    add<InceptionA>("Mixed_5b", PoolFeaturesOptions(192, 32));
    add<InceptionA>("Mixed_5c", PoolFeaturesOptions(256, 64));
    add<InceptionA>("Mixed_5d", PoolFeaturesOptions(288, 64));
    add<InceptionB>("Mixed_6a", BlockOptions(288));
    add<InceptionC>("Mixed_6b", SevenOptions(768, 128));
    add<InceptionC>("Mixed_6c", SevenOptions(768, 160));
    add<InceptionC>("Mixed_6d", SevenOptions(768, 160));
    add<InceptionC>("Mixed_6e", SevenOptions(768, 192));
    if (o.aux_logits()) add<inception::InceptionAux>("AuxLogits", InceptionAuxOptions(768, o.num_classes()));
    add<InceptionD>("Mixed_7a", BlockOptions(768));
    add<InceptionE>("Mixed_7b", BlockOptions(1280));
    add<InceptionE>("Mixed_7c", BlockOptions(2048));
    add<AdaptiveAvgPool2d>("avgpool", AdaptiveSize(1, 1));
    add<Dropout>("dropout", o.dropout());
    add<Linear>("fc", 2048, o.num_classes());
    if (!o.init_weights().value_or(true)) return;
    init_inception(*this, 0.1);
    for_each<inception::InceptionAux>(*this,
                                      [](auto& aux) { init::trunc_normal_(aux.fc->weight, 0, 0.001); });
  });
}

Inception3::Outputs Inception3::outputs(const Tensor& input) {
  static const auto& before_aux =
      *new Names{"Conv2d_1a_3x3", "Conv2d_2a_3x3", "Conv2d_2b_3x3", "maxpool1", "Conv2d_3b_1x1",
                 "Conv2d_4a_3x3", "maxpool2",      "Mixed_5b",      "Mixed_5c", "Mixed_5d",
                 "Mixed_6a",      "Mixed_6b",      "Mixed_6c",      "Mixed_6d", "Mixed_6e"};
  const Tensor middle =
      through(*this, options().transform_input() ? with_inception_statistics(input) : input, before_aux);
  const std::shared_ptr<Module> aux = is_training() ? own_module("AuxLogits") : nullptr;
  const Tensor aux_logits = aux ? (*aux)(middle) : Tensor();
  const Tensor x = through(*this, middle, {"Mixed_7a", "Mixed_7b", "Mixed_7c", "avgpool", "dropout"});
  return {through(*this, flatten(x, 1), {"fc"}), aux_logits};
}

Value Inception3::call(const Arguments& arguments) {
  const Outputs both = outputs(arguments.matched(name(), {"x"}).front().tensor("x of " + name()));
  if (!is_training() || !options().aux_logits()) return both.logits;
  return Value::Sequence{both.logits, both.aux_logits};
}

const Variants<Inception3Options>& Inception3::variants() {
  static const auto& all = *new Variants<Inception3Options>{{"inception_v3", {}}};
  return all;
}

}  // namespace ocl::models
