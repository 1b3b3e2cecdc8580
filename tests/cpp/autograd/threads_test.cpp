// Threads that share a tensor: a race gives either value, never a crash. For ThreadSanitizer too.

#include "tests/cpp/support/threads.h"

#include "nn/optim/optimizer.h"
#include "tests/cpp/support/autograd.h"

using namespace ocl;
using namespace testing_support;

namespace {

constexpr int times = 100;

class Threads : public OnDevice {};

}  // namespace

TEST_F(Threads, WriteOneTensorInPlace) {
  const Tensor x = leaf(Values(8, 1), {8});
  Tensor y = x * 1, half = slice(y, 0, 0, 4);
  together(times, {[&] { y.mul_(1.01); }, [&] { y.add_(x); }, [&] { half.mul_(0.5); }, [&] { sum(half * 2); },
                   [&] { sum(y).backward({}, true); }, [&] { EXPECT_FALSE(y.is_leaf() && half.is_leaf()); }});
  EXPECT_TRUE(x.grad().defined());
}

TEST_F(Threads, AddUpTheGradientsOfALeaf) {
  const Tensor x = leaf({1, 1}, {2});
  const auto work = [&] { sum(x * 2).backward(); };
  together(times, {work, work, work});
  EXPECT_EQ(gradient(x), (Values{600, 600}));
}

TEST_F(Threads, DropAGradientThatArrives) {
  Tensor x = leaf({1, 1}, {2});
  const auto work = [&] { sum(x * 2).backward(); };
  together(times, {work, work, [&] { x.set_grad({}); },
                   [&] {
                     const Tensor g = x.grad();
                     EXPECT_TRUE(!g.defined() || g.shape() == Dims{2});
                   }});
}

TEST_F(Threads, WalkOneGraph) {
  const Tensor x = leaf({1, 2}, {2});
  for (int i = 0; i < 20; ++i) {
    const Tensor y = sum(exp(x * 2) * x);
    together(1, {[&] { y.backward(); }, [&] { y.backward(); }, [&] { y.backward({}, true); }});
  }
}

TEST_F(Threads, HookOneTensor) {
  Tensor x = leaf({1, 2}, {2});
  Tensor y = exp(x);
  const auto hook = [](Tensor& t) { t.register_hook([](const Tensor& g) { return g * 1; }).remove(); };
  together(times, {[&] { hook(x); }, [&] { hook(y); }, [&] { hook(y); }, [&] { sum(y).backward({}, true); },
                   [&] { sum(y).backward({}, true); }});
}

TEST_F(Threads, ShareAnOptimizer) {
  TensorList parameters{leaf({1, 2}, {2}), leaf({3}, {1})};
  optim::Adam optimizer(parameters);
  together(times, {[&] { optimizer.step(); }, [&] { optimizer.step(); }, [&] { optimizer.zero_grad(); },
                   [&] { (sum(parameters[0]) + sum(parameters[1])).backward(); },
                   [&] { optimizer.load_state_dict(optimizer.state_dict()); },
                   [&] {
                     optim::ParameterGroup& group = optimizer.param_groups()[0];
                     const std::lock_guard locked(optimizer.mutex());
                     group.options.set("lr", 1e-3);
                   }});
}
