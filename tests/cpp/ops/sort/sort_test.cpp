#include "dlprim/ops/sort/sort.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tests/cpp/support/elements.h"
#include "tests/cpp/support/messages.h"

using namespace dlprim;
using namespace testing_support;

namespace {

using Order = std::vector<std::int32_t>;

/** Whether a stands before b where both are ascending: NaN is the largest. */
bool is_less(double a, double b) {
  return std::isnan(b) ? !std::isnan(a) : a < b;
}

Order sorted(const double* row, std::int64_t n, bool descending) {
  Order order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t i, std::int32_t j) {
    return descending ? is_less(row[j], row[i]) : is_less(row[i], row[j]);
  });
  return order;
}

void check_first(const Tensor& x, const std::vector<double>& values, std::int64_t kept) {
  Queue& queue = device().queue();
  const std::int64_t n = x.shape[1];
  const Tensor order = queue.scratch({x.shape[0], kept}, DType::int32);
  for (const bool descending : {false, true}) {
    sort_order(queue, x, descending, order);
    Order expected;
    for (std::int64_t row = 0; row < x.shape[0]; ++row) {
      const Order of_row = sorted(values.data() + row * n, n, descending);
      expected.insert(expected.end(), of_row.begin(), of_row.begin() + kept);
    }
    EXPECT_EQ(download<std::int32_t>(order), expected) << name(x.dtype) << " " << x.shape << " first " << kept
                                                       << (descending ? " descending" : " ascending");
  }
}

/** All of each row's order, and of its first elements about the number up to which a CPU looks for them
 * alone. */
void check(const Tensor& x, const std::vector<double>& values) {
  for (const std::int64_t kept :
       {std::int64_t{1}, std::int64_t{5}, std::int64_t{32}, std::int64_t{33}, x.shape[1]})
    if (kept <= x.shape[1]) check_first(x, values, kept);
}

TEST(Sort, RowsOfEveryDtypeKeepTheOrderOfEqualElements) {
  std::mt19937 random(1);
  for (const DType dtype : {DType::float32, DType::float64, DType::float16, DType::bfloat16, DType::int64,
                            DType::int32, DType::int16, DType::int8, DType::uint8, DType::boolean}) {
    if (!supports(dtype)) continue;
    // Short rows, and long ones, which are sorted by digits.
    for (const Dims& shape : {Dims{3, 1}, Dims{5, 17}, Dims{2, 128}, Dims{3, 129}, Dims{2, 1000},
                              Dims{2, 2048}, Dims{3, 2049}, Dims{1, 70000}}) {
      const Sample x = sample(random, dtype, shape, Placement::contiguous);
      check(x.tensor, x.values);
    }
  }
}

TEST(Sort, InfinitiesNanAndNegativeZero) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  for (const std::size_t n : {std::size_t{8}, std::size_t{200}}) {
    std::vector<double> row{nan, 0, -inf, -0.0, inf, -1, nan, 1};
    row.resize(n, 2.5);
    const Dims shape{1, static_cast<std::int64_t>(n)};
    check(upload_as(DType::float32, row, shape), row);
  }
}

TEST(Sort, HalfTypesOrderInfinitiesAndNan) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  for (const DType dtype : {DType::float16, DType::bfloat16})
    for (const std::size_t n : {std::size_t{8}, std::size_t{200}}) {
      std::vector<double> row{nan, 0, -inf, -0.0, inf, -1, nan, 1};
      row.resize(n, -2.5);
      const Dims shape{1, static_cast<std::int64_t>(n)};
      check(upload_as(dtype, row, shape), row);
    }
}

// Doubles do not tell these apart, so they are compared as they are.
TEST(Sort, TheEndsOf64Bits) {
  Queue& queue = device().queue();
  for (const std::size_t n : {std::size_t{7}, std::size_t{150}}) {
    std::vector<std::int64_t> row{INT64_MAX, INT64_MIN, -1, INT64_MIN + 1, 0, INT64_MAX - 1, 1};
    row.resize(n, 5);
    const Dims shape{1, static_cast<std::int64_t>(n)};
    const Tensor order = queue.scratch(shape, DType::int32);
    sort_order(queue, upload(row, shape), false, order);
    Order expected(n);
    std::iota(expected.begin(), expected.end(), 0);
    std::stable_sort(expected.begin(), expected.end(), [&](std::int32_t i, std::int32_t j) {
      return row[static_cast<std::size_t>(i)] < row[static_cast<std::size_t>(j)];
    });
    EXPECT_EQ(download<std::int32_t>(order), expected);
  }
}

TEST(Sort, KeysBelowABound) {
  std::mt19937 random(2);
  Queue& queue = device().queue();
  for (const std::int64_t bound : {1, 2, 16, 17, 255, 256, 257, 70000})
    for (const std::size_t n : {std::size_t{1}, std::size_t{33}, std::size_t{9000}, std::size_t{300000}}) {
      std::vector<double> keys(n);
      for (double& key : keys)
        key = static_cast<double>(std::uniform_int_distribution<std::int64_t>(0, bound - 1)(random));
      const SortedKeys result =
          sort_keys(queue, upload_as(DType::int32, keys, {static_cast<std::int64_t>(n)}), bound);
      const Order expected = sorted(keys.data(), static_cast<std::int64_t>(n), false);
      EXPECT_EQ(download<std::int32_t>(result.order), expected) << n << " keys below " << bound;
      std::stable_sort(keys.begin(), keys.end());
      EXPECT_EQ(download_values(result.keys), keys) << n << " keys below " << bound;
    }
}

TEST(Sort, NoElements) {
  Queue& queue = device().queue();
  for (const Dims& shape : {Dims{0, 5}, Dims{5, 0}})
    EXPECT_NO_THROW(sort_order(queue, queue.scratch(shape), false, queue.scratch(shape, DType::int32)));
  EXPECT_EQ(sort_keys(queue, queue.scratch({0}, DType::int32), 7).order.numel(), 0);
}

TEST(Sort, RefusesWhatDoesNotFit) {
  Queue& queue = device().queue();
  const Tensor x = upload<float>({1, 2, 3, 4}, {2, 2});
  expect_error<TypeError>([&] { sort_order(queue, x, false, queue.scratch({2, 2}, DType::int64)); },
                          "sort: expected the order of dtype int32, got int64");
  expect_error<ValueError>([&] { sort_order(queue, x, false, queue.scratch({4}, DType::int32)); },
                           "k at most n for rows [2, 2], got [4]");
  expect_error<ValueError>([&] { sort_order(queue, x, false, queue.scratch({2, 3}, DType::int32)); },
                           "k at most n for rows [2, 2], got [2, 3]");
  expect_error<ValueError>(
      [&] { sort_order(queue, x.reshaped({4}), false, queue.scratch({4}, DType::int32)); }, "[rows, n]");
}

}  // namespace
