#include <cmath>
#include <limits>

#include "dlprim/ops/softmax/softmax.h"
#include "tests/cpp/support/implementations.h"
#include "tests/cpp/support/tensors.h"

using namespace dlprim;
using namespace testing_support;

namespace {

struct Reference {
  std::vector<double> y, log_y, dx, log_dx;
};

Reference reference(const std::vector<float>& x, const std::vector<float>& dy, std::int64_t outer,
                    std::int64_t n, std::int64_t inner) {
  Reference r;
  for (auto* v : {&r.y, &r.log_y, &r.dx, &r.log_dx}) v->resize(x.size());
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t k = 0; k < inner; ++k) {
      const auto at = [&](std::int64_t i) { return static_cast<std::size_t>((o * n + i) * inner + k); };
      double top = -std::numeric_limits<double>::infinity(), sum = 0, dot = 0, total = 0;
      for (std::int64_t i = 0; i < n; ++i) top = std::fmax(top, x[at(i)]);
      for (std::int64_t i = 0; i < n; ++i) sum += std::exp(x[at(i)] - top);
      for (std::int64_t i = 0; i < n; ++i) {
        r.y[at(i)] = std::exp(x[at(i)] - top) / sum;
        r.log_y[at(i)] = x[at(i)] - top - std::log(sum);
        dot += r.y[at(i)] * dy[at(i)];
        total += dy[at(i)];
      }
      for (std::int64_t i = 0; i < n; ++i) {
        r.dx[at(i)] = r.y[at(i)] * (dy[at(i)] - dot);
        r.log_dx[at(i)] = dy[at(i)] - r.y[at(i)] * total;
      }
    }
  return r;
}

void check(const Dims& shape, int dim, float scale) {
  auto x = random_floats(product(shape), 1);
  for (float& v : x) v *= scale;
  const auto dy = random_floats(product(shape), 2);
  const std::int64_t inner = product(Dims(shape.begin() + dim + 1, shape.end()));
  const std::int64_t n = shape[dim];
  const Reference r = reference(x, dy, product(shape) / n / inner, n, inner);
  Queue& queue = device().queue();
  const Tensor tx = upload(x, shape), tdy = upload(dy, shape), y = queue.scratch(shape),
               dx = queue.scratch(shape);
  softmax_forward(queue, tx, dim, y);
  expect_close(download<float>(y), r.y, 2e-6, 1e-12);
  softmax_backward(queue, tdy, y, dim - shape.size(), dx);
  expect_close(download<float>(dx), r.dx, 4e-6, 4e-7);
  log_softmax_forward(queue, tx, dim, y);
  expect_close(download<float>(y), r.log_y, 1e-6, 1e-6);
  log_softmax_backward(queue, tdy, y, dim, dx);
  expect_close(download<float>(dx), r.log_dx, 1e-5, 2e-6 * std::sqrt(static_cast<double>(n)));
}

}  // namespace

TEST(Softmax, MatchesReference) {
  for (const float scale : {1.0f, 30.0f}) {
    check({128, 10}, 1, scale);
    check({3, 5, 1000}, 2, scale);
    check({7, 33}, 1, scale);
    check({2, 4097}, 1, scale);
    check({2, 5, 3, 7}, 1, scale);
    check({2, 21, 19}, 1, scale);
    check({3, 600, 16}, 1, scale);
    check({40, 3}, 0, scale);
    check({9, 1}, 1, scale);
  }
  check({3, 50}, 1, 1e4f);
}

// Where a device has many short rows for each unit, lines of a group take them, and the last group has fewer.
TEST(Softmax, MoreRowsThanGroupsOfOneLine) {
  for (const char* family : {"softmax_forward", "softmax_backward"})
    for_each_implementation(family, [] {
      for (const std::int64_t of_unit : {33, 70, 640})
        for (const std::int64_t n : {3, 12, 37, 132}) {
          const Dims shape{of_unit * device().info().compute_units + 5, n};
          if (product(shape) <= 4'000'000) check(shape, 1, 3);
        }
    });
}

namespace {

void check_infinities() {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  Queue& queue = device().queue();
  const std::vector<float> x{-inf, 0, 0, -inf, -inf, -inf, inf, 0, 0, nan, 0, 0};
  for (const bool transposed : {false, true}) {
    std::vector<float> given = x;
    if (transposed)
      for (std::size_t i = 0; i < x.size(); ++i) given[i] = x[i % 4 * 3 + i / 4];
    const Dims shape = transposed ? Dims{3, 4} : Dims{4, 3};
    const int dim = transposed ? 0 : 1;
    const Tensor y = queue.scratch(shape), log_y = queue.scratch(shape);
    softmax_forward(queue, upload(given, shape), dim, y);
    log_softmax_forward(queue, upload(given, shape), dim, log_y);
    const auto p = download<float>(y), l = download<float>(log_y);
    const auto at = [&](std::size_t row, std::size_t i) { return transposed ? i * 4 + row : row * 3 + i; };
    EXPECT_EQ(p[at(0, 0)], 0);
    EXPECT_FLOAT_EQ(p[at(0, 1)], 0.5f);
    EXPECT_EQ(l[at(0, 0)], -inf);
    EXPECT_FLOAT_EQ(l[at(0, 1)], std::log(0.5f));
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_TRUE(std::isnan(p[at(1, i)]) && std::isnan(l[at(1, i)])) << i;
      EXPECT_TRUE(std::isnan(p[at(3, i)]) && std::isnan(l[at(3, i)])) << i;
    }
    EXPECT_TRUE(std::isnan(p[at(2, 0)]));
  }
}

}  // namespace

TEST(Softmax, Infinities) {
  check_infinities();
}

TEST(Softmax, EveryImplementation) {
  for (const char* family : {"softmax_forward", "softmax_backward"})
    for_each_implementation(family, [] {
      check({7, 33}, 1, 30);
      check({3, 5, 1000}, 2, 1);
      check({2, 21, 19}, 1, 1);
      check_infinities();
    });
}

TEST(Softmax, Float64) {
  if (!device().info().fp64) GTEST_SKIP();
  Queue& queue = device().queue();
  const std::vector<double> x{0, 1, 2};
  const Tensor y = queue.scratch({1, 3}, DType::float64);
  softmax_forward(queue, upload(x, {1, 3}), -1, y);
  const double sum = 1 + std::exp(1) + std::exp(2);
  expect_close(download<double>(y), std::vector<double>{1 / sum, std::exp(1) / sum, std::exp(2) / sum}, 1e-15,
               0);
}

TEST(Softmax, ShapesAndErrors) {
  Queue& queue = device().queue();
  const Tensor scalar = upload(std::vector<float>{3}, {}), y = queue.scratch({});
  softmax_forward(queue, scalar, 0, y);
  EXPECT_EQ(download<float>(y), std::vector<float>{1});
  const Tensor empty = queue.scratch({0, 3});
  softmax_forward(queue, empty, 1, queue.scratch({0, 3}));
  const Tensor x = queue.scratch({2, 3});
  EXPECT_THROW(softmax_forward(queue, x, 2, x), IndexError);
  EXPECT_THROW(softmax_forward(queue, x, 0, y), ValueError);
  const Tensor integers = queue.scratch({2, 3}, DType::int64);
  EXPECT_THROW(softmax_forward(queue, integers, 0, integers), TypeError);
}

TEST(Softmax, Oclgrind) {
  check({2, 10}, 1, 1);
  check({2, 37}, 1, 1);
  check({2, 3, 18}, 1, 1);
}
