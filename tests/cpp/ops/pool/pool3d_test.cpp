#include <algorithm>
#include <limits>

#include "dlprim/ops/pool/pools.h"
#include "tests/cpp/support/implementations.h"
#include "tests/cpp/support/messages.h"
#include "tests/cpp/support/tensors.h"

using namespace dlprim;
using namespace testing_support;

namespace {

/** The input positions of a window along one axis, and how many elements it counts with padding. */
struct Span {
  std::vector<std::int64_t> inside;
  std::int64_t padded;
};

Span span_of(const Pool3dGeometry& g, std::size_t axis, std::int64_t size, std::int64_t out) {
  const std::int64_t start = out * g.stride[axis] - g.padding[axis];
  Span s{{}, std::min<std::int64_t>(start + g.kernel[axis], size + g.padding[axis]) - start};
  for (int k = 0; k < g.kernel[axis]; ++k) {
    const std::int64_t at = start + std::int64_t{k} * g.dilation[axis];
    if (at >= 0 && at < size) s.inside.push_back(at);
  }
  return s;
}

Span adaptive_span(std::int64_t size, std::int64_t count, std::int64_t out) {
  Span s{{}, 0};
  for (std::int64_t at = out * size / count; at < ((out + 1) * size + count - 1) / count; ++at)
    s.inside.push_back(at);
  return s;
}

struct Pooled {
  std::vector<double> maxima, max_dx, means, mean_dx;
  std::vector<std::int64_t> places;
};

/** Windows by `span_of(axis, size, out)`, sums over `divisor(spans)`. */
template <class SpanOf, class Divisor>
Pooled reference(const std::vector<float>& x, const std::vector<float>& dy, const Dims& xs, const Dims& ys,
                 const SpanOf& span, const Divisor& divisor) {
  Pooled p;
  p.max_dx.assign(x.size(), 0);
  p.mean_dx.assign(x.size(), 0);
  for (std::int64_t volume = 0; volume < xs[0] * xs[1]; ++volume)
    for (std::int64_t od = 0; od < ys[2]; ++od)
      for (std::int64_t oh = 0; oh < ys[3]; ++oh)
        for (std::int64_t ow = 0; ow < ys[4]; ++ow) {
          const std::array<Span, 3> spans{span(0, xs[2], od), span(1, xs[3], oh), span(2, xs[4], ow)};
          const double count = divisor(spans), gradient = dy[p.maxima.size()];
          double best = -std::numeric_limits<double>::infinity(), sum = 0;
          std::int64_t place = 0;
          for (const std::int64_t d : spans[0].inside)
            for (const std::int64_t h : spans[1].inside)
              for (const std::int64_t w : spans[2].inside) {
                const std::int64_t at = (d * xs[3] + h) * xs[4] + w;
                const auto i = static_cast<std::size_t>(volume * xs[2] * xs[3] * xs[4] + at);
                sum += x[i];
                p.mean_dx[i] += gradient / count;
                if (x[i] > best) {
                  best = x[i];
                  place = at;
                }
              }
          p.max_dx[static_cast<std::size_t>(volume * xs[2] * xs[3] * xs[4] + place)] += gradient;
          p.maxima.push_back(best);
          p.places.push_back(place);
          p.means.push_back(sum / count);
        }
  return p;
}

double elements(const std::array<Span, 3>& spans) {
  double count = 1;
  for (const Span& s : spans) count *= static_cast<double>(s.inside.size());
  return count;
}

void check(const Dims& xs, const Pool3dGeometry& g, const AveragePoolDivisor& divisor = {}) {
  SCOPED_TRACE(xs);
  const Dims ys = pool3d_output_shape("pool", xs, g);
  const auto x = random_floats(product(xs), 1), dy = random_floats(product(ys), 2);
  const Pooled expected = reference(
      x, dy, xs, ys, [&](std::size_t a, std::int64_t n, std::int64_t o) { return span_of(g, a, n, o); },
      [&](const std::array<Span, 3>& s) {
        if (divisor.divisor_override) return static_cast<double>(divisor.divisor_override);
        if (!divisor.count_include_pad) return elements(s);
        return static_cast<double>(s[0].padded * s[1].padded * s[2].padded);
      });
  const Tensor tx = upload(x, xs), tdy = upload(dy, ys), y = queue().scratch(ys), dx = queue().scratch(xs);
  const Tensor places = queue().scratch(ys, DType::int64);
  max_pool3d_forward(queue(), tx, g, y, &places);
  max_pool3d_backward(queue(), tdy, places, g, dx);
  expect_close(download<float>(y), expected.maxima, 0, 0);
  EXPECT_EQ(download<std::int64_t>(places), expected.places);
  expect_close(download<float>(dx), expected.max_dx, 1e-6, 1e-6);
  if (g.dilation != std::array<int, 3>{1, 1, 1}) return;
  avg_pool3d_forward(queue(), tx, g, divisor, y);
  avg_pool3d_backward(queue(), tdy, g, divisor, dx);
  expect_close(download<float>(y), expected.means, 1e-6, 1e-6);
  expect_close(download<float>(dx), expected.mean_dx, 2e-6, 2e-6);
}

void check_adaptive(const Dims& xs, const std::array<std::int64_t, 3>& size) {
  SCOPED_TRACE(xs);
  const Dims ys = adaptive_pool3d_output_shape("pool", xs, size);
  const auto x = random_floats(product(xs), 3), dy = random_floats(product(ys), 4);
  const Pooled expected = reference(
      x, dy, xs, ys,
      [&](std::size_t a, std::int64_t n, std::int64_t o) { return adaptive_span(n, size[a], o); }, elements);
  const Tensor tx = upload(x, xs), tdy = upload(dy, ys), y = queue().scratch(ys), dx = queue().scratch(xs);
  const Tensor places = queue().scratch(ys, DType::int32);
  adaptive_max_pool3d_forward(queue(), tx, y, &places);
  adaptive_max_pool3d_backward(queue(), tdy, places, dx);
  expect_close(download<float>(y), expected.maxima, 0, 0);
  expect_close(download<std::int32_t>(places), expected.places, 0, 0);
  expect_close(download<float>(dx), expected.max_dx, 1e-6, 1e-6);
  adaptive_avg_pool3d_forward(queue(), tx, y);
  adaptive_avg_pool3d_backward(queue(), tdy, dx);
  expect_close(download<float>(y), expected.means, 1e-6, 1e-6);
  expect_close(download<float>(dx), expected.mean_dx, 2e-6, 2e-6);
}

void check_some() {
  check({2, 3, 6, 9, 11}, {{2, 2, 2}, {2, 2, 2}});
  check({1, 2, 7, 8, 21}, {{3, 2, 3}, {2, 1, 1}, {1, 0, 1}, {1, 1, 1}, true}, {false, 0});
  check({2, 2, 7, 9, 8}, {{2, 3, 2}, {1, 2, 1}, {0, 1, 0}, {2, 1, 3}});
  check({1, 2, 9, 5, 6}, {{5, 1, 2}, {7, 1, 3}, {2, 0, 1}});  // elements under no window
  check_adaptive({2, 3, 5, 7, 6}, {2, 3, 4});
  check_adaptive({1, 2, 3, 2, 4}, {5, 3, 4});
}

}  // namespace

TEST(Pool3d, MatchesReference) {
  check_some();
  for (const bool include : {true, false})
    for (const bool ceil_mode : {true, false})
      for (const int over : {0, 5})
        check({2, 2, 5, 6, 7}, {{2, 3, 2}, {2, 2, 3}, {1, 1, 0}, {1, 1, 1}, ceil_mode}, {include, over});
  check({1, 1, 4, 5, 70}, {{2, 2, 2}, {1, 1, 1}});              // a strip of windows and a part of one
  check({2, 3, 4, 5, 6}, {{4, 5, 6}, {4, 5, 6}});               // whole volumes
  check({2, 3, 1, 5, 6}, {{1, 2, 2}, {1, 2, 2}});               // planes in all but name
  check({2, 3, 1, 5, 6}, {{3, 2, 2}, {1, 2, 2}, {1, 0, 0}});    // of which the padding is not
  check({1, 1, 3, 4, 40}, {{2, 2, 20}, {1, 1, 3}, {0, 0, 9}});  // windows wider than a vector
  check_adaptive({2, 3, 4, 5, 40}, {1, 1, 1});
  check_adaptive({2, 3, 4, 5, 40}, {2, 1, 2});
}

TEST(Pool3d, EveryImplementation) {
  for (const char* family :
       {"max_pool2d_forward", "max_pool2d_backward", "avg_pool2d_forward", "avg_pool2d_backward"})
    for_each_implementation(family, check_some);
}

TEST(Pool3d, Errors) {
  const auto shape = [](const Dims& x, const Pool3dGeometry& g) {
    return pool3d_output_shape("max_pool3d", x, g);
  };
  EXPECT_EQ(shape({0, 3, 8, 8, 8}, {{2, 2, 2}, {2, 2, 2}}), Dims({0, 3, 4, 4, 4}));
  expect_error<ValueError>([&] { shape({8, 8, 8}, {{2, 2, 2}, {2, 2, 2}}); }, "[N, C, D, H, W]");
  expect_error<ValueError>([&] { shape({1, 2, 8, 8, 8}, {{2, 2, 2}, {2, 2, 2}, {2, 0, 0}}); },
                           "for the depth");
  expect_error<ValueError>([&] { shape({1, 2, 8, 8, 8}, {{2, 2, 2}, {2, 0, 2}}); }, "for the height");
  expect_error<ValueError>([&] { shape({1, 2, 2, 8, 8}, {{3, 3, 3}, {1, 1, 1}}); }, "too small");
  expect_error<ValueError>([&] { shape({1, 2, 0, 8, 8}, {{1, 1, 1}, {1, 1, 1}}); }, "non-zero sizes");
  const Tensor x = queue().scratch({1, 1, 4, 4, 4}), wrong = queue().scratch({1, 1, 2, 2, 3});
  EXPECT_THROW(max_pool3d_forward(queue(), x, {{2, 2, 2}, {2, 2, 2}}, wrong, nullptr), ValueError);
  EXPECT_THROW(avg_pool3d_forward(queue(), x, {{2, 2, 2}, {2, 2, 2}, {}, {2, 1, 1}}, {}, wrong), ValueError);
  EXPECT_THROW(adaptive_avg_pool3d_forward(queue(), x, queue().scratch({1, 2, 2, 2, 2})), ValueError);
}

TEST(Pool3d, Oclgrind) {
  check({1, 2, 3, 4, 5}, {{2, 2, 2}, {2, 1, 2}, {1, 0, 1}});
  check_adaptive({1, 2, 3, 4, 5}, {2, 2, 3});
}
