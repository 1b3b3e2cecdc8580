#include "dlprim/ops/pointwise/complex_form.h"

#include <complex>

#include "dlprim/core/error.h"
#include "dlprim/ops/pointwise/pointwise.h"
#include "tests/cpp/support/elements.h"

using namespace dlprim;
using namespace testing_support;

namespace {

using Complex = std::complex<float>;

Tensor uploaded(const std::vector<Complex>& values) {
  const Tensor t = Tensor::empty(device(), {static_cast<std::int64_t>(values.size())}, DType::complex64);
  queue().write(t, values.data(), values.size() * sizeof(Complex));
  return t;
}

std::vector<Complex> downloaded(const Tensor& t) {
  std::vector<Complex> values(static_cast<std::size_t>(t.numel()));
  queue().read(t, values.data(), values.size() * sizeof(Complex));
  return values;
}

void expect_near(const std::vector<Complex>& actual, const std::vector<Complex>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i)
    EXPECT_LE(std::abs(actual[i] - expected[i]), 1e-5f * std::abs(expected[i]))
        << actual[i] << " " << expected[i];
}

const std::vector<Complex> left{{1, 2}, {-3, 0.5f}, {0, -1}}, right{{2, -1}, {0.5f, 0.25f}, {-1, 3}};

}  // namespace

TEST(ComplexForm, ExpressionsThatCompareBySizeHaveNone) {
  for (const char* name :
       {"add", "mul", "div", "exp", "sqrt", "pow", "eq", "ne", "where", "tanh", "logical_xor"})
    EXPECT_TRUE(has_complex_form(pointwise_op(name).forward)) << name;
  for (const char* name : {"relu", "maximum", "floor", "lt", "gelu", "remainder", "erf", "clamp"})
    EXPECT_FALSE(has_complex_form(pointwise_op(name).forward)) << name;
}

TEST(ComplexForm, IsAnExpressionOfFunctions) {
  EXPECT_EQ(complex_form("a * b + 2"), "(C_MUL(a, b) + C_REAL(2))");
  EXPECT_EQ(complex_form("-EXP(a) / b"), "C_DIV((-C_EXP(a)), b)");
  EXPECT_EQ(complex_condition("EQUAL(a, 0) != EQUAL(b, 0)"),
            "(C_EQUAL(a, C_REAL(0)) != C_EQUAL(b, C_REAL(0)))");
  EXPECT_EQ(complex_condition("a != b"), "(!C_EQUAL(a, b))");
  EXPECT_THROW(complex_form("a > 0 ? a : b"), ValueError);
}

TEST(ComplexForm, ComputesAsTheStandardLibrary) {
  const auto computed = [](const char* name, const std::vector<PointwiseOperand>& inputs,
                           const std::vector<Scalar>& parameters = {}) {
    const Tensor y = Tensor::empty(device(), {3}, DType::complex64);
    pointwise(queue(), forward_expression(pointwise_op(name)), DType::complex64, inputs, parameters, {y});
    return downloaded(y);
  };
  const auto expected = [](const auto& function) {
    std::vector<Complex> values;
    for (std::size_t i = 0; i < left.size(); ++i) values.push_back(function(left[i], right[i]));
    return values;
  };
  const Tensor a = uploaded(left), b = uploaded(right);
  expect_near(computed("mul", {a, b}), expected([](Complex x, Complex y) { return x * y; }));
  expect_near(computed("div", {a, b}), expected([](Complex x, Complex y) { return x / y; }));
  expect_near(computed("exp", {a}), expected([](Complex x, Complex) { return std::exp(x); }));
  expect_near(computed("sqrt", {a}), expected([](Complex x, Complex) { return std::sqrt(x); }));
  const Scalar alpha(std::complex<double>(0.5, -2));
  expect_near(computed("add", {a, b}, {alpha}),
              expected([](Complex x, Complex y) { return x + Complex(0.5f, -2) * y; }));
  expect_near(computed("mul", {a, alpha}),
              expected([](Complex x, Complex) { return x * Complex(0.5f, -2); }));
}

TEST(ComplexForm, PartsAreViews) {
  const Tensor a = uploaded(left);
  fill(queue(), part_of(a, 1), 7);
  EXPECT_EQ(downloaded(a), (std::vector<Complex>{{1, 7}, {-3, 7}, {0, 7}}));
  EXPECT_EQ(pairs_of(a).shape, (Dims{3, 2}));
}

TEST(ComplexForm, ConversionsKeepTheRealPart) {
  const Tensor a = uploaded(left), reals = Tensor::empty(device(), {3}),
               back = Tensor::empty(device(), {3}, DType::complex64);
  copy(queue(), a, reals);
  copy(queue(), reals, back);
  EXPECT_EQ(downloaded(back), (std::vector<Complex>{1, -3, 0}));
}
