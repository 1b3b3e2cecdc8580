#include "dlprim/ops/pointwise/pointwise.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "tests/cpp/support/elements.h"
#include "tests/cpp/support/messages.h"

using namespace dlprim;
using namespace testing_support;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
const float not_a_number = std::nanf("");

// Two results of two tensors, one number among the inputs and a parameter: everything an expression can have.
const PointwiseExpression& all_at_once() {
  static const auto* program = [] {
    PointwiseExpression expression{"forward", {"a", "b", "c"}, {"p"}, {"a * b + p * c", "a - c"}};
    expression.may_be_number = 0b100;
    return new PointwiseProgram("test_all_at_once", {expression});
  }();
  return program->expressions().front();
}

/** The result of all_at_once for shapes `a` and `b` that broadcast; the number c is 2, the parameter 3. */
struct Expected {
  Dims shape;
  std::vector<double> first, second;
};
Expected expected_of(const Sample& a, const Sample& b) {
  Expected e{broadcast_shapes(a.tensor.shape, b.tensor.shape, "test"), {}, {}};
  for_each_element(e.shape, [&](const Dims& at) {
    const double x = a.values[element_number(a.tensor.shape, at)],
                 y = b.values[element_number(b.tensor.shape, at)];
    e.first.push_back(x * y + 3 * 2);
    e.second.push_back(x - 2);
  });
  return e;
}

/** The values of any tensor, read through a contiguous copy made by the engine (which other tests check). */
std::vector<double> values_of(const Tensor& t) {
  if (t.is_contiguous()) return download_values(t);
  const Tensor dense = Tensor::empty(device(), t.shape, t.dtype);
  copy(queue(), t, dense);
  return download_values(dense);
}

void check_all_at_once(std::mt19937& random, const Dims& a_shape, const Dims& b_shape, DType a_dtype,
                       DType b_dtype, Placement placement) {
  const Sample a = sample(random, a_dtype, a_shape, placement),
               b = sample(random, b_dtype, b_shape, placement);
  Expected e = expected_of(a, b);
  const DType compute = promote_types(a_dtype, b_dtype);
  if (compute == DType::uint8)  // results are of that dtype before they are stored as another
    for (double& value : e.second) value = static_cast<std::uint8_t>(static_cast<int>(value));
  const DType first_dtype = compute, second_dtype = is_floating(compute) ? DType::float32 : DType::int64;
  const Tensor first = sample(random, first_dtype, e.shape, placement).tensor,
               second = sample(random, second_dtype, e.shape, Placement::contiguous).tensor;
  pointwise(queue(), all_at_once(), compute, {a.tensor, b.tensor, Scalar(2)}, {3}, {first, second});
  SCOPED_TRACE(concat(a_shape, " ", name(a_dtype), " with ", b_shape, " ", name(b_dtype), ", strides ",
                      a.tensor.strides, " and ", b.tensor.strides));
  expect_close(values_of(first), e.first, epsilon(first_dtype), 0);
  expect_close(values_of(second), e.second, epsilon(second_dtype), 0);
}

Tensor evaluated(const char* op, const std::vector<float>& a) {
  const Tensor y = queue().scratch({static_cast<std::int64_t>(a.size())});
  std::vector<Scalar> defaults;
  for (const PointwiseParameter& parameter : pointwise_op(op).parameters)
    defaults.emplace_back(parameter.default_value);
  pointwise(queue(), forward_expression(pointwise_op(op)), DType::float32, {upload(a, y.shape)}, defaults,
            {y});
  return y;
}

}  // namespace

TEST(Pointwise, ShapesAndBroadcasting) {
  std::mt19937 random(1);
  const std::pair<Dims, Dims> shapes[] = {{{}, {}},
                                          {{1}, {}},
                                          {{17}, {17}},
                                          {{5, 7}, {7}},
                                          {{5, 1}, {1, 7}},
                                          {{3, 1, 5}, {4, 1}},
                                          {{2, 3, 4, 5}, {3, 1, 1}},
                                          {{2, 3, 2, 3, 2, 2, 1, 2}, {2, 3, 1, 3, 1, 2, 2, 1}},
                                          {{0, 3}, {3}},
                                          {{4, 0}, {1, 1}},
                                          {{1, 1, 1}, {9}},
                                          {{6, 1, 4097}, {2, 1}}};
  for (const auto& [a, b] : shapes)
    for (const Placement placement : {Placement::contiguous, Placement::strided}) {
      check_all_at_once(random, a, b, DType::float32, DType::float32, placement);
      check_all_at_once(random, b, a, DType::float32, DType::float32, placement);
    }
}

TEST(Pointwise, RandomStrides) {
  std::mt19937 random(2);
  const auto draw = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  for (int i = 0; i < 60; ++i) {
    Dims a = Dims::filled(draw(1, 5), 1), b;
    for (int d = 0; d < a.size(); ++d) a[d] = draw(1, 6);
    for (int d = draw(0, a.size() - 1); d < a.size(); ++d) b.push_back(draw(0, 3) ? a[d] : 1);
    check_all_at_once(random, a, b, DType::float32, DType::float32,
                      draw(0, 4) ? Placement::strided : Placement::contiguous);
  }
}

TEST(Pointwise, DTypes) {
  std::mt19937 random(3);
  const std::pair<DType, DType> pairs[] = {
      {DType::float64, DType::float32},  {DType::float16, DType::float16}, {DType::bfloat16, DType::bfloat16},
      {DType::float16, DType::bfloat16}, {DType::int64, DType::int32},     {DType::int32, DType::int32},
      {DType::uint8, DType::boolean},    {DType::float32, DType::int64},   {DType::boolean, DType::float32}};
  for (const auto& [a, b] : pairs) {
    if (!supports(a)) continue;
    check_all_at_once(random, {33, 5}, {5}, a, b, Placement::contiguous);
    check_all_at_once(random, {33, 5}, {33, 5}, a, b, Placement::strided);
  }
}

TEST(Pointwise, BigSizes) {
  std::mt19937 random(4);
  check_all_at_once(random, {(1 << 20) + 3}, {(1 << 20) + 3}, DType::float32, DType::float32,
                    Placement::contiguous);
  check_all_at_once(random, {1023, 1025}, {1025}, DType::float32, DType::float32, Placement::contiguous);
  check_all_at_once(random, {61, 67, 71}, {67, 1}, DType::float32, DType::float32, Placement::strided);
}

TEST(Pointwise, IndicesBeyond32Bits) {
  const std::int64_t half = std::int64_t{1} << 30;
  if (device().info().max_allocation < (std::uint64_t{5} << 30))
    GTEST_SKIP() << "the device gives no buffer of 5 GiB";
  Tensor t = Tensor::empty(device(), {4 * half + 1}, DType::uint8);
  t.shape = Dims{2, 2};
  t.strides = Dims{3 * half, half};  // the last element lies past 2^31
  const Tensor values = upload(std::vector<std::uint8_t>{1, 2, 3, 4}, {2, 2}),
               back = Tensor::empty(device(), {2, 2}, DType::uint8);
  copy(queue(), values, t);
  copy(queue(), t, back);
  EXPECT_EQ(download<std::uint8_t>(back), (std::vector<std::uint8_t>{1, 2, 3, 4}));
}

TEST(Pointwise, AnOutputMayBeAnInput) {
  const Tensor a = upload(std::vector<float>{1, 2, 3}, {3});
  pointwise(queue(), forward_expression(pointwise_op("mul")), DType::float32, {a, a}, {}, {a});
  EXPECT_EQ(download<float>(a), (std::vector<float>{1, 4, 9}));
}

TEST(Pointwise, NumbersOnEitherSide) {
  const Tensor a = upload(std::vector<float>{1, 2, 4}, {3}), y = queue().scratch({3});
  const auto divide = [&](const PointwiseOperand& left, const PointwiseOperand& right) {
    pointwise(queue(), forward_expression(pointwise_op("div")), DType::float32, {left, right}, {}, {y});
    return download<float>(y);
  };
  EXPECT_EQ(divide(a, Scalar(2)), (std::vector<float>{0.5, 1, 2}));
  EXPECT_EQ(divide(Scalar(2.0), a), (std::vector<float>{2, 1, 0.5}));
  expect_error<ValueError>([&] { divide(Scalar(3), Scalar(2)); }, "div: expected a tensor among the inputs");
}

TEST(Pointwise, LargeIntegersStayExact) {
  const std::int64_t big = (std::int64_t{1} << 53) + 1;
  const Tensor a = upload(std::vector<std::int64_t>{big, -big}, {2}),
               y = Tensor::empty(device(), {2}, DType::int64);
  pointwise(queue(), forward_expression(pointwise_op("add")), DType::int64,
            {a, Scalar(std::int64_t{1} << 40)}, {1}, {y});
  EXPECT_EQ(download<std::int64_t>(y),
            (std::vector<std::int64_t>{big + (std::int64_t{1} << 40), -big + (std::int64_t{1} << 40)}));
}

TEST(Pointwise, Float64NeedsADeviceThatHasIt) {
  if (device().info().fp64) GTEST_SKIP() << "the device has float64";
  const Tensor t = Tensor::empty(device(), {2}, DType::float64);
  expect_error<DeviceError>(
      [&] { pointwise(queue(), forward_expression(pointwise_op("exp")), DType::float64, {t}, {}, {t}); },
      "float64 is not supported");
}

TEST(Pointwise, SpecialValues) {
  const std::vector<float> x{-inf, -1, -0.0f, 0, 1, inf, not_a_number};
  const auto check = [&](const char* op, const std::vector<double>& expected) {
    SCOPED_TRACE(op);
    expect_close(download_values(evaluated(op, x)), expected, 1e-6, 0);
  };
  check("exp", {0, std::exp(-1), 1, 1, std::exp(1), inf, not_a_number});
  check("log", {not_a_number, not_a_number, -inf, -inf, 0, inf, not_a_number});
  check("sqrt", {not_a_number, not_a_number, 0, 0, 1, inf, not_a_number});
  check("sigmoid", {0, 1 / (1 + std::exp(1)), 0.5, 0.5, 1 / (1 + std::exp(-1)), 1, not_a_number});
  check("tanh", {-1, std::tanh(-1), 0, 0, std::tanh(1), 1, not_a_number});
  check("relu", {0, 0, 0, 0, 1, inf, not_a_number});
  check("sign", {-1, -1, 0, 0, 1, 1, 0});
  check("softplus",
        {0, std::log1p(std::exp(-1)), std::log(2), std::log(2), std::log1p(std::exp(1)), inf, not_a_number});
}

// One row at a time against the C library, with arguments over the range where each is finite.
TEST(Pointwise, FunctionsAgainstTheCLibrary) {
  struct Row {
    const char* op;
    std::function<double(double)> reference;
    double low, high, ulps;
  };
  const Row rows[] = {
      {"exp", [](double a) { return std::exp(a); }, -87, 88.7, 4},
      {"expm1", [](double a) { return std::expm1(a); }, -5, 5, 4},
      {"log", [](double a) { return std::log(a); }, 0.01, 50, 4},
      {"log1p", [](double a) { return std::log1p(a); }, -0.9, 50, 4},
      {"rsqrt", [](double a) { return 1 / std::sqrt(a); }, 0.01, 50, 4},
      {"sin", [](double a) { return std::sin(a); }, -10, 10, 4},
      {"tan", [](double a) { return std::tan(a); }, -1.5, 1.5, 6},
      {"atan", [](double a) { return std::atan(a); }, -10, 10, 6},
      {"tanh", [](double a) { return std::tanh(a); }, -5, 5, 6},
      {"erf", [](double a) { return std::erf(a); }, -4, 4, 16},
      {"sigmoid", [](double a) { return 1 / (1 + std::exp(-a)); }, -20, 20, 8},
      {"gelu", [](double a) { return 0.5 * a * (1 + std::erf(a / std::sqrt(2.0))); }, -1, 5, 24},
      {"silu", [](double a) { return a / (1 + std::exp(-a)); }, -10, 10, 8},
      {"logsigmoid", [](double a) { return -std::log1p(std::exp(-a)); }, -10, 10, 8},
      {"hardswish", [](double a) { return a <= -3  ? 0
                                          : a >= 3 ? a
                                                   : a * (a + 3) / 6; }, -2.9, 5, 16},
      {"round", [](double a) { return std::nearbyint(a); }, -9, 9, 0},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.op);
    std::vector<float> x = random_floats(3000, 5);
    std::vector<double> expected;
    for (float& v : x) {
      v = static_cast<float>(row.low + (row.high - row.low) * (v + 1) / 2);
      expected.push_back(row.reference(v));
    }
    // Near a zero of the function the error counts against the argument's rounding.
    expect_close(download_values(evaluated(row.op, x)), expected, row.ulps * epsilon(DType::float32),
                 4 * epsilon(DType::float32) * 1e-2);
  }
}

TEST(Pointwise, GradientExpressions) {
  const std::vector<float> a{0.5f, -1, 2}, b{2, 3, -0.5f}, g{1, 10, 100};
  const Tensor ta = upload(a, {3}), tb = upload(b, {3}), tg = upload(g, {3}), da = queue().scratch({3}),
               db = queue().scratch({3});
  const PointwiseOp& div = pointwise_op("div");
  const PointwiseExpression& both = gradient_expression(div, 3);
  EXPECT_EQ(both.variables, (std::vector<std::string>{"g", "a", "b"}));
  pointwise(queue(), both, DType::float32, {tg, ta, tb}, {}, {da, db});
  std::vector<double> expected_a, expected_b;
  for (std::size_t i = 0; i < 3; ++i) {
    expected_a.push_back(g[i] / b[i]);
    expected_b.push_back(-g[i] * a[i] / b[i] / b[i]);
  }
  expect_close(download_values(da), expected_a, 4e-7, 0);
  expect_close(download_values(db), expected_b, 4e-7, 0);
  EXPECT_EQ(gradient_expression(div, 1).variables, (std::vector<std::string>{"g", "b"}));
}

// Where a sum of two terms cancels, the terms' own rounding would be all that is left.
TEST(Pointwise, GradientOfHardswishAroundItsZero) {
  std::vector<float> a;
  std::vector<double> expected;
  for (int i = -20; i <= 20; ++i) {
    a.push_back(-1.5f + static_cast<float>(i) * std::ldexp(1.0f, -23));
    expected.push_back((2.0 * a.back() + 3) / 6);
  }
  const Dims shape{static_cast<std::int64_t>(a.size())};
  const Tensor da = queue().scratch(shape);
  const std::vector<float> ones(a.size(), 1);
  pointwise(queue(), gradient_expression(pointwise_op("hardswish"), 1), DType::float32,
            {upload(ones, shape), upload(a, shape)}, {}, {da});
  expect_close(download_values(da), expected, 4 * epsilon(DType::float32), 0);
}

TEST(PointwiseTable, UsesVariable) {
  EXPECT_TRUE(uses_variable("a * b", "a"));
  EXPECT_TRUE(uses_variable("exp(a)", "a"));
  EXPECT_FALSE(uses_variable("abs(x)", "a"));
  EXPECT_FALSE(uses_variable("a_b + alpha", "a"));
  EXPECT_TRUE(uses_variable("alpha + a", "a"));
  EXPECT_FALSE(uses_variable("", "a"));
}

TEST(PointwiseTable, RowsAreWhole) {
  for (const PointwiseOp& op : pointwise_table()) {
    EXPECT_EQ(static_cast<int>(op.gradients.size()), op.inputs) << op.name;
    EXPECT_FALSE(op.forward.empty() || op.documentation.empty()) << op.name;
    EXPECT_EQ(&pointwise_op(op.name), &op) << "two rows named " << op.name;
  }
  expect_error<ValueError>([] { pointwise_op("no_such_row"); }, "'no_such_row'");
}

TEST(Fill, EveryDTypeAndStride) {
  for (const DType dtype : {DType::float32, DType::float16, DType::bfloat16, DType::int64, DType::int32,
                            DType::int16, DType::int8, DType::uint8, DType::boolean}) {
    const double value = dtype == DType::boolean ? 1 : 5;
    Tensor t = upload_as(dtype, std::vector<double>(12, 0), {3, 4});
    Tensor column = t;
    column.shape = Dims{3};
    column.strides = Dims{4};
    column.offset = 1;
    fill(queue(), column, value);
    EXPECT_EQ(download_values(t), (std::vector<double>{0, value, 0, 0, 0, value, 0, 0, 0, value, 0, 0}))
        << name(dtype);
    fill(queue(), t, value);
    EXPECT_EQ(download_values(t), std::vector<double>(12, value)) << name(dtype);
    fill(queue(), t, 0);
    EXPECT_EQ(download_values(t), std::vector<double>(12, 0)) << name(dtype);
  }
}

TEST(Fill, UnusualNumbers) {
  const Tensor t = queue().scratch({3});
  fill(queue(), t, -0.0);
  EXPECT_TRUE(std::signbit(download<float>(t)[2]));
  fill(queue(), t, not_a_number);
  EXPECT_TRUE(std::isnan(download<float>(t)[2]));
  const Tensor truth = Tensor::empty(device(), {2}, DType::boolean);
  fill(queue(), truth, 0.5);  // as PyTorch: not zero, so true
  EXPECT_EQ(download_values(truth), (std::vector<double>{1, 1}));
  const Tensor whole = Tensor::empty(device(), {2}, DType::int64);
  fill(queue(), whole, (std::int64_t{1} << 60) + 1);
  EXPECT_EQ(download<std::int64_t>(whole)[1], (std::int64_t{1} << 60) + 1);
}

TEST(Pointwise, Oclgrind) {
  std::mt19937 random(8);
  for (const Placement placement : {Placement::contiguous, Placement::strided})
    check_all_at_once(random, {3, 5}, {5}, DType::float32, DType::float32, placement);
  check_all_at_once(random, {70}, {70}, DType::float32, DType::float32, Placement::contiguous);
  check_all_at_once(random, {2, 3}, {2, 3}, DType::float16, DType::bfloat16, Placement::contiguous);
  check_all_at_once(random, {4, 2}, {4, 1}, DType::uint8, DType::int64, Placement::contiguous);
}
