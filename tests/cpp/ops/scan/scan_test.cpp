#include "dlprim/ops/scan/scan.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/cpp/support/elements.h"
#include "tests/cpp/support/messages.h"

using namespace dlprim;
using namespace testing_support;

namespace {

using Doubles = std::vector<double>;

/** Calls visit(row) for every row along `dim`: the numbers of its elements, in order. */
template <class Visit>
void for_each_row(const Dims& shape, int dim, const Visit& visit) {
  Dims starts = shape;
  starts[dim] = 1;
  for_each_element(starts, [&](Dims at) {
    std::vector<std::size_t> row;
    for (at[dim] = 0; at[dim] < shape[dim]; ++at[dim]) row.push_back(element_number(shape, at));
    visit(row);
  });
}

Doubles summed(Doubles x, const Dims& shape, int dim, bool reverse) {
  for_each_row(shape, dim, [&](std::vector<std::size_t> row) {
    if (reverse) std::reverse(row.begin(), row.end());
    for (std::size_t k = 1; k < row.size(); ++k) x[row[k]] += x[row[k - 1]];
  });
  return x;
}

Doubles multiplied(Doubles x, const Dims& shape, int dim) {
  for_each_row(shape, dim, [&](const std::vector<std::size_t>& row) {
    for (std::size_t k = 1; k < row.size(); ++k) x[row[k]] *= x[row[k - 1]];
  });
  return x;
}

/** The sums of products that the gradient is, term by term. */
Doubles product_gradient(const Doubles& dy, const Doubles& x, const Dims& shape, int dim) {
  Doubles dx(x.size());
  for_each_row(shape, dim, [&](const std::vector<std::size_t>& row) {
    for (std::size_t k = 0; k < row.size(); ++k)
      for (std::size_t j = k; j < row.size(); ++j) {
        double others = dy[row[j]];
        for (std::size_t i = 0; i <= j; ++i)
          if (i != k) others *= x[row[i]];
        dx[row[k]] += others;
      }
  });
  return dx;
}

const std::vector<std::pair<Dims, int>> shapes{{{7}, 0},         {{5, 17}, 1},    {{5, 17}, 0},
                                               {{2, 33, 16}, 1}, {{3, 300}, 1},   {{1, 1, 9}, 2},
                                               {{4, 3, 1}, 2},   {{2, 65, 3}, 1}, {{3, 5, 31}, 0}};

TEST(Scan, RunningSums) {
  std::mt19937 random(1);
  Queue& queue = device().queue();
  for (const DType dtype : {DType::float32, DType::int64, DType::float16})
    for (const auto& [shape, dim] : shapes)
      for (const bool reverse : {false, true}) {
        const Sample x = sample(random, dtype, shape, Placement::contiguous);
        const Tensor y = queue.scratch(shape, dtype);
        cumsum(queue, x.tensor, dim, y, reverse);
        // Quarters: exact but for what rounding to the dtype leaves.
        expect_close(download_values(y), summed(x.values, shape, dim, reverse), epsilon(dtype), 0);
      }
}

TEST(Scan, RunningProductsAndTheirGradients) {
  std::mt19937 random(2);
  Queue& queue = device().queue();
  for (const auto& [shape, dim] : shapes) {
    const Sample dy = sample(random, DType::float32, shape, Placement::contiguous);
    Doubles factors = sample(random, DType::float32, shape, Placement::contiguous).values;
    for (double& factor : factors) factor = factor == 0 ? 0 : 1 + factor / 64;  // a zero here and there
    const Tensor x = upload_as(DType::float32, factors, shape);
    const Tensor y = queue.scratch(shape), dx = queue.scratch(shape);
    cumprod(queue, x, dim, y);
    expect_close(download_values(y), multiplied(factors, shape, dim), 1e-5, 1e-6);
    cumprod_backward(queue, dy.tensor, x, dim, dx);
    expect_close(download_values(dx), product_gradient(dy.values, factors, shape, dim), 1e-4, 1e-4);
  }
}

/** Logarithms of sums of exp, term by term. */
Doubles log_sums(Doubles x, const Dims& shape, int dim) {
  for_each_row(shape, dim, [&](const std::vector<std::size_t>& row) {
    for (std::size_t k = 1; k < row.size(); ++k) {
      const double larger = std::max(x[row[k]], x[row[k - 1]]), smaller = std::min(x[row[k]], x[row[k - 1]]);
      x[row[k]] =
          larger == smaller ? larger + std::log(2.0) : larger + std::log1p(std::exp(smaller - larger));
    }
  });
  return x;
}

Doubles log_sum_gradient(const Doubles& dy, const Doubles& x, const Doubles& y, const Dims& shape, int dim) {
  Doubles dx(x.size());
  for_each_row(shape, dim, [&](const std::vector<std::size_t>& row) {
    for (std::size_t k = 0; k < row.size(); ++k)
      for (std::size_t j = k; j < row.size(); ++j) dx[row[k]] += dy[row[j]] * std::exp(x[row[k]] - y[row[j]]);
  });
  return dx;
}

TEST(Scan, LogarithmsOfRunningSumsAndTheirGradients) {
  std::mt19937 random(3);
  Queue& queue = device().queue();
  const double inf = std::numeric_limits<double>::infinity();
  for (const bool with_zeros : {false, true})  // exp(-inf)
    for (const auto& [shape, dim] : shapes) {
      const Sample dy = sample(random, DType::float32, shape, Placement::contiguous);
      Doubles numbers = sample(random, DType::float32, shape, Placement::contiguous).values;
      for (double& number : numbers) number = with_zeros && random() % 4 == 0 ? -inf : 8 * number;
      const Tensor x = upload_as(DType::float32, numbers, shape);
      const Tensor y = queue.scratch(shape), dx = queue.scratch(shape);
      logcumsumexp(queue, x, dim, y);
      const Doubles expected = log_sums(numbers, shape, dim);
      expect_close(download_values(y), expected, 1e-6, 1e-6);
      if (with_zeros) continue;  // an element before which there is nothing has no gradient
      logcumsumexp_backward(queue, dy.tensor, x, y, dim, dx);
      expect_close(download_values(dx), log_sum_gradient(dy.values, numbers, expected, shape, dim), 1e-4,
                   1e-4);
    }
}

/** Where the furthest element up to each stands: the last among equals, and NaN before any number. */
std::vector<std::int64_t> places_of_extremes(const Doubles& x, const Dims& shape, int dim, bool least) {
  std::vector<std::int64_t> places(x.size());
  for_each_row(shape, dim, [&](const std::vector<std::size_t>& row) {
    std::size_t furthest = 0;
    for (std::size_t k = 0; k < row.size(); ++k) {
      const double element = x[row[k]], so_far = x[row[furthest]];
      if (std::isnan(element) || (least ? element <= so_far : element >= so_far)) furthest = k;
      places[row[k]] = static_cast<std::int64_t>(furthest);
    }
  });
  return places;
}

TEST(Scan, PlacesOfRunningExtremes) {
  std::mt19937 random(4);
  Queue& queue = device().queue();
  const auto check = [&](const Tensor& x, const Doubles& values, int dim) {
    const Tensor places = queue.scratch(x.shape, DType::int64);
    for (const bool least : {false, true}) {
      running_extremes(queue, x, dim, least, places);
      EXPECT_EQ(download<std::int64_t>(places), places_of_extremes(values, x.shape, dim, least))
          << name(x.dtype) << " " << x.shape << " along " << dim << (least ? ", least" : "");
    }
  };
  for (const auto& [shape, dim] : shapes) {
    for (const DType dtype : {DType::float32, DType::float64, DType::float16, DType::bfloat16, DType::int64,
                              DType::int32, DType::int16, DType::int8, DType::uint8, DType::boolean}) {
      if (!supports(dtype)) continue;
      const Sample x = sample(random, dtype, shape, Placement::contiguous);
      check(x.tensor, x.values, dim);
    }
    Doubles special = sample(random, DType::float32, shape, Placement::contiguous).values;
    const double inf = std::numeric_limits<double>::infinity();
    for (double& value : special) switch (random() % 8) {
        case 0:
          value = std::nan("");
          break;
        case 1:
          value = inf;
          break;
        case 2:
          value = -inf;
          break;
        case 3:
          value = -0.0;
          break;
      }
    check(upload_as(DType::float32, special, shape), special, dim);
  }
}

TEST(Scan, OtherFloatingDtypes) {
  std::mt19937 random(3);
  Queue& queue = device().queue();
  for (const DType dtype : {DType::float64, DType::bfloat16}) {
    if (!supports(dtype)) continue;
    for (const auto& [shape, dim] : shapes) {
      const Sample x = sample(random, dtype, shape, Placement::contiguous);
      const Tensor y = queue.scratch(shape, dtype);
      cumsum(queue, x.tensor, dim, y);
      expect_close(download_values(y), summed(x.values, shape, dim, false), epsilon(dtype), 0);
    }
  }
}

// Elements before the first infinity or NaN do not see it, in either direction.
TEST(Scan, InfinitiesAndNan) {
  Queue& queue = device().queue();
  constexpr float inf = std::numeric_limits<float>::infinity();
  for (const std::size_t n : {std::size_t{6}, std::size_t{400}}) {
    std::vector<float> row{1, 2, inf, 3, -inf, 4};
    row.resize(n, 1);
    const Dims shape{static_cast<std::int64_t>(n)};
    const Tensor x = upload(row, shape), y = queue.scratch(shape);
    cumsum(queue, x, 0, y);
    std::vector<float> sums = download<float>(y);
    EXPECT_EQ(std::vector<float>(sums.begin(), sums.begin() + 4), (std::vector<float>{1, 3, inf, inf}));
    for (std::size_t i = 4; i < n; ++i) ASSERT_TRUE(std::isnan(sums[i])) << i;
    cumsum(queue, x, 0, y, true);
    sums = download<float>(y);
    EXPECT_EQ(sums[4], -inf);
    EXPECT_EQ(sums[3], -inf);
    for (std::size_t i = 0; i < 3; ++i) ASSERT_TRUE(std::isnan(sums[i])) << i;
    EXPECT_EQ(sums[5], static_cast<float>(n - 6 + 4));
    row[1] = 0;
    cumprod(queue, upload(row, shape), 0, y);
    const std::vector<float> products = download<float>(y);
    EXPECT_EQ(products[1], 0);
    for (std::size_t i = 2; i < n; ++i) ASSERT_TRUE(std::isnan(products[i])) << i;
  }
}

TEST(Scan, WholeNumbersWrapAround) {
  Queue& queue = device().queue();
  const Tensor x = upload<std::int64_t>({INT64_MAX, 1, 1}, {3}), y = queue.scratch({3}, DType::int64);
  cumsum(queue, x, 0, y);
  EXPECT_EQ(download<std::int64_t>(y), (std::vector<std::int64_t>{INT64_MAX, INT64_MIN, INT64_MIN + 1}));
}

TEST(Scan, ScalarsAndEmptyTensors) {
  Queue& queue = device().queue();
  const Tensor scalar = upload<float>({3}, {}), y = queue.scratch({});
  cumsum(queue, scalar, 0, y);
  EXPECT_EQ(download<float>(y), std::vector<float>{3});
  for (const Dims& shape : {Dims{0}, Dims{3, 0}, Dims{0, 3}}) {
    const Tensor none = queue.scratch(shape);
    EXPECT_NO_THROW(cumprod(queue, none, 0, none));
  }
}

TEST(Scan, RefusesWhatDoesNotFit) {
  Queue& queue = device().queue();
  const Tensor x = upload<float>({1, 2, 3, 4}, {2, 2});
  expect_error<ValueError>([&] { cumsum(queue, x, 0, queue.scratch({2, 3})); },
                           "cumsum: expected the result of shape [2, 2], got [2, 3]");
  expect_error<TypeError>([&] { cumprod(queue, x, 0, queue.scratch({2, 2}, DType::int64)); },
                          "of dtype float32, got int64");
  const Tensor flags = upload_as(DType::boolean, {1, 0}, {2});
  expect_error<TypeError>([&] { cumsum(queue, flags, 0, flags); }, "expected a floating dtype or int64");
}

}  // namespace
