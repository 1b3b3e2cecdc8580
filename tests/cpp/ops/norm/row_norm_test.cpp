#include "dlprim/ops/norm/row_norm.h"

#include <cmath>

#include "tests/cpp/support/elements.h"
#include "tests/cpp/support/messages.h"

using namespace dlprim;
using namespace testing_support;

namespace {

using Doubles = std::vector<double>;

constexpr double eps = 1e-3;

/** Rows normalised and their gradients, in double. */
struct Reference {
  NormRows rows;
  bool centered;
  Doubles x, weight, bias, dy;
  Doubles y, dx, dweight, dbias;

  std::size_t affine_at(std::int64_t row, std::int64_t i) const {
    return static_cast<std::size_t>(row % rows.period * rows.weights + i / (rows.n / rows.weights));
  }

  void compute() {
    y = dx = Doubles(x.size());
    dweight = dbias = Doubles(weight.size());
    const auto n = static_cast<double>(rows.n);
    for (std::int64_t row = 0; row < rows.rows; ++row) {
      const auto at = [&](std::int64_t i) { return static_cast<std::size_t>(row * rows.n + i); };
      double mean = 0, squares = 0;
      for (std::int64_t i = 0; i < rows.n; ++i) mean += centered ? x[at(i)] / n : 0;
      for (std::int64_t i = 0; i < rows.n; ++i) squares += (x[at(i)] - mean) * (x[at(i)] - mean) / n;
      const double invstd = 1 / std::sqrt(squares + eps);
      double sum = 0, dot = 0;  // of the gradient by the normalised elements
      for (std::int64_t i = 0; i < rows.n; ++i) {
        const double normal = (x[at(i)] - mean) * invstd, g = dy[at(i)] * weight[affine_at(row, i)];
        y[at(i)] = normal * weight[affine_at(row, i)] + bias[affine_at(row, i)];
        dweight[affine_at(row, i)] += dy[at(i)] * normal;
        dbias[affine_at(row, i)] += dy[at(i)];
        sum += centered ? g / n : 0;
        dot += g * normal / n;
      }
      for (std::int64_t i = 0; i < rows.n; ++i)
        dx[at(i)] = invstd * (dy[at(i)] * weight[affine_at(row, i)] - sum - (x[at(i)] - mean) * invstd * dot);
    }
  }
};

void check(std::mt19937& random, DType dtype, const Dims& shape, const NormRows& rows, bool centered) {
  Queue& queue = device().queue();
  const Dims affine{rows.period * rows.weights};
  const auto drawn = [&](const Dims& s) { return sample(random, dtype, s, Placement::contiguous); };
  const Sample x = drawn(shape), dy = drawn(shape), weight = drawn(affine), bias = drawn(affine);
  Reference r{rows, centered, x.values, weight.values, bias.values, dy.values, {}, {}, {}, {}};
  r.compute();
  const auto room = [&](const Dims& dims) { return queue.scratch(dims, dtype); };
  const auto exact = [&](const Dims& dims) { return queue.scratch(dims, compute_dtype(dtype)); };
  const Tensor y = room(shape), mean = exact({rows.rows}), invstd = exact({rows.rows}), dx = room(shape),
               terms = exact(shape), dweight = room(affine), dbias = room(affine);
  const double rounding = rounding_of(dtype);
  const Tensor* means = centered ? &mean : nullptr;
  row_norm_forward(queue, rows, x.tensor, &weight.tensor, &bias.tensor, eps, y, means, invstd);
  expect_close(download_values(y), r.y, 1e-4 + rounding, 1e-4);
  row_norm_backward(queue, rows, dy.tensor, x.tensor, &weight.tensor, means, invstd, dx, &terms);
  expect_close(download_values(dx), r.dx, 1e-3 + rounding, 1e-3);
  if (rows.rows > 10000) return;  // what is summed over so many is another operator's
  row_norm_backward_affine(queue, rows, terms, dweight);
  row_norm_backward_affine(queue, rows, dy.tensor, dbias);
  expect_close(download_values(dweight), r.dweight, 1e-4 + rounding, 1e-3);
  expect_close(download_values(dbias), r.dbias, 1e-4 + rounding, 1e-3);
}

void check_layers_and_groups(DType dtype) {
  std::mt19937 random(1);
  const auto check_rows = [&](const Dims& shape, const NormRows& rows) {
    for (const bool centered : {true, false}) check(random, dtype, shape, rows, centered);
  };
  for (const Dims& shape : {Dims{7}, Dims{3, 5}, Dims{5, 17}, Dims{3, 2, 300}, Dims{1, 4100}})
    check_rows(shape, layer_norm_rows("test", shape, {shape.back()}));
  check_rows({6, 3, 11}, layer_norm_rows("test", {6, 3, 11}, {3, 11}));
  check_rows({4, 6, 5, 7}, group_norm_rows("test", {4, 6, 5, 7}, 3));
  check_rows({3, 33}, group_norm_rows("test", {3, 33}, 1));
  check_rows({2, 4, 65}, group_norm_rows("test", {2, 4, 65}, 4));
  // In vectors, where a device reads such: weights of each element, of whole vectors, and of less.
  check_rows({5, 768}, layer_norm_rows("test", {5, 768}, {768}));
  check_rows({3, 5, 1028}, layer_norm_rows("test", {3, 5, 1028}, {1028}));
  check_rows({2, 6, 4, 3}, group_norm_rows("test", {2, 6, 4, 3}, 3));
  check_rows({2, 8, 2, 3}, group_norm_rows("test", {2, 8, 2, 3}, 2));
}

TEST(RowNorm, LastDimensionsAndGroupsOfChannels) {
  check_layers_and_groups(DType::float32);
}

TEST(RowNorm, LastDimensionsAndGroupsOfChannelsFloat64) {
  if (!supports(DType::float64)) GTEST_SKIP();
  check_layers_and_groups(DType::float64);
}

TEST(RowNorm, LastDimensionsAndGroupsOfChannelsFloat16) {
  check_layers_and_groups(DType::float16);
}

TEST(RowNorm, LastDimensionsAndGroupsOfChannelsBfloat16) {
  check_layers_and_groups(DType::bfloat16);
}

// Where a device has many short rows for each unit, lines of a group take them, and the last group has fewer.
TEST(RowNorm, MoreRowsThanGroupsOfOneLine) {
  std::mt19937 random(3);
  for (const std::int64_t of_unit : {33, 70, 640})
    for (const std::int64_t n : {3, 12, 37, 132}) {
      const Dims shape{of_unit * device().info().compute_units + 5, n};
      if (product(shape) > 4'000'000) continue;
      for (const bool centered : {true, false})
        check(random, DType::float32, shape, layer_norm_rows("test", shape, {n}), centered);
    }
}

// Their squares are infinite. Rows of fewer elements than a group has items.
TEST(RowNorm, EqualNumbersHaveNoVariance) {
  Queue& queue = device().queue();
  for (const DType dtype : {DType::float32, DType::float64})
    for (const std::int64_t n : {2, 3, 5, 24, 33, 300}) {
      if (!supports(dtype)) continue;
      SCOPED_TRACE(concat(name(dtype), " rows of ", n));
      const double value = dtype == DType::float64 ? -std::ldexp(1, 600) : std::ldexp(1, 65);
      const Tensor x = upload_as(dtype, Doubles(static_cast<std::size_t>(2 * n), value), {2, n});
      const Tensor y = queue.scratch(x.shape, dtype), mean = queue.scratch({2}, dtype),
                   invstd = queue.scratch({2}, dtype);
      row_norm_forward(queue, layer_norm_rows("test", x.shape, {n}), x, nullptr, nullptr, eps, y, &mean,
                       invstd);
      expect_close(download_values(mean), Doubles(2, value), 1e-6, 0);
      expect_close(download_values(invstd), Doubles(2, 1 / std::sqrt(eps)), 1e-6, 0);
      expect_close(download_values(y), Doubles(static_cast<std::size_t>(2 * n), 0), 0, 0);
    }
}

TEST(RowNorm, RowsOfShapes) {
  const NormRows layer = layer_norm_rows("test", {6, 3, 11}, {3, 11});
  EXPECT_EQ(layer.fields(), std::make_tuple(6, 33, 1, 33));
  const NormRows group = group_norm_rows("test", {4, 6, 5, 7}, 3);
  EXPECT_EQ(group.fields(), std::make_tuple(12, 70, 3, 2));
  EXPECT_EQ(layer_norm_rows("test", {0, 3}, {3}).rows, 0);
  expect_error<ValueError>([] { layer_norm_rows("test", {6, 3}, {}); }, "at least one dimension");
  expect_error<ValueError>([] { layer_norm_rows("test", {6, 3}, {6}); }, "that ends with it, got [6, 3]");
  expect_error<ValueError>([] { layer_norm_rows("test", {3}, {6, 3}); }, "that ends with it");
  expect_error<ValueError>([] { group_norm_rows("test", {6}, 1); }, "at least 2 dimensions");
  expect_error<ValueError>([] { group_norm_rows("test", {6, 4}, 3); }, "divisible by num_groups");
  expect_error<ValueError>([] { group_norm_rows("test", {6, 4}, 0); }, "divisible by num_groups");
  expect_error<ValueError>([] { group_norm_rows("test", {1, 4}, 4); }, "more than 1 value per channel");
}

TEST(RowNorm, Oclgrind) {
  std::mt19937 random(2);
  for (const Dims& shape : {Dims{3, 5}, Dims{2, 36}, Dims{67, 3}})
    for (const bool centered : {true, false})
      check(random, DType::float32, shape, layer_norm_rows("test", shape, {shape.back()}), centered);
}

TEST(RowNorm, NoRows) {
  Queue& queue = device().queue();
  const Tensor none = queue.scratch({0, 5}), invstd = queue.scratch({0}),
               gradient = upload<float>({1, 2, 3, 4, 5}, {5});
  const NormRows rows = layer_norm_rows("test", none.shape, {5});
  row_norm_forward(queue, rows, none, nullptr, nullptr, eps, none, nullptr, invstd);
  row_norm_backward_affine(queue, rows, none, gradient);
  EXPECT_EQ(download<float>(gradient), std::vector<float>(5, 0));
}

}  // namespace
