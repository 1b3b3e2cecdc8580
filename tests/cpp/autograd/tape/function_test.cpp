#include "autograd/tape/function.h"

#include <cmath>

#include "tests/cpp/support/autograd.h"

using namespace ocl;
using namespace testing_support;

namespace {

class OwnFunctions : public OnDevice {};

struct Cube : autograd::Function<Cube> {
  static Tensor forward(autograd::AutogradContext* context, const Tensor& x, double factor) {
    EXPECT_FALSE(grad_enabled());
    context->save_for_backward({x});
    context->saved_data["factor"] = factor;
    return factor * x * x * x;
  }
  static TensorList backward(autograd::AutogradContext* context, const TensorList& grads) {
    const Tensor x = context->get_saved_variables()[0];
    EXPECT_TRUE(context->needs_input_grad(0));
    EXPECT_FALSE(context->needs_input_grad(1));
    return {3 * std::any_cast<double>(context->saved_data["factor"]) * x * x * grads[0], Tensor()};
  }
};

TEST_F(OwnFunctions, HaveTheirOwnGradient) {
  const Tensor x = leaf({1, -2, 3}, {3});
  const Tensor y = Cube::apply(x, 2.0);
  EXPECT_EQ(y.to_vector(), (Values{2, -16, 54}));
  EXPECT_TRUE(y.requires_grad());
  sum(y * y).backward();  // 4 x^6
  EXPECT_EQ(gradient(x), (Values{24, -768, 5832}));
  EXPECT_FALSE(Cube::apply(x.detach(), 2.0).requires_grad());
  const NoGradGuard no_grad;
  EXPECT_FALSE(Cube::apply(x, 2.0).requires_grad());
}

TEST_F(OwnFunctions, AreDifferentiatedTwice) {
  const Tensor x = leaf({1, -2}, {2});
  const Tensor first = autograd::grad({sum(Cube::apply(x, 1.0))}, {x}, {}, std::nullopt, true)[0];
  EXPECT_EQ(autograd::grad({sum(first)}, {x})[0].to_vector(), (Values{6, -12}));
}

/** Its backward is made of its result. */
struct Exponential : autograd::Function<Exponential> {
  static Tensor forward(autograd::AutogradContext* context, const Tensor& x) {
    const Tensor y = exp(x);
    context->save_for_backward({y});
    return y;
  }
  static TensorList backward(autograd::AutogradContext* context, const TensorList& grads) {
    return {context->get_saved_variables()[0] * grads[0]};
  }
};

TEST_F(OwnFunctions, SaveTheirResults) {
  const Tensor x = leaf({0, 1}, {2});
  const Tensor first = autograd::grad({sum(Exponential::apply(x))}, {x}, {}, std::nullopt, true)[0];
  const Tensor second = autograd::grad({sum(first)}, {x}, {}, std::nullopt, true)[0];
  expect_close(second.to_vector(), std::vector<double>{1, std::exp(1.0)}, 1e-6, 0);
  expect_close(autograd::grad({sum(second)}, {x})[0].to_vector(), std::vector<double>{1, std::exp(1.0)}, 1e-6,
               0);
  std::weak_ptr<TensorImpl> result;
  {
    const Tensor y = Exponential::apply(x);
    result = std::static_pointer_cast<TensorImpl>(y.impl().shared_from_this());
  }
  EXPECT_TRUE(result.expired()) << "a saved result holds its own history";
}

/** Two results, one of them whole numbers, of two tensors. */
struct Larger : autograd::Function<Larger> {
  static TensorList forward(autograd::AutogradContext* context, const Tensor& a, const Tensor& b) {
    const Tensor is_a = ge(a, b);
    context->save_for_backward({is_a});
    return {where(is_a, a, b), to(is_a, DType::int64)};
  }
  static TensorList backward(autograd::AutogradContext* context, const TensorList& grads) {
    EXPECT_EQ(grads.size(), 2u);
    const Tensor is_a = context->get_saved_variables()[0], zero = zeros_like(grads[0]);
    return {where(is_a, grads[0], zero), where(is_a, zero, grads[0])};
  }
};

TEST_F(OwnFunctions, GiveSeveralResults) {
  const Tensor a = leaf({1, 5}, {2}), b = leaf({2, 3}, {2});
  const TensorList results = Larger::apply(a, b);
  EXPECT_EQ(results[0].to_vector(), (Values{2, 5}));
  EXPECT_FALSE(results[1].requires_grad());
  sum(results[0]).backward();
  EXPECT_EQ(gradient(a), (Values{0, 1}));
  EXPECT_EQ(gradient(b), (Values{1, 0}));
}

/** Gives its argument back, and marks it or not. */
struct Passing : autograd::Function<Passing> {
  static TensorList forward(autograd::AutogradContext* context, const Tensor& x, bool marks,
                            bool materializes) {
    const Tensor twice = 2 * x;
    if (marks) context->mark_non_differentiable({twice});
    context->set_materialize_grads(materializes);
    context->saved_data["materializes"] = materializes;
    return {x, twice};
  }
  static TensorList backward(autograd::AutogradContext* context, const TensorList& grads) {
    EXPECT_EQ(grads[1].defined(), std::any_cast<bool>(context->saved_data["materializes"]));
    return {5 * grads[0], Tensor(), Tensor()};
  }
};

TEST_F(OwnFunctions, MayGiveArgumentsBackAndMarkResults) {
  for (const bool marks : {false, true})
    for (const bool materializes : {false, true}) {
      const Tensor x = leaf({1, 2}, {2});
      const TensorList results = Passing::apply(x, marks, materializes);
      EXPECT_EQ(results[1].requires_grad(), !marks);
      EXPECT_TRUE(x.is_leaf());
      sum(results[0]).backward();
      EXPECT_EQ(gradient(x), (Values{5, 5}));
    }
}

struct TooFew : autograd::Function<TooFew> {
  static Tensor forward(autograd::AutogradContext*, const Tensor& a, const Tensor& b) { return a * b; }
  static TensorList backward(autograd::AutogradContext*, const TensorList& grads) { return {grads[0]}; }
};
struct WrongShape : autograd::Function<WrongShape> {
  static Tensor forward(autograd::AutogradContext*, const Tensor& a) { return a * 2; }
  static TensorList backward(autograd::AutogradContext*, const TensorList&) { return {ones({7})}; }
};

TEST_F(OwnFunctions, SayWhatIsWrong) {
  const Tensor x = leaf({1, 2}, {2});
  expect_error<AutogradError>([&] { sum(TooFew::apply(x, x)).backward(); },
                              "TooFewBackward returned an incorrect number of gradients (expected 2, got 1)");
  expect_error<AutogradError>([&] { sum(WrongShape::apply(x)).backward(); }, "WrongShapeBackward");
  Tensor saved = leaf({1, 2}, {2});
  const Tensor y = sum(Cube::apply(saved * 1, 1.0));
  const Tensor inner = saved * 1;
  Tensor written = inner;
  const Tensor z = sum(Cube::apply(written, 1.0));
  {
    const NoGradGuard no_grad;
    written += 1;
  }
  expect_error<AutogradError>([&] { z.backward(); }, "modified by an inplace operation");
  y.backward();
}

TEST_F(OwnFunctions, PassAGradientCheck) {
  if (!device().info().fp64) GTEST_SKIP() << "NOT TESTED: no float64";
  const Tensor x = to(leaf({0.5f, -1.5f, 2}, {3}), DType::float64).detach().requires_grad_();
  EXPECT_TRUE(autograd::gradcheck([](const TensorList& inputs) { return Cube::apply(inputs[0], 1.5); }, {x}));
}

}  // namespace
