#include "nn/modules/container.h"

#include "nn/nn.h"
#include "tests/cpp/support/autograd.h"

using namespace ocl;
using namespace testing_support;

namespace {

class Containers : public OnDevice {};

std::vector<std::string> names_of(const nn::Module& module) {
  std::vector<std::string> names;
  for (const auto& [name, child] : module.named_children()) names.push_back(name + ":" + child->name());
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_F(Containers, SequenceChanges) {
  nn::ModuleList list(nn::make<nn::ReLU>(), nn::make<nn::Tanh>());
  list.insert(1, nn::make<nn::ELU>());
  list.append(nn::make<nn::Sigmoid>());
  EXPECT_EQ(names_of(list), (Names{"0:ReLU", "1:ELU", "2:Tanh", "3:Sigmoid"}));
  list.erase(-4);
  list.extend({nn::make<nn::GELU>()});
  EXPECT_EQ(names_of(list), (Names{"0:ELU", "1:Tanh", "2:Sigmoid", "3:GELU"}));
  EXPECT_EQ(list.at(-1)->name(), "GELU");
  expect_error<IndexError>([&] { list.at(4); }, "index 4 is out of range for a ModuleList of 4");
  expect_error<IndexError>([&] { list.erase(-5); }, "index -5");
  expect_error<TypeError>([&] { list(ones({1})); },
                          "Module [ModuleList] is missing the required \"forward\" function");
}

TEST_F(Containers, NamedSequentialAndSlices) {
  nn::Sequential net({{"hidden", nn::make<nn::Linear>(2, 3)}, {"act", nn::make<nn::ReLU>()}});
  net.append(nn::make<nn::Linear>(3, 1));
  EXPECT_EQ(names_of(net), (Names{"hidden:Linear", "act:ReLU", "2:Linear"}));
  const auto part = net.slice(0, -1);
  EXPECT_EQ(names_of(*part), (Names{"hidden:Linear", "act:ReLU"}));
  EXPECT_EQ((*part)(ones({4, 2})).shape(), (Dims{4, 3}));
  EXPECT_EQ(net.slice(2, 1)->size(), 0u);
}

TEST_F(Containers, Repr) {
  const nn::ModuleList list(nn::make<nn::ReLU>(), nn::make<nn::ReLU>(), nn::make<nn::Tanh>());
  EXPECT_EQ(list.repr(), "ModuleList(\n  (0-1): 2 x ReLU()\n  (2): Tanh()\n)");
  EXPECT_EQ(nn::ModuleList().repr(), "ModuleList()");
  EXPECT_EQ(nn::ParameterList({ones({2, 3})}).repr(),
            "ParameterList(  (0): Parameter containing: [ocl.float32 of size 2x3])");
}

TEST_F(Containers, Dict) {
  nn::ModuleDict dict({{"a", nn::make<nn::ReLU>()}});
  dict.register_module("b", nn::make<nn::Tanh>());
  EXPECT_EQ(dict.keys(), (Names{"a", "b"}));
  EXPECT_TRUE(dict.contains("b") && !dict.contains("c"));
  EXPECT_EQ(dict.at("a")->name(), "ReLU");
  dict.unregister("a");
  EXPECT_EQ(dict.size(), 1u);
  expect_error<ValueError>([&] { dict.at("a"); }, "no module 'a'");
}

TEST_F(Containers, Parameters) {
  nn::ParameterList list({ones({2}), zeros({3})});
  EXPECT_EQ(list.size(), 2u);
  EXPECT_TRUE(list.at(-1).requires_grad());
  EXPECT_EQ(list.at(-1).shape(), (Dims{3}));
  EXPECT_EQ(list.state_dict()[1].first, "1");
  expect_error<IndexError>([&] { list.at(2); }, "index 2 is out of range");
}

TEST_F(Containers, ActivationsInPlace) {
  nn::ReLU relu(true);
  EXPECT_EQ(relu.repr(), "ReLU(inplace=True)");
  const Tensor x = tensor(Values{-1, 2}, {2});
  EXPECT_TRUE(is_same(relu(x), x));
  EXPECT_EQ(x.to_vector(), (Values{0, 2}));
  nn::LeakyReLU leaky(2);
  EXPECT_EQ(leaky.repr(), "LeakyReLU(negative_slope=2.0)");
  leaky.change_options([](auto& options) { options.negative_slope(3); });
  EXPECT_EQ(leaky.repr(), "LeakyReLU(negative_slope=3)");
  EXPECT_EQ(leaky(tensor(Values{-1, 2}, {2})).to_vector(), (Values{-3, 2}));
}

TEST_F(Containers, StochasticDepth) {
  nn::StochasticDepth rows({0.5, "row"}), batch({0.5, "batch"});
  manual_seed(1);
  int dropped = 0;
  const Values values = rows(ones({200, 3})).to_vector();
  for (std::size_t i = 0; i < values.size(); i += 3) {
    EXPECT_TRUE(values[i] == 0 || values[i] == 2);
    EXPECT_TRUE(values[i] == values[i + 1] && values[i] == values[i + 2]);
    dropped += values[i] == 0;
  }
  EXPECT_NEAR(dropped, 100, 40);
  const Values whole = batch(ones({50})).to_vector();
  EXPECT_EQ(whole, Values(50, whole[0]));
  rows.eval();
  EXPECT_EQ(rows(ones({4})).to_vector(), Values(4, 1));
  expect_error<ValueError>([] { nn::StochasticDepth({0.5, "rows"}); }, "'batch' or 'row', but got rows");
}
