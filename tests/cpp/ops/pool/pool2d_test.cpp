#include <algorithm>
#include <cmath>
#include <limits>

#include "dlprim/ops/pool/avg_pool.h"
#include "dlprim/ops/pool/max_pool.h"
#include "tests/cpp/support/implementations.h"
#include "tests/cpp/support/tensors.h"

using namespace dlprim;
using namespace testing_support;

namespace {

/** The input range [first, end) in steps of `step` of every window along one axis. */
struct Span {
  std::int64_t first, end, step, padded;  // padded: elements counted with padding
};

Span window(const Pool2dGeometry& g, std::size_t axis, std::int64_t size, std::int64_t out) {
  const std::int64_t start = out * g.stride[axis] - g.padding[axis];
  Span s{start, std::min<std::int64_t>(start + (g.kernel[axis] - 1) * g.dilation[axis] + 1, size),
         g.dilation[axis], std::min<std::int64_t>(start + g.kernel[axis], size + g.padding[axis]) - start};
  while (s.first < 0) s.first += s.step;
  return s;
}

Span adaptive_window(std::int64_t size, std::int64_t count, std::int64_t out) {
  return {out * size / count, ((out + 1) * size + count - 1) / count, 1, 0};
}

struct Pooled {
  std::vector<double> y, dx;
  std::vector<std::int32_t> indices;
};

template <class Window, class Divisor>
Pooled reference(const std::vector<float>& x, const Dims& xs, const Dims& ys, const std::vector<float>& dy,
                 bool maximum, Window window_of, Divisor divisor) {
  const std::int64_t planes = xs[0] * xs[1], h = xs[2], w = xs[3], oh = ys[2], ow = ys[3];
  Pooled p;
  p.dx.assign(x.size(), 0);
  for (std::int64_t plane = 0; plane < planes; ++plane)
    for (std::int64_t i = 0; i < oh; ++i)
      for (std::int64_t j = 0; j < ow; ++j) {
        const Span rows = window_of(0, h, i), columns = window_of(1, w, j);
        double best = -std::numeric_limits<double>::infinity(), sum = 0;
        std::int64_t place = rows.first * w + columns.first;
        const double share = dy[p.y.size()] / divisor(rows, columns);
        for (std::int64_t r = rows.first; r < rows.end; r += rows.step)
          for (std::int64_t c = columns.first; c < columns.end; c += columns.step) {
            const auto at = static_cast<std::size_t>(plane * h * w + r * w + c);
            sum += x[at];
            if (!maximum) p.dx[at] += share;
            if (x[at] > best || std::isnan(x[at])) {
              best = x[at];
              place = r * w + c;
            }
          }
        if (maximum) p.dx[static_cast<std::size_t>(plane * h * w + place)] += dy[p.y.size()];
        p.y.push_back(maximum ? best : sum / divisor(rows, columns));
        p.indices.push_back(static_cast<std::int32_t>(place));
      }
  return p;
}

void check_max(const Dims& xs, const Pool2dGeometry& g) {
  const Dims ys = pool2d_output_shape("max_pool2d", xs, g);
  const auto x = random_floats(product(xs), 1), dy = random_floats(product(ys), 2);
  const Pooled expected = reference(
      x, xs, ys, dy, true, [&](std::size_t a, std::int64_t n, std::int64_t o) { return window(g, a, n, o); },
      [](Span, Span) { return 1.0; });
  Queue& queue = device().queue();
  const Tensor tx = upload(x, xs);
  for (const DType places : {DType::int32, DType::int64}) {
    const Tensor y = queue.scratch(ys), indices = queue.scratch(ys, places), dx = queue.scratch(xs);
    max_pool2d_forward(queue, tx, g, y, &indices);
    max_pool2d_backward(queue, upload(dy, ys), indices, g, dx);
    expect_close(download<float>(y), expected.y, 0, 0);
    if (places == DType::int32)
      EXPECT_EQ(download<std::int32_t>(indices), expected.indices) << xs;
    else
      EXPECT_EQ(download<std::int64_t>(indices),
                std::vector<std::int64_t>(expected.indices.begin(), expected.indices.end()))
          << xs;
    expect_close(download<float>(dx), expected.dx, 1e-6, 1e-6);
  }
  const Tensor y2 = queue.scratch(ys);
  max_pool2d_forward(queue, tx, g, y2, nullptr);
  expect_close(download<float>(y2), expected.y, 0, 0);
}

void check_avg(const Dims& xs, const Pool2dGeometry& g, const AveragePoolDivisor& d) {
  const Dims ys = pool2d_output_shape("avg_pool2d", xs, g);
  const auto x = random_floats(product(xs), 3), dy = random_floats(product(ys), 4);
  const Pooled expected = reference(
      x, xs, ys, dy, false, [&](std::size_t a, std::int64_t n, std::int64_t o) { return window(g, a, n, o); },
      [&](Span r, Span c) {
        if (d.divisor_override) return static_cast<double>(d.divisor_override);
        return static_cast<double>(d.count_include_pad ? r.padded * c.padded
                                                       : (r.end - r.first) * (c.end - c.first));
      });
  Queue& queue = device().queue();
  const Tensor y = queue.scratch(ys), dx = queue.scratch(xs);
  avg_pool2d_forward(queue, upload(x, xs), g, d, y);
  avg_pool2d_backward(queue, upload(dy, ys), g, d, dx);
  expect_close(download<float>(y), expected.y, 1e-6, 1e-6);
  expect_close(download<float>(dx), expected.dx, 1e-6, 1e-6);
}

void check_adaptive(const Dims& xs, std::int64_t oh, std::int64_t ow) {
  const Dims ys = adaptive_pool2d_output_shape("adaptive", xs, {oh, ow});
  const auto x = random_floats(product(xs), 5), dy = random_floats(product(ys), 6);
  const auto spans = [&](std::size_t a, std::int64_t n, std::int64_t o) {
    return adaptive_window(n, a ? ow : oh, o);
  };
  const Pooled mean = reference(x, xs, ys, dy, false, spans, [](Span r, Span c) {
    return static_cast<double>((r.end - r.first) * (c.end - c.first));
  });
  const Pooled top = reference(x, xs, ys, dy, true, spans, [](Span, Span) { return 1.0; });
  Queue& queue = device().queue();
  const Tensor tx = upload(x, xs), tdy = upload(dy, ys), y = queue.scratch(ys), dx = queue.scratch(xs);
  const Tensor indices = queue.scratch(ys, DType::int32);
  adaptive_avg_pool2d_forward(queue, tx, y);
  adaptive_avg_pool2d_backward(queue, tdy, dx);
  expect_close(download<float>(y), mean.y, 1e-6, 1e-6);
  expect_close(download<float>(dx), mean.dx, 1e-6, 1e-6);
  adaptive_max_pool2d_forward(queue, tx, y, &indices);
  adaptive_max_pool2d_backward(queue, tdy, indices, dx);
  expect_close(download<float>(y), top.y, 0, 0);
  EXPECT_EQ(download<std::int32_t>(indices), top.indices);
  expect_close(download<float>(dx), top.dx, 1e-6, 1e-6);
}

}  // namespace

TEST(Pool2d, OutputShape) {
  const auto shape = [](Dims x, Pool2dGeometry g) { return pool2d_output_shape("max_pool2d", x, g); };
  EXPECT_EQ(shape({2, 3, 26, 26}, {{2, 2}, {2, 2}}), Dims({2, 3, 13, 13}));
  EXPECT_EQ(shape({3, 11, 11}, {{2, 2}, {2, 2}}), Dims({3, 5, 5}));
  EXPECT_EQ(shape({1, 1, 11, 11}, {{2, 2}, {2, 2}, {0, 0}, {1, 1}, true}), Dims({1, 1, 6, 6}));
  EXPECT_EQ(shape({1, 1, 112, 112}, {{3, 3}, {2, 2}, {1, 1}}), Dims({1, 1, 56, 56}));
  // A window that would start in the right padding is left out.
  EXPECT_EQ(shape({1, 1, 3, 3}, {{2, 2}, {3, 3}, {1, 1}, {1, 1}, true}), Dims({1, 1, 2, 2}));
  EXPECT_EQ(shape({0, 3, 8, 8}, {{2, 2}, {2, 2}}), Dims({0, 3, 4, 4}));
}

TEST(Pool2d, Errors) {
  const auto shape = [](Dims x, Pool2dGeometry g) { return pool2d_output_shape("max_pool2d", x, g); };
  EXPECT_THROW(shape({8, 8}, {{2, 2}, {2, 2}}), ValueError);
  EXPECT_THROW(shape({1, 1, 8, 8}, {{2, 2}, {2, 2}, {2, 0}}), ValueError);
  EXPECT_THROW(shape({1, 1, 8, 8}, {{2, 2}, {0, 2}}), ValueError);
  EXPECT_THROW(shape({1, 1, 8, 8}, {{2, 2}, {2, 2}, {0, 0}, {0, 1}}), ValueError);
  EXPECT_THROW(shape({1, 1, 2, 8}, {{3, 3}, {1, 1}}), ValueError);
  EXPECT_THROW(shape({1, 0, 8, 8}, {{2, 2}, {2, 2}}), ValueError);
  Queue& queue = device().queue();
  const Tensor x = queue.scratch({1, 1, 4, 4}), wrong = queue.scratch({1, 1, 3, 2});
  EXPECT_THROW(max_pool2d_forward(queue, x, {{2, 2}, {2, 2}}, wrong, nullptr), ValueError);
  EXPECT_THROW(avg_pool2d_forward(queue, x, {{2, 2}, {2, 2}, {0, 0}, {2, 2}}, {}, wrong), ValueError);
}

TEST(MaxPool2d, MatchesReference) {
  for (const Dims& shape : {Dims{3, 5, 26, 26}, Dims{2, 7, 11, 11}, Dims{1, 3, 7, 40}, Dims{2, 2, 4, 5},
                            Dims{1, 1, 2, 2}, Dims{1, 2, 3, 17}, Dims{2, 3, 33, 35}}) {
    check_max(shape, {{2, 2}, {2, 2}});
    check_max(shape, {{2, 2}, {2, 2}, {0, 0}, {1, 1}, true});
    check_max(shape, {{2, 2}, {1, 1}, {1, 1}});
  }
  check_max({2, 3, 17, 23}, {{3, 3}, {2, 2}, {1, 1}});
  check_max({2, 3, 17, 23}, {{3, 2}, {1, 3}, {1, 0}, {2, 3}, true});
  check_max({2, 3, 40, 41}, {{3, 3}, {1, 1}, {1, 1}});
  for (const std::int64_t columns : {3, 12, 13, 16, 17, 27, 130})  // strips of 64 windows, eight at a time
    for (const int stride : {1, 2}) check_max({2, 3, 6, columns}, {{3, 3}, {stride, stride}, {1, 1}});
  check_max({1, 2, 9, 8}, {{5, 4}, {3, 2}, {2, 2}, {1, 2}, true});
}

namespace {

void check_nan_and_infinity() {
  const float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();
  const std::vector<float> x{nan, 1, 2, nan, 3, 4, 5, 6, -inf, -inf, 1, 1, -inf, -inf, 1, inf};
  Queue& queue = device().queue();
  const Tensor y = queue.scratch({1, 2, 2}), indices = queue.scratch({1, 2, 2}, DType::int32);
  max_pool2d_forward(queue, upload(x, {1, 4, 4}), {{2, 2}, {2, 2}}, y, &indices);
  const auto values = download<float>(y);
  EXPECT_TRUE(std::isnan(values[0]) && std::isnan(values[1]));
  EXPECT_EQ(values[2], -inf);
  EXPECT_EQ(values[3], inf);
  EXPECT_EQ(download<std::int32_t>(indices), (std::vector<std::int32_t>{0, 3, 8, 15}));
}

}  // namespace

TEST(MaxPool2d, NanAndInfinity) {
  check_nan_and_infinity();
}

TEST(MaxPool2d, EveryImplementation) {
  for (const char* family : {"max_pool2d_forward", "max_pool2d_backward"})
    for_each_implementation(family, [] {
      check_max({2, 7, 11, 11}, {{2, 2}, {2, 2}});
      check_max({2, 3, 33, 35}, {{2, 2}, {2, 2}});
      check_max({2, 3, 17, 23}, {{3, 2}, {1, 3}, {1, 0}, {2, 3}, true});
      check_max({2, 3, 40, 41}, {{3, 3}, {1, 1}, {1, 1}});
      check_max({1, 2, 31, 46}, {{6, 5}, {5, 7}, {3, 2}});  // cells of many elements, some under no window
      check_adaptive({1, 2, 5, 4}, 7, 9);
      check_nan_and_infinity();
    });
}

TEST(MaxPool2d, Empty) {
  Queue& queue = device().queue();
  const Tensor x = queue.scratch({0, 3, 4, 4}), y = queue.scratch({0, 3, 2, 2});
  const Tensor indices = queue.scratch({0, 3, 2, 2}, DType::int32);
  max_pool2d_forward(queue, x, {{2, 2}, {2, 2}}, y, &indices);
  max_pool2d_backward(queue, y, indices, {{2, 2}, {2, 2}}, x);
}

TEST(AvgPool2d, MatchesReference) {
  for (const Dims& shape : {Dims{2, 3, 26, 26}, Dims{2, 3, 7, 9}})
    for (const bool include : {true, false})
      for (const bool ceil_mode : {true, false})
        for (const int over : {0, 5}) {
          check_avg(shape, {{2, 2}, {2, 2}, {0, 0}, {1, 1}, ceil_mode}, {include, over});
          check_avg(shape, {{3, 2}, {2, 3}, {1, 1}, {1, 1}, ceil_mode}, {include, over});
          check_avg(shape, {{3, 3}, {1, 1}, {1, 1}, {1, 1}, ceil_mode}, {include, over});
        }
}

// Rows of windows that vectors hold in part, and windows of more columns than a vector has.
TEST(AvgPool2d, RowsAndWindowsAroundVectors) {
  for (const std::int64_t columns : {2, 3, 13, 14, 15, 16, 17, 18, 31, 34})
    check_avg({2, 3, 5, columns}, {{2, 2}, {2, 2}}, {});
  for (const int columns : {15, 16, 17, 33}) {
    check_avg({2, 3, 5, columns + 3}, {{3, columns}, {1, 2}, {1, 7}}, {});
    check_adaptive({2, 3, 4, columns}, 1, 1);
    check_adaptive({1, 2, 3, 2 * columns + 1}, 2, 2);
  }
}

TEST(AvgPool2d, EveryImplementation) {
  for (const char* family : {"avg_pool2d_forward", "avg_pool2d_backward"})
    for_each_implementation(family, [] {
      check_avg({2, 3, 26, 26}, {{2, 2}, {2, 2}}, {});
      check_avg({2, 3, 7, 9}, {{3, 2}, {2, 3}, {1, 1}, {1, 1}, true}, {false, 0});
      check_adaptive({2, 3, 13, 11}, 6, 5);
    });
}

TEST(AdaptivePool2d, MatchesReference) {
  check_adaptive({2, 3, 7, 7}, 1, 1);
  check_adaptive({2, 3, 13, 11}, 6, 5);
  check_adaptive({1, 2, 5, 4}, 7, 9);
  check_adaptive({1, 1, 3, 3}, 3, 3);
}

TEST(Pool2d, Oclgrind) {
  check_max({1, 2, 5, 20}, {{2, 2}, {2, 2}});
  check_max({1, 1, 5, 5}, {{3, 3}, {2, 2}, {1, 1}});
  check_avg({1, 1, 5, 5}, {{3, 3}, {2, 2}, {1, 1}}, {});
  check_adaptive({1, 1, 5, 4}, 2, 3);
  check_adaptive({1, 2, 2, 17}, 1, 1);
  check_avg({1, 2, 4, 18}, {{2, 2}, {2, 2}}, {});
}
