// Options of layers, hooks with several arguments, copies.

#include "nn/layer.h"
#include "nn/nn.h"
#include "tests/cpp/support/autograd.h"

using namespace ocl;
using namespace testing_support;

namespace {

class Options : public OnDevice {};

TEST_F(Options, AreNamedAndChain) {
  const nn::Conv2d conv(nn::Conv2dOptions(3, 64, 7).stride(2).padding(3).bias(false));
  EXPECT_EQ(conv.repr(), "Conv2d(3, 64, kernel_size=(7, 7), stride=(2, 2), padding=(3, 3), bias=False)");
  EXPECT_EQ(conv.options().stride()[1], 2);
  EXPECT_FALSE(conv.bias.defined());
  const nn::Conv2d same(nn::Conv2dOptions(4, 8, {3, 5}).padding("same").groups(2));
  EXPECT_EQ(same.repr(), "Conv2d(4, 8, kernel_size=(3, 5), stride=(1, 1), padding=same, groups=2)");
  expect_error<ValueError>([] { nn::Conv2d(nn::Conv2dOptions(3, 4, 3).groups(2)); },
                           "divisible by groups (2)");
}

TEST_F(Options, CountFromTheNextCallOn) {
  nn::MaxPool2d pool(2);
  const Tensor x = arange(0, 16, 1, DType::float32).view({1, 1, 4, 4});
  EXPECT_EQ(pool(x).shape(), (Dims{1, 1, 2, 2}));
  pool.change_options([](auto& o) { o.kernel_size(3).stride(1); });
  EXPECT_EQ(pool(x).to_vector(), (Values{10, 11, 14, 15}));
  nn::BatchNorm1d norm(nn::BatchNormOptions(1).momentum(1));
  norm(tensor(Values{1, 3}, {2, 1}));
  EXPECT_EQ(norm.running_mean.to_vector(), (Values{2}));
  EXPECT_EQ(norm.num_batches_tracked.item<int>(), 1);
}

TEST_F(Options, AScopeSaysWhereAndOfWhatDtype) {
  const nn::FactoryScope scope(std::nullopt, DType::float16);
  nn::MultiheadAttention attention(8, 2);
  EXPECT_EQ(attention.out_proj->weight.dtype(), DType::float16);
  EXPECT_EQ(nn::BatchNorm1d(2).num_batches_tracked.dtype(), DType::int64);
  const nn::GroupNorm without_bias(nn::GroupNormOptions(2, 4).bias(false));
  EXPECT_TRUE(without_bias.weight.defined() && !without_bias.bias.defined());
  expect_error<TypeError>([] { const nn::FactoryScope wrong(std::nullopt, DType::int64); }, "floating point");
}

struct Pairwise : nn::Module {
  nn::Value call(const nn::Arguments& arguments) override {
    const Tensor &a = arguments.positional.at(0).tensor("a"), &b = arguments.positional.at(1).tensor("b");
    return nn::Value::Sequence{a + b, a * b};
  }
};

TEST_F(Options, HooksSeeAllArgumentsAndResults) {
  Pairwise module;
  std::vector<std::size_t> counts;
  module.register_forward_pre_hook(nn::Module::ForwardPreHook(
      [&](nn::Module&, const nn::Arguments& given) -> std::optional<nn::Arguments> {
        counts.push_back(given.positional.size());
        return nn::Arguments{{given.positional[1], given.positional[0]}, {}};
      }));
  module.register_forward_hook(
      nn::Module::ForwardHook([&](nn::Module&, const nn::Arguments&, const nn::Value& output) {
        counts.push_back(output.sequence().size());
        return nn::Value();
      }));
  Values gradients;
  module.register_full_backward_hook(
      nn::Module::BackwardHook([&](nn::Module&, const TensorList& grad_input,
                                   const TensorList& grad_output) -> std::optional<TensorList> {
        gradients = {grad_input.at(0).item(), grad_input.at(1).item(), grad_output.at(1).item()};
        return TensorList{grad_input[0] * 10, grad_input[1]};
      }));
  Tensor a = tensor(Values{2}, {1}).requires_grad_(), b = tensor(Values{5}, {1}).requires_grad_();
  const nn::Value::Sequence results = module(nn::Arguments{{a, b}, {}}).sequence();
  EXPECT_EQ(results.at(1).tensor("product").item(), 10);
  (results.at(0).tensor("sum") + results.at(1).tensor("product")).backward();
  EXPECT_EQ(counts, (std::vector<std::size_t>{2, 2}));
  EXPECT_EQ(gradients, (Values{3, 6, 1}));  // of b, then of a: they were swapped
  EXPECT_EQ(b.grad().item(), 30);
  EXPECT_EQ(a.grad().item(), 6);
  expect_error<TypeError>([&] { Pairwise()(a); }, "Pairwise");
}

TEST_F(Options, Clones) {
  const auto shared = nn::make<nn::Linear>(3, 3);
  const nn::Sequential net({{"a", shared}, {"norm", nn::make<nn::BatchNorm1d>(3)}, {"b", shared}});
  manual_seed(4);
  const std::shared_ptr<nn::Module> copy = net.clone();
  const Values after = rand({3}).to_vector();
  manual_seed(4);
  EXPECT_EQ(rand({3}).to_vector(), after) << "a copy draws no random numbers";
  EXPECT_EQ(copy->repr(), net.repr());
  EXPECT_EQ(copy->parameters().size(), net.parameters().size());
  const Tensor x = tensor(Values{1, 2, 3, 4, 5, 7}, {2, 3});
  EXPECT_EQ((*copy)(x).to_vector(), const_cast<nn::Sequential&>(net)(x).to_vector());
  copy->get_parameter("a.weight").detach().fill_(0);
  EXPECT_NE(shared->weight.to_vector(), Values(9, 0));
  EXPECT_EQ(copy->get_parameter("b.weight").to_vector(), Values(9, 0));
  struct Own : nn::Module {};
  expect_error<TypeError>([] { Own().clone(); }, "override alike()");
}

TEST_F(Options, DeepCallsSayThatTheyAreTooDeep) {
  auto net = nn::make<nn::Sequential>(nn::make<nn::ReLU>());
  for (int i = 0; i < 200000; ++i) net = nn::make<nn::Sequential>(net);
  expect_error<nn::RecursionError>([&] { (*net)(ones({1})); }, "nested too deep");
}

}  // namespace
