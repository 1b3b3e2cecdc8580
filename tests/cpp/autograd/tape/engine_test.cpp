#include "autograd/tape/engine.h"

#include <thread>

#include "autograd/tape/anomaly.h"

#include "tests/cpp/support/autograd.h"

using namespace ocl;
using namespace testing_support;

namespace {
class Engine : public OnDevice {};
class Grad : public OnDevice {};
}  // namespace

TEST_F(Engine, ChainRule) {
  const Tensor x = leaf({1, 2, 3}, {3});
  sum(square(x) * 2).backward();
  EXPECT_EQ(gradient(x), (Values{4, 8, 12}));
}

TEST_F(Engine, ALeafUsedOftenGetsTheSum) {
  const Tensor x = leaf({3}, {});
  (x * x * x + 2 * x - x / 3).backward();
  EXPECT_NEAR(gradient(x)[0], 27 + 2 - 1.0 / 3, 1e-5);
}

TEST_F(Engine, Diamond) {
  const Tensor x = leaf({2}, {});
  const Tensor shared = x * x;
  (shared * 3 + shared * shared).backward();
  EXPECT_EQ(gradient(x), Values{3 * 4 + 4 * 8});
}

TEST_F(Engine, Accumulates) {
  Tensor x = leaf({1, 2}, {2});
  sum(x * 3).backward();
  sum(x * 4).backward();
  EXPECT_EQ(gradient(x), (Values{7, 7}));
  x.set_grad({});
  sum(x).backward();
  EXPECT_EQ(gradient(x), (Values{1, 1}));
}

TEST_F(Engine, LeavesDoNotShareTheirGradients) {
  const Tensor x = leaf({1, 2}, {2}), y = leaf({3, 4}, {2});
  sum(x + y).backward();
  x.grad().add_(10);
  EXPECT_EQ(gradient(x), (Values{11, 11}));
  EXPECT_EQ(gradient(y), (Values{1, 1}));
}

TEST_F(Engine, AGivenGradientIsNotWritten) {
  const Tensor x = leaf({1, 2}, {2}), g = tensor(Values{5, 6}, {2});
  x.backward(g);
  x.backward(g);
  EXPECT_EQ(gradient(x), (Values{10, 12}));
  EXPECT_EQ(g.to_vector(), (Values{5, 6}));
}

TEST_F(Engine, Broadcasting) {
  const Tensor row = leaf({1, 2, 3}, {3}), column = leaf({1, 2}, {2, 1}), number = leaf({5}, {});
  sum(row * column + number).backward();
  EXPECT_EQ(gradient(row), (Values{3, 3, 3}));
  EXPECT_EQ(gradient(column), (Values{6, 6}));
  EXPECT_EQ(gradient(number), Values{6});
}

TEST_F(Engine, GradientsKeepTheDType) {
  const Tensor half = tensor(Values{1, 2}, {2}).to(DType::float16).requires_grad_(), x = leaf({3, 4}, {2});
  sum(half * x).backward();
  EXPECT_EQ(half.grad().dtype(), DType::float16);
  EXPECT_EQ(half.grad().to_vector(), (Values{3, 4}));
  EXPECT_EQ(gradient(x), (Values{1, 2}));
}

TEST_F(Engine, SeveralRoots) {
  const Tensor x = leaf({2}, {});
  backward({x * 3, x * x}, {Tensor(), tensor(Values{10}, {})});
  EXPECT_EQ(gradient(x), Values{43});
}

TEST_F(Engine, SecondBackward) {
  const Tensor x = leaf({2}, {});
  const Tensor y = x * x;
  y.backward({}, true);
  y.backward();
  EXPECT_EQ(gradient(x), Values{8});
  expect_error<AutogradError>([&] { y.backward(); }, "backward through the graph a second time");
  EXPECT_EQ(gradient(x), Values{8});
}

TEST_F(Engine, WrongCalls) {
  const Tensor x = leaf({1, 2}, {2});
  expect_error<AutogradError>([&] { (x * 2).backward(); },
                              "grad can be implicitly created only for scalar outputs, got shape [2]");
  expect_error<AutogradError>([] { ones({}).backward(); }, "does not require grad");
  expect_error<ValueError>([&] { (x * 2).backward(ones({3})); },
                           "gradient of shape [3] for an output of shape [2]");
  expect_error<ValueError>([&] { backward({sum(x)}, {ones({}), ones({})}); }, "1 outputs but 2 gradients");
}

TEST_F(Engine, FrozenPartsGetNothing) {
  const Tensor x = leaf({1, 2}, {2}), frozen = tensor(Values{3, 4}, {2});
  const Tensor y = x * frozen;
  EXPECT_TRUE(y.requires_grad());
  EXPECT_FALSE((frozen * 2).requires_grad());
  sum(y + (x * 5).detach()).backward();
  EXPECT_EQ(gradient(x), (Values{3, 4}));
  EXPECT_FALSE(frozen.grad().defined());
}

TEST_F(Engine, NoGradGuardRecordsNothing) {
  const Tensor x = leaf({1}, {});
  {
    const NoGradGuard guard;
    EXPECT_FALSE((x * 2).requires_grad());
    const GradMode again(true);
    EXPECT_TRUE((x * 2).requires_grad());
  }
  EXPECT_TRUE(grad_enabled());
  EXPECT_TRUE((x * 2).requires_grad());
}

TEST_F(Engine, GradModeBelongsToAThread) {
  const NoGradGuard guard;
  bool elsewhere = false;
  std::thread([&] { elsewhere = grad_enabled(); }).join();
  EXPECT_TRUE(elsewhere);
}

TEST_F(Engine, ThreadsHaveTheirOwnGraphs) {
  std::vector<std::thread> threads;
  std::vector<float> results(4);
  for (std::size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        const Tensor x = leaf({static_cast<float>(t)}, {});
        (x * x * x).backward();
        results[t] = x.grad().item();
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(results, (Values{0, 3, 12, 27}));
}

TEST_F(Engine, RetainGrad) {
  const Tensor x = leaf({2}, {});
  Tensor y = x * 3;
  y.retain_grad();
  (y * y + y).backward();
  EXPECT_EQ(gradient(y), Values{13});
  EXPECT_EQ(gradient(x), Values{39});
}

TEST_F(Engine, HooksSeeTheWholeGradientOnce) {
  for (const bool of_leaf : {true, false}) {
    const Tensor x = leaf({2}, {});
    Tensor y = of_leaf ? x : x * 1;
    std::vector<float> seen;
    y.register_hook([&](const Tensor& g) {
      seen.push_back(g.item());
      return Tensor();
    });
    (y * 3 + exp(y * 0) + y * y).backward();
    EXPECT_EQ(seen, Values{7}) << (of_leaf ? "leaf" : "inner tensor");
    EXPECT_EQ(gradient(x), Values{7});
  }
}

TEST_F(Engine, AHookMayReplaceTheGradient) {
  for (const bool of_leaf : {true, false}) {
    const Tensor x = leaf({2}, {});
    Tensor y = of_leaf ? x : x * 1;
    y.register_hook([](const Tensor& g) { return g + 100; });
    (y * 3 + y * 4).backward();
    EXPECT_EQ(gradient(x), Values{107}) << (of_leaf ? "leaf" : "inner tensor");
  }
}

TEST_F(Engine, SetGrad) {
  Tensor x = leaf({1, 2}, {2});
  x.set_grad(ones({2}));
  sum(x).backward();
  EXPECT_EQ(gradient(x), (Values{2, 2}));
  x.set_grad({});
  EXPECT_FALSE(x.grad().defined());
  expect_error<ValueError>([&] { x.set_grad(ones({3})); }, "grad: expected shape [2]");
}

TEST_F(Engine, DeepChain) {
  const Tensor x = leaf({1}, {});
  Tensor y = x;
  for (int i = 0; i < 10000; ++i) y = y + 1;
  y.backward();
  EXPECT_EQ(gradient(x), Values{1});
}

TEST_F(Engine, DeepChainsAreDestroyedWithoutRecursion) {
  std::thread([] {  // the smallest of stacks would not hold a recursion, nor would a usual one
    Tensor y = leaf({1}, {});
    for (int i = 0; i < 100000; ++i) y = reshape(y, {1});
    y = Tensor();
  })
      .join();
}

TEST_F(Engine, BackwardFreesWhatWasSaved) {
  const Tensor x = leaf(Values(1 << 20, 1), {1 << 20});
  device().synchronize();
  const auto before = device().allocator().stats().allocated;
  Tensor y = exp(exp(x));
  Tensor loss = sum(y);
  y = Tensor();
  EXPECT_GE(device().allocator().stats().allocated, before + (8u << 20));
  loss.backward();
  EXPECT_LE(device().allocator().stats().allocated, before + (4u << 20) + 4096);  // the gradient of x
}

TEST_F(Grad, GivesGradientsWithoutTouchingLeaves) {
  const Tensor x = leaf({2, 3}, {2}), w = leaf({5}, {});
  const Tensor y = sum(x * x) * w;
  const TensorList found = autograd::grad({y}, {x, w});
  EXPECT_EQ(found[0].to_vector(), (Values{20, 30}));
  EXPECT_EQ(found[1].item(), 13);
  EXPECT_FALSE(x.grad().defined());
}

TEST_F(Grad, OfALeafUsedOften) {
  const Tensor x = leaf({3}, {});
  EXPECT_EQ(autograd::grad({x * 2 + x * x + exp(x * 0)}, {x})[0].item(), 8);
}

TEST_F(Grad, OfInnerTensors) {
  const Tensor x = leaf({3}, {});
  const Tensor y = x * x;
  const TensorList found = autograd::grad({y * y}, {y, x});
  EXPECT_EQ(found[0].item(), 18);
  EXPECT_EQ(found[1].item(), 108);
}

TEST_F(Grad, OfTheOutputItself) {
  const Tensor x = leaf({3}, {});
  const Tensor y = x * x;
  EXPECT_EQ(autograd::grad({y}, {y})[0].item(), 1);
}

TEST_F(Grad, Unused) {
  const Tensor x = leaf({3}, {}), other = leaf({4}, {});
  const Tensor y = x * 2;
  expect_error<AutogradError>([&] { autograd::grad({y}, {x, other}, {}, true); },
                              "not have been used in the graph (input 1)");
  const TensorList found = autograd::grad({y}, {x, other}, {}, false, false, true);
  EXPECT_EQ(found[0].item(), 2);
  EXPECT_FALSE(found[1].defined());
  expect_error<AutogradError>([&] { autograd::grad({x * 2}, {ones({})}); }, "input 0 does not require grad");
}

TEST_F(Engine, HooksMustKeepTheKindOfTheGradient) {
  for (const Tensor& wrong :
       {zeros({1}), zeros({1000}), zeros({}), zeros({2}, DType::float16), zeros({2}, DType::int64)})
    for (const bool on_leaf : {true, false}) {
      Tensor x = leaf({1, 2}, {2}), y = x * 3;
      (on_leaf ? x : y).register_hook([&](const Tensor&) { return wrong; });
      expect_error<AutogradError>([&] { sum(y).backward(); },
                                  "a hook has changed the gradient: expected shape [2] and dtype float32");
    }
}

TEST_F(Engine, FunctionsMustGiveGradientsThatFit) {
  const Tensor x = leaf({1, 2}, {2});
  const auto result_of = [&](const Tensor& gradient) {
    const Tensor y(x.data());
    autograd::record_function("Wrong", {x}, {y}, [=](const TensorList&) { return TensorList{gradient}; });
    return sum(y);
  };
  expect_error<AutogradError>([&] { result_of(zeros({3})).backward(); },
                              "Function Wrong returned an invalid gradient at index 0 - got [3]");
  expect_error<AutogradError>([&] { result_of(zeros({})).backward(); }, "got []");
  result_of(ones({4, 2}, DType::float16)).backward();  // summed and converted
  EXPECT_EQ(gradient(x), (Values{4, 4}));
}

TEST_F(Engine, ALeafMayHaveChangedItsShape) {
  const Tensor x = leaf({1, 2}, {2}), y = sum(x * 3);
  x.impl().data = zeros({5}).data();
  expect_error<AutogradError>([&] { y.backward(); }, "got [2] but expected shape compatible with [5]");
}

TEST_F(Engine, DetectAnomalyNamesTheOperatorAndEnds) {
  const auto step = [] {
    const Tensor x = leaf({0}, {1});
    sum(sqrt(x) * 0.0).backward();
  };
  EXPECT_NO_THROW(step());
  {
    const autograd::DetectAnomaly looking;
    expect_error<AutogradError>(step, "sqrt");
    {
      const autograd::DetectAnomaly without_check(false);
      EXPECT_NO_THROW(step());
    }
    EXPECT_THROW(step(), AutogradError);
  }
  EXPECT_NO_THROW(step());
}

TEST_F(Engine, ALeafIsCompleteBeforeThePassGoesOn) {
  const Tensor first = leaf({2}, {1}), second = leaf({3}, {1});
  std::vector<bool> first_was_complete;
  for (const Tensor& t : {first, second}) {
    Tensor each = t;
    each.register_post_accumulate_grad_hook(
        [&](const Tensor&) { first_was_complete.push_back(first.grad().defined()); });
  }
  sum(exp(first) * second).backward();
  EXPECT_EQ(first_was_complete, (std::vector<bool>{false, true}));
}
