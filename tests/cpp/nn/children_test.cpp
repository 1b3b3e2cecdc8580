// Submodules that are replaced, taken away, in a circle, or changed by several threads.

#include "nn/nn.h"
#include "tests/cpp/support/autograd.h"
#include "tests/cpp/support/threads.h"

using namespace ocl;
using namespace testing_support;

namespace {

class Children : public OnDevice {};

struct Net : nn::Module {
  nn::Child<nn::Linear> hidden = add<nn::Linear>("hidden", 2, 3);
  nn::Child<nn::Linear> out = add<nn::Linear>("out", 3, 1);
  Tensor forward(const Tensor& x) override { return out(relu(hidden(x))); }
};

}  // namespace

TEST_F(Children, FollowWhatIsRegistered) {
  Net net;
  const auto held = net.hidden.get();
  net.register_module("hidden", nn::make<nn::Linear>(nn::LinearOptions(2, 3).bias(false)));
  EXPECT_NE(net.hidden.get(), held);
  EXPECT_FALSE(net.hidden->bias.defined());
  EXPECT_EQ(net(ones({4, 2})).shape(), (Dims{4, 1}));
}

TEST_F(Children, MayBeOfAnotherKind) {
  Net net;
  net.register_module("hidden", nn::make<nn::Sequential>(nn::make<nn::Linear>(2, 3), nn::make<nn::Tanh>()));
  EXPECT_EQ(net(ones({4, 2})).shape(), (Dims{4, 1}));
  expect_error<TypeError>([&] { net.hidden.get(); }, "'hidden' is of another kind now: a Sequential");
}

TEST_F(Children, MayGoAndComeBack) {
  Net net;
  net.unregister("hidden");
  expect_error<ValueError>([&] { net(ones({4, 2})); }, "no submodule 'hidden' any more");
  EXPECT_EQ(net.named_children().size(), 1u);
  net.register_module("hidden", nn::make<nn::Linear>(2, 3));
  EXPECT_EQ(net(ones({4, 2})).shape(), (Dims{4, 1}));
}

TEST_F(Children, OutliveTheirModule) {
  nn::Child<nn::Linear> hidden;
  expect_error<ValueError>([&] { hidden(ones({4, 2})); }, "before it was registered");
  {
    const Net net;
    hidden = net.hidden;
  }
  EXPECT_EQ(hidden(ones({4, 2})).shape(), (Dims{4, 3}));
}

TEST_F(Children, OfAttention) {
  nn::MultiheadAttention attention(8, 2);
  attention.register_module("out_proj", nn::make<nn::Linear>(8, 8));
  const Tensor x = ones({3, 2, 8});
  EXPECT_EQ(attention(x, x, x).output.shape(), x.shape());
}

TEST_F(Children, InACircleAreFreed) {
  std::weak_ptr<nn::Module> gone;
  {
    const auto parent = nn::make<nn::Sequential>(), child = nn::make<nn::Sequential>();
    parent->append(child);
    child->register_module("parent", parent);
    gone = parent;
    EXPECT_EQ(child->own_module("parent"), parent);
    EXPECT_EQ(parent->named_modules().size(), 2u);
    expect_error<nn::RecursionError>([&] { parent->train(false); }, "contains itself");
    expect_error<nn::RecursionError>([&] { parent->clone(); }, "contains itself");
    expect_error<nn::RecursionError>([&] { parent->state_dict(); },
                                     "contains itself: the submodule 'parent'");
    expect_error<nn::RecursionError>([&] { parent->apply([](nn::Module&) {}); }, "contains itself");
    expect_error<nn::RecursionError>([&] { parent->repr(); }, "contains itself");
  }
  EXPECT_TRUE(gone.expired());
}

std::shared_ptr<nn::Sequential> nested(int levels) {
  auto net = nn::make<nn::Sequential>(nn::make<nn::Linear>(2, 2));
  for (int i = 1; i < levels; ++i) {
    auto outer = nn::make<nn::Sequential>();
    outer->append(std::move(net));
    net = std::move(outer);
  }
  return net;
}

TEST_F(Children, ListsOfADeepNestCostNoStack) {
  const auto net = nested(100000);
  EXPECT_EQ(net->parameters().size(), 2u);
  EXPECT_NO_THROW(net->require_no_cycle());
  net->zero_grad();
}

TEST_F(Children, WalksRefuseADeepNest) {
  const auto net = nested(100000);
  using Walk = std::function<void()>;
  for (const Walk& walk :
       {Walk([&] { net->train(); }), Walk([&] { net->apply([](nn::Module&) {}); }),
        Walk([&] { net->repr(); }), Walk([&] { net->state_dict(); }), Walk([&] { net->clone(); })})
    expect_error<nn::RecursionError>(walk, "nested too deep");
  const auto fits = nested(500);
  int count = 0;
  fits->apply([&](nn::Module&) { ++count; });
  EXPECT_EQ(count, 501);
  EXPECT_EQ(fits->clone()->repr(), fits->repr());
}

struct Frozen : nn::Module {
  nn::Child<nn::BatchNorm1d> norm = add<nn::BatchNorm1d>("norm", 2);
  int applied = 0;
  void train(bool) override { Module::train(false); }
  void apply(const std::function<void(nn::Module&)>& function) override {
    ++applied;
    Module::apply(function);
  }
  std::string repr() const override { return "<frozen>"; }
};

TEST_F(Children, WalksGoByWhatAClassMakesOfThem) {
  const auto frozen = nn::make<Frozen>();
  nn::Sequential net(nn::make<nn::ReLU>(), frozen);
  net.train();
  EXPECT_TRUE(net.at(0)->is_training());
  EXPECT_FALSE(frozen->norm->is_training());
  std::vector<std::string> names;
  net.apply([&](nn::Module& module) { names.push_back(module.name()); });
  EXPECT_EQ(names, (std::vector<std::string>{"ReLU", "BatchNorm1d", "Frozen", "Sequential"}));
  EXPECT_EQ(frozen->applied, 1);
  EXPECT_EQ(net.repr(), "Sequential(\n  (0): ReLU()\n  (1): <frozen>\n)");
}

TEST_F(Children, ANameMayBeKeptForLater) {
  nn::Sequential net(nn::make<nn::Linear>(2, 2), nn::make<nn::ReLU>());
  net.register_module("0", nullptr);
  EXPECT_TRUE(net.has_submodule("0"));
  EXPECT_EQ(net.own_module("0"), nullptr);
  EXPECT_EQ(net.named_children().size(), 1u);
  EXPECT_EQ(net.clone()->repr(), "Sequential(\n  (0): None\n  (1): ReLU()\n)");
  net.register_module("0", nn::make<nn::Tanh>());
  EXPECT_EQ(net.repr(), "Sequential(\n  (0): Tanh()\n  (1): ReLU()\n)");
}

TEST_F(Children, HooksOfAModuleThatIsGoneAreNotCalled) {
  const Tensor x = leaf({1, 2}, {1, 2});
  Tensor y;
  {
    nn::Linear module(2, 3);
    module.register_full_backward_hook([](const nn::Module&, const Tensor&, const Tensor&) {
      ADD_FAILURE() << "called";
      return Tensor();
    });
    y = sum(module(x));
  }
  y.backward();
  EXPECT_EQ(x.grad().shape(), x.shape());
}

TEST_F(Children, BackwardHooksMustFit) {
  const Tensor x = leaf({1, 2}, {1, 2});
  nn::ReLU module;
  module.register_full_backward_hook(
      [](const nn::Module&, const Tensor&, const Tensor&) { return zeros({7}); });
  const Tensor y = sum(module(x * 1));
  expect_error<AutogradError>([&] { y.backward(); },
                              "a backward hook has changed the gradient: expected shape [1, 2]");
}

TEST_F(Children, ChangedAndCalledByThreads) {
  Net net;
  const Tensor x = ones({4, 2});
  net(x);
  together(
      100,
      {[&] { net(x); }, [&] { sum(net(x)).backward(); },
       [&] { net.register_module("hidden", nn::make<nn::Linear>(2, 3)); }, [&] { net.unregister("hidden"); },
       [&] { net.out->register_parameter("weight", ones({1, 3})); }, [&] { net.state_dict(); },
       [&] { net.train(); },
       [&] {
         net.register_forward_hook([](const nn::Module&, const Tensor&, const Tensor&) { return Tensor(); })
             .remove();
       },
       [&] { net.zero_grad(); }});
}
