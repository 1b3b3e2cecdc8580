#include <cmath>

#include "dlprim/ops/optim/multi_tensor.h"
#include "tests/cpp/support/tensors.h"

using namespace dlprim;
using namespace testing_support;

namespace {

const std::vector<std::int64_t> sizes{1, 0, 37, 4096, 4097, 16384, 16385, 70001};

/** Tensors of those sizes, with their values, some beginning inside of their memory. */
struct Many {
  explicit Many(unsigned seed) {
    for (const std::int64_t size : sizes) {
      std::vector<float> all = random_floats(static_cast<std::size_t>(size) + 3, seed++);
      Tensor t = upload(all, {size + 3});
      t.shape = {size};
      t.offset = 3;
      tensors.push_back(t);
      values.emplace_back(all.begin() + 3, all.end());
    }
  }
  std::vector<Tensor> tensors;
  std::vector<std::vector<double>> values;
};

}  // namespace

TEST(MultiTensorPointwise, OneLaunchForAll) {
  Queue& queue = device().queue();
  const Many a(1), b(100);
  ParameterPack pack;
  std::vector<TensorsAbreast> rows;
  for (std::size_t i = 0; i < sizes.size(); ++i) rows.push_back({a.tensors[i], {a.tensors[i], b.tensors[i]}});
  queue.start_profiling();
  multi_tensor_pointwise(queue, pack, forward_expression(pointwise_op("lerp")), rows, {{}, {}, Scalar(0.25)},
                         {});
  EXPECT_EQ(queue.stop_profiling().size(), 1u);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    std::vector<double> expected;
    for (std::size_t k = 0; k < a.values[i].size(); ++k)
      expected.push_back(a.values[i][k] + 0.25 * (b.values[i][k] - a.values[i][k]));
    expect_close(download<float>(a.tensors[i]), expected, 2e-7, 2e-7);
  }
}

TEST(MultiTensorPointwise, NumbersAndParameters) {
  Queue& queue = device().queue();
  const Many a(1), b(100), c(200), out(300);
  ParameterPack pack;
  std::vector<TensorsAbreast> rows;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    rows.push_back({out.tensors[i], {a.tensors[i], b.tensors[i], c.tensors[i]}});
  multi_tensor_pointwise(queue, pack, forward_expression(pointwise_op("addcmul")), rows, {{}, {}, {}},
                         {-3.0});
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    std::vector<double> expected;
    for (std::size_t k = 0; k < a.values[i].size(); ++k)
      expected.push_back(a.values[i][k] - 3 * b.values[i][k] * c.values[i][k]);
    expect_close(download<float>(out.tensors[i]), expected, 1e-6, 1e-6);
    // Memory before the tensor stays as it is.
    Tensor before = out.tensors[i];
    before.offset = 0;
    before.shape = {3};
    const std::vector<float> drawn =
        random_floats(static_cast<std::size_t>(sizes[i]) + 3, 300 + static_cast<unsigned>(i));
    EXPECT_EQ(download<float>(before), std::vector<float>(drawn.begin(), drawn.begin() + 3));
  }
  // That pack with other tensors, and the number on the other side.
  rows.clear();
  for (std::size_t i = 2; i < sizes.size(); ++i) rows.push_back({out.tensors[i], {a.tensors[i]}});
  multi_tensor_pointwise(queue, pack, forward_expression(pointwise_op("div")), rows, {Scalar(2), {}}, {});
  for (std::size_t i = 2; i < sizes.size(); ++i) {
    std::vector<double> expected;
    for (const double v : a.values[i]) expected.push_back(2 / v);
    expect_close(download<float>(out.tensors[i]), expected, 1e-6, 1e-6);
  }
}

TEST(MultiTensorPointwise, OneElementForAll) {
  Queue& queue = device().queue();
  const Many a(1);
  Tensor factor = upload(std::vector<float>{7, -0.5f}, {2});
  factor.shape = {1};
  factor.offset = 1;
  ParameterPack pack;
  std::vector<TensorsAbreast> rows;
  for (const Tensor& t : a.tensors) rows.push_back({t, {t}});
  const auto multiply = [&](const Tensor& by) {
    multi_tensor_pointwise(queue, pack, forward_expression(pointwise_op("mul")), rows,
                           {{}, PointwiseOperand(by)}, {});
  };
  multiply(factor);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    std::vector<double> expected;
    for (const double v : a.values[i]) expected.push_back(-0.5 * v);
    expect_close(download<float>(a.tensors[i]), expected, 0, 0);
  }
  factor.shape = {2};
  factor.offset = 0;
  EXPECT_THROW(multiply(factor), ValueError);
}

TEST(MultiTensorPointwise, Float64) {
  if (!device().info().fp64) GTEST_SKIP() << "no float64";
  Queue& queue = device().queue();
  const Tensor x = upload(std::vector<double>{2, 3, 1e-300}, {3});
  ParameterPack pack;
  multi_tensor_pointwise(queue, pack, forward_expression(pointwise_op("sqrt")), {{x, {x}}}, {{}}, {});
  expect_close(download<double>(x), {std::sqrt(2.0), std::sqrt(3.0), 1e-150}, 1e-15, 0);
}

TEST(MultiTensorPointwise, Errors) {
  Queue& queue = device().queue();
  ParameterPack pack;
  const Tensor a = upload(random_floats(6, 1), {2, 3}), b = upload(random_floats(6, 2), {3, 2});
  const PointwiseExpression& add = forward_expression(pointwise_op("add"));
  const auto call = [&](const std::vector<TensorsAbreast>& rows) {
    multi_tensor_pointwise(queue, pack, add, rows, {{}, {}}, {1.0});
  };
  call({});
  EXPECT_THROW(call({{a, {a, b}}}), ValueError);
  EXPECT_THROW(call({{a, {a}}}), ValueError);
  Tensor across = b;
  across.shape = {2, 3};
  across.strides = {1, 2};
  EXPECT_THROW(call({{a, {a, across}}}), ValueError);
  Tensor gaps = a;
  gaps.shape = {2, 2};
  EXPECT_THROW(call({{gaps, {gaps, gaps}}}), ValueError);
  const Tensor whole = queue.scratch({2, 3}, DType::int32);
  EXPECT_THROW(call({{whole, {whole, whole}}}), TypeError);
  EXPECT_THROW(multi_tensor_pointwise(queue, pack, add, {{a, {a, a}}}, {{}, {}}, {}), ValueError);
}
