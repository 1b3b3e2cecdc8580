// Gradients of gradients: create_graph.

#include "autograd/ops/formula.h"
#include "dlprim/ops/pointwise/formula.h"
#include "tests/cpp/support/autograd.h"

using namespace ocl;
using namespace testing_support;

namespace {

class DoubleBackward : public OnDevice {};

Tensor gradient_of(const Tensor& y, const Tensor& x) {
  return autograd::grad({y}, {x}, {}, std::nullopt, true)[0];
}

TEST_F(DoubleBackward, OrdersOfAPolynomial) {
  const Tensor x = leaf({1, 2, -3}, {3});
  Tensor y = sum(x * x * x * x);
  for (const Values& expected :
       {Values{4, 32, -108}, Values{12, 48, 108}, Values{24, 48, -72}, Values{24, 24, 24}}) {
    const Tensor g = gradient_of(y, x);
    EXPECT_EQ(g.to_vector(), expected);
    y = sum(g);
  }
}

TEST_F(DoubleBackward, TheGradientOfALeafHasAHistory) {
  const Tensor x = leaf({2}, {1});
  (x * x * x).backward({}, std::nullopt, true);
  const Tensor g = x.grad();
  EXPECT_TRUE(g.requires_grad());
  sum(g * x).backward();
  EXPECT_EQ(x.grad().item(), 12 + 36);
}

TEST_F(DoubleBackward, AConvolutionByAllThatItHas) {
  const Tensor x = leaf({1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 1, 3, 3}), w = leaf({1, -1, 2, 1}, {1, 1, 2, 2});
  const Tensor y = conv2d(x, w);
  const Tensor dx = gradient_of(sum(y * y) * 0.5, x);
  const TensorList second = autograd::grad({sum(dx * x)}, {x, w}, {}, true);
  // sum(dx * x) is sum(y * y): twice the first gradients.
  EXPECT_EQ(second[0].to_vector(), (dx * 2).to_vector());
  const Tensor dw = gradient_of(sum(y * y) * 0.5, w);
  EXPECT_EQ(second[1].to_vector(), (dw * 2).to_vector());
}

TEST_F(DoubleBackward, AWriteThroughAView) {
  const Tensor x = leaf({1, 2, 3}, {3});
  Tensor y = x * x;
  Tensor part = narrow(y, 0, 1, 2);
  part.mul_(narrow(x, 0, 0, 2));  // y = x0^2, x1^2 x0, x2^2 x1
  const Tensor first = gradient_of(sum(y), x);
  EXPECT_EQ(first.to_vector(), (Values{2 + 4, 4 + 9, 12}));
  EXPECT_EQ(autograd::grad({sum(first)}, {x})[0].to_vector(), (Values{2 + 4, 4 + 2 + 6, 6 + 4}));
}

TEST_F(DoubleBackward, WithoutAGraphThereIsNone) {
  const Tensor x = leaf({2}, {1});
  EXPECT_FALSE(autograd::grad({x * x}, {x})[0].requires_grad());
  const Tensor y = exp(x);
  gradient_of(y, x);  // keeps the graph
  autograd::grad({y}, {x});
  expect_error<AutogradError>([&] { autograd::grad({y}, {x}); }, "second time");
}

TEST_F(DoubleBackward, EveryRowOfTheTableHasADerivativeThatOperatorsCompute) {
  for (const dlprim::PointwiseOp& op : dlprim::pointwise_table())
    for (const std::string& gradient : op.gradients) {
      if (gradient.empty()) continue;
      std::map<std::string, Operand> values;
      for (const char* name : {"a", "b", "c", "y", "g"}) values[name] = full({2}, 0.5);
      for (const dlprim::PointwiseParameter& p : op.parameters) values[p.name] = 1.0;
      EXPECT_NO_THROW(evaluate(gradient, values, DType::float32, ones({1}).device()))
          << op.name << ": " << gradient;
    }
}

TEST(Formula, Reads) {
  using dlprim::Formula;
  const Formula formula = dlprim::parse_formula("a < 0 && b != 1 ? -(T)2.5 * F(a, b + 1) : a - b - 1.0f / 6");
  EXPECT_EQ(formula.name, "?:");
  EXPECT_EQ(formula.parts[0].name, "&&");
  EXPECT_EQ(formula.parts[0].parts[1].name, "!=");
  const Formula& product = formula.parts[1];
  EXPECT_EQ(product.name, "*");
  EXPECT_EQ(product.parts[0].name, "neg");
  EXPECT_EQ(product.parts[0].parts[0].value, 2.5);
  EXPECT_EQ(product.parts[1].name, "F");
  EXPECT_EQ(product.parts[1].parts[1].name, "+");
  const Formula& difference = formula.parts[2];  // from the left
  EXPECT_EQ(difference.parts[0].name, "-");
  EXPECT_TRUE(difference.parts[1].parts[0].is_float);
  for (const char* wrong : {"", "a +", "(a", "a b", "f(a", "a ? b", "#"})
    EXPECT_THROW(dlprim::parse_formula(wrong), dlprim::ValueError) << wrong;
}

}  // namespace
