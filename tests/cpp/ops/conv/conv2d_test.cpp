#include "dlprim/ops/conv/conv2d.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "dlprim/core/error.h"
#include "dlprim/ops/conv/conv2d_implementations.h"
#include "support/elements.h"
#include "support/implementations.h"
#include "support/tensors.h"

namespace {

using namespace dlprim;
using namespace testing_support;

struct Case {
  Dims x, weight;
  Conv2dGeometry geometry = {};
};

/** Calls `visit(y index, x index, weight index)` for every multiply-add of the convolution. */
template <class Visit>
void for_each_product(const Case& c, const Dims& y, const Visit& visit) {
  const auto& g = c.geometry;
  const std::int64_t rows = c.weight[0] / g.groups;
  for (std::int64_t n = 0; n < y[0]; ++n)
    for (std::int64_t co = 0; co < y[1]; ++co)
      for (std::int64_t oh = 0; oh < y[2]; ++oh)
        for (std::int64_t ow = 0; ow < y[3]; ++ow)
          for (std::int64_t ci = 0; ci < c.weight[1]; ++ci)
            for (std::int64_t kh = 0; kh < c.weight[2]; ++kh)
              for (std::int64_t kw = 0; kw < c.weight[3]; ++kw) {
                const std::int64_t ih = oh * g.stride[0] - g.padding[0] + kh * g.dilation[0];
                const std::int64_t iw = ow * g.stride[1] - g.padding[1] + kw * g.dilation[1];
                if (ih < 0 || iw < 0 || ih >= c.x[2] || iw >= c.x[3]) continue;
                const std::int64_t channel = co / rows * c.weight[1] + ci;
                visit(static_cast<std::size_t>(((n * y[1] + co) * y[2] + oh) * y[3] + ow),
                      static_cast<std::size_t>(((n * c.x[1] + channel) * c.x[2] + ih) * c.x[3] + iw),
                      static_cast<std::size_t>(((co * c.weight[1] + ci) * c.weight[2] + kh) * c.weight[3] +
                                               kw));
              }
}

template <class T>
std::vector<T> random_values(const Dims& shape, unsigned seed) {
  const std::vector<float> floats = random_floats(product(shape), seed);
  return {floats.begin(), floats.end()};
}

/** Below the highest precision the operands are numbers that survive its rounding, so that results are as
 * exact. */
template <class T>
void check(const Case& c, double unit = 4e-7, MatmulPrecision precision = MatmulPrecision::highest,
           DType dtype = dtype_of<T>()) {
  SCOPED_TRACE(concat("x ", c.x, " weight ", c.weight, " stride ", c.geometry.stride[0], ",",
                      c.geometry.stride[1], " padding ", c.geometry.padding[0], ",", c.geometry.padding[1],
                      " dilation ", c.geometry.dilation[0], ",", c.geometry.dilation[1], " groups ",
                      c.geometry.groups, " in ", name(dtype)));
  Queue& queue = device().queue();
  const Dims y_shape = conv2d_output_shape(c.x, c.weight, c.geometry);
  auto x = random_values<T>(c.x, 1), weight = random_values<T>(c.weight, 2),
       dy = random_values<T>(y_shape, 3);
  auto bias = random_values<T>({c.weight[0]}, 4);
  if (precision != MatmulPrecision::highest)
    for (std::vector<T>* values : {&x, &weight, &dy, &bias})
      for (T& value : *values) value = std::round(value * 64) / 64;
  std::vector<double> y(dy.size()), dx(x.size()), dw(weight.size());
  const std::int64_t plane = y_shape[2] * y_shape[3];
  for (std::size_t i = 0; i < y.size(); ++i)
    y[i] = double(bias[i / static_cast<std::size_t>(plane) % bias.size()]);
  for_each_product(c, y_shape, [&](std::size_t at_y, std::size_t at_x, std::size_t at_w) {
    y[at_y] += double(x[at_x]) * double(weight[at_w]);
    dx[at_x] += double(dy[at_y]) * double(weight[at_w]);
    dw[at_w] += double(dy[at_y]) * double(x[at_x]);
  });
  const auto send = [&](const std::vector<T>& values, const Dims& shape) {
    return upload_as(dtype, {values.begin(), values.end()}, shape);
  };
  const Tensor tx = send(x, c.x), tw = send(weight, c.weight), tdy = send(dy, y_shape),
               tbias = send(bias, {c.weight[0]});
  const Tensor ty = Tensor::empty(device(), y_shape, dtype), tdx = Tensor::empty(device(), c.x, dtype),
               tdw = Tensor::empty(device(), c.weight, dtype);
  conv2d_forward(queue, tx, tw, &tbias, c.geometry, ty, precision);
  conv2d_backward_data(queue, tdy, tw, c.geometry, tdx, precision);
  conv2d_backward_weight(queue, tdy, tx, c.geometry, tdw, precision);
  const auto compare = [&](const char* what, const Tensor& actual, const std::vector<double>& expected,
                           double terms) {
    SCOPED_TRACE(what);
    const double tolerance = unit * (4 + std::sqrt(terms));
    expect_close(download_values(actual), expected, tolerance + rounding_of(dtype), tolerance);
  };
  const double terms = double(c.weight[1] * c.weight[2] * c.weight[3]);
  compare("forward", ty, y, terms);
  compare("backward data", tdx, dx, double(c.weight[0] * c.weight[2] * c.weight[3]));
  compare("backward weight", tdw, dw, double(y_shape[0] * plane));
  if (c.weight[2] * c.weight[3] > 1) return;
  // Products of planes as they lie, on devices that have such, take no bias.
  conv2d_forward(queue, tx, tw, nullptr, c.geometry, ty, precision);
  for (std::size_t i = 0; i < y.size(); ++i)
    y[i] -= double(bias[i / static_cast<std::size_t>(plane) % bias.size()]);
  compare("forward without a bias", ty, y, terms);
}

const std::vector<Case>& cases() {
  static const std::vector<Case> list{
      {{2, 3, 9, 9}, {4, 3, 3, 3}},
      {{3, 1, 28, 28}, {32, 1, 3, 3}},
      {{2, 32, 13, 13}, {64, 32, 3, 3}},
      {{1, 5, 40, 37}, {9, 5, 3, 3}, {{1, 1}, {1, 1}, {1, 1}, 1}},
      {{2, 4, 11, 17}, {6, 4, 3, 5}, {{2, 1}, {1, 2}, {1, 1}, 1}},
      {{2, 3, 30, 23}, {10, 3, 7, 7}, {{2, 2}, {3, 3}, {1, 1}, 1}},
      {{2, 3, 35, 31}, {8, 3, 11, 11}, {{4, 4}, {2, 2}, {1, 1}, 1}},
      {{2, 6, 15, 14}, {8, 6, 3, 3}, {{2, 3}, {2, 1}, {2, 3}, 1}},
      {{2, 6, 15, 14}, {8, 6, 4, 3}, {{4, 3}, {2, 1}, {2, 3}, 1}},
      {{2, 16, 12, 12}, {40, 16, 1, 1}},
      {{2, 16, 12, 13}, {40, 16, 1, 1}, {{2, 2}, {0, 0}, {1, 1}, 1}},
      {{2, 8, 6, 6}, {8, 8, 1, 1}, {{1, 1}, {2, 1}, {1, 1}, 1}},
      {{3, 8, 7, 7}, {8, 2, 3, 3}, {{1, 1}, {1, 1}, {1, 1}, 4}},
      {{2, 24, 9, 8}, {48, 12, 3, 3}, {{2, 1}, {1, 0}, {1, 1}, 2}},
      {{2, 20, 19, 18}, {20, 1, 3, 3}, {{1, 1}, {1, 1}, {1, 1}, 20}},
      {{2, 6, 19, 18}, {12, 1, 5, 3}, {{2, 2}, {1, 1}, {1, 1}, 6}},
      {{1, 6, 19, 35}, {6, 1, 3, 3}, {{1, 1}, {2, 2}, {2, 2}, 6}},
      {{2, 6, 20, 21}, {6, 1, 5, 5}, {{2, 2}, {2, 2}, {1, 1}, 6}},
      {{1, 9, 23, 17}, {9, 1, 7, 7}, {{1, 1}, {3, 3}, {1, 1}, 9}},
      {{2, 6, 13, 14}, {4, 3, 3, 2}, {{3, 2}, {2, 1}, {2, 3}, 2}},
      {{70, 7, 1, 1}, {9, 7, 1, 1}},
      {{40, 7, 3, 3}, {9, 7, 3, 3}},
      {{2, 3, 5, 700}, {5, 3, 1, 3}},
      {{1, 3, 600, 5}, {5, 3, 3, 1}},
      {{1, 2, 8, 8}, {3, 2, 2, 2}, {{3, 3}, {0, 0}, {1, 1}, 1}},
      {{1, 2, 9, 9}, {3, 2, 3, 3}, {{1, 1}, {4, 5}, {1, 1}, 1}},
      {{1, 520, 6, 6}, {20, 520, 3, 3}, {{1, 1}, {1, 1}, {1, 1}, 1}},
      {{3, 40, 17, 15}, {150, 40, 3, 3}, {{2, 2}, {1, 1}, {1, 1}, 1}},
      {{2, 130, 9, 9}, {70, 130, 1, 1}, {{2, 1}, {0, 0}, {1, 1}, 1}},
  };
  return list;
}

TEST(Conv2d, AllDirectionsFloat32) {
  for (const Case& c : cases()) check<float>(c);
}

TEST(Conv2d, AllDirectionsFloat64) {
  if (!device().info().fp64) GTEST_SKIP();
  for (const Case& c : cases()) check<double>(c, 1e-14);
}

/** Convolutions with random sizes, strides, paddings, dilations and groups, all directions. */
void check_random_geometries(int count, unsigned seed) {
  unsigned state = seed;
  const auto pick = [&](int low, int high) {
    state = state * 1664525U + 1013904223U;
    return low + static_cast<int>((state >> 16) % static_cast<unsigned>(high - low + 1));
  };
  for (int i = 0; i < count; ++i) {
    Conv2dGeometry g{
        {pick(1, 4), pick(1, 4)}, {pick(0, 3), pick(0, 3)}, {pick(1, 3), pick(1, 3)}, pick(1, 3)};
    const Dims weight{g.groups * pick(1, 12), pick(1, 9), pick(1, 4), pick(1, 4)};
    const Dims x{pick(1, 4), g.groups * weight[1], pick(10, 24), pick(10, 40)};
    check<float>({x, weight, g});
  }
}

TEST(Conv2d, RandomGeometries) {
  check_random_geometries(60, 12345);
}

// Rows and columns behind the last window, and results that only fill up a kernel's blocks.
TEST(Conv2d, WhatNoWindowMeetsDoesNotCount) {
  const auto check_narrow = [] {
    constexpr std::int64_t channels = 3, side = 8, used = 7, results = 3;
    std::vector<float> x(2 * channels * side * side, 1.0F);
    for (std::size_t i = 0; i < x.size(); ++i)
      if (i % side >= used || i / side % side >= used) x[i] = std::numeric_limits<float>::infinity();
    const std::vector<float> dy(2 * channels * results * results, 1.0F);
    const Conv2dGeometry g{{2, 2}, {0, 0}, {1, 1}, channels};
    const Tensor tx = upload(x, {2, channels, side, side}), tdy = upload(dy, {2, channels, results, results}),
                 dw = Tensor::empty(device(), {channels, 1, 3, 3}, DType::float32);
    conv2d_backward_weight(device().queue(), tdy, tx, g, dw);
    for (const float value : download<float>(dw)) EXPECT_EQ(value, 2.0F * results * results);
  };
  check_narrow();
  for_each_implementation("conv2d_backward_weight", check_narrow);
}

/** Below "highest", and in 16-bit tensors, of either dtype in turn. An implementation that takes "high" takes
 * "medium". */
void check_lower_precisions(const Case& c) {
  const DType half = c.x[0] % 2 == 0 ? DType::bfloat16 : DType::float16;
  for (const DType dtype : {DType::float32, half}) check<float>(c, 1e-6, MatmulPrecision::medium, dtype);
}

/** Each case in all directions, by each implementation of each direction, at each precision. */
void check_every_implementation(const std::vector<Case>& list, double unit = 4e-7) {
  for (const char* family : {"conv2d_forward", "conv2d_backward_data", "conv2d_backward_weight"})
    for_each_implementation(family, [&] {
      for (const Case& c : list) {
        check<float>(c, unit);
        check_lower_precisions(c);
      }
    });
}

TEST(Conv2d, EveryImplementation) {
  for (const char* family : {"conv2d_forward", "conv2d_backward_data", "conv2d_backward_weight"})
    for_each_implementation(family, [] {
      check_random_geometries(8, 4711);
      for (std::size_t i = 0; i < cases().size(); i += 4) {
        check<float>(cases()[i]);
        check_lower_precisions(cases()[i]);
      }
      if (device().info().fp64) check<double>(cases()[4], 1e-14);
    });
}

// One tap and planes of whole vectors, or nearly: tiles filled in part, vectors that end with an image,
// several parts.
TEST(Conv2d, EveryImplementationOfPointwiseOnes) {
  check_every_implementation({{{3, 70, 6, 6}, {130, 70, 1, 1}},
                              {{5, 33, 4, 7}, {65, 33, 1, 1}},
                              {{2, 40, 2, 34}, {136, 20, 1, 1}, {{1, 1}, {0, 0}, {1, 1}, 2}},
                              {{9, 5, 2, 2}, {3, 5, 1, 1}},
                              {{2, 72, 8, 9}, {136, 72, 1, 1}},
                              {{3, 24, 4, 6}, {40, 24, 1, 1}},
                              {{5, 264, 2, 4}, {8, 264, 1, 1}},
                              {{2, 16, 4, 2}, {24, 16, 1, 1}, {{4, 2}, {0, 0}, {1, 1}, 1}},  // none is taken
                              {{2, 17, 3, 5}, {6, 17, 1, 1}},
                              {{2, 12, 8, 8}, {6, 12, 1, 1}, {{2, 2}, {0, 0}, {1, 1}, 1}},
                              {{1, 150, 16, 20}, {9, 150, 1, 1}},
                              {{2, 6, 4, 8}, {6, 6, 1, 1}, {{1, 1}, {1, 0}, {1, 1}, 1}}});
}

// Results between which others meet no tap, before and behind them, in all rows and columns or not in the
// last; and phases that all meet some, as many taps or not.
TEST(Conv2d, EveryImplementationOfStridedOnes) {
  check_every_implementation({{{2, 12, 9, 9}, {6, 12, 1, 1}, {{2, 2}, {0, 0}, {1, 1}, 1}},
                              {{2, 12, 8, 10}, {6, 12, 1, 1}, {{2, 2}, {1, 1}, {1, 1}, 1}},
                              {{2, 5, 9, 8}, {7, 5, 1, 1}, {{2, 2}, {1, 1}, {1, 1}, 1}},
                              {{3, 6, 11, 12}, {8, 3, 1, 1}, {{3, 2}, {0, 0}, {1, 1}, 2}},
                              {{1, 9, 10, 13}, {70, 9, 1, 1}, {{1, 2}, {0, 0}, {1, 1}, 1}},
                              {{5, 33, 8, 12}, {40, 33, 1, 3}, {{2, 2}, {0, 1}, {1, 1}, 1}},
                              {{2, 40, 13, 14}, {33, 40, 3, 3}, {{2, 2}, {1, 1}, {1, 1}, 1}},
                              {{33, 9, 7, 6}, {10, 9, 3, 2}, {{2, 3}, {1, 1}, {2, 1}, 1}},
                              {{2, 9, 1, 1}, {3, 9, 1, 1}, {{2, 2}, {1, 1}, {1, 1}, 1}},  // none meets any
                              {{1, 9, 3, 2}, {3, 9, 2, 1}, {{1, 1}, {6, 9}, {1, 1}, 1}}});
}

// Windows that begin at vectors in all of a row, so that a device may bring what each tap meets: beyond every
// side, in groups, with rows that end within a step and tiles filled in part.
TEST(Conv2d, EveryImplementationOfWindowsThatBeginAtVectors) {
  check_every_implementation({{{3, 9, 6, 12}, {5, 9, 3, 3}, {{1, 1}, {4, 4}, {4, 4}, 1}},
                              {{2, 40, 5, 16}, {34, 20, 1, 3}, {{2, 1}, {0, 4}, {1, 4}, 2}},
                              {{2, 70, 4, 8}, {130, 70, 3, 1}, {{1, 1}, {1, 0}, {1, 1}, 1}},
                              {{1, 5, 9, 40}, {3, 5, 3, 5}, {{2, 1}, {1, 8}, {1, 4}, 1}},
                              {{2, 33, 3, 36}, {7, 33, 1, 2}, {{1, 1}, {0, 0}, {1, 4}, 1}},
                              {{2, 9, 5, 12}, {7, 9, 3, 1}, {{2, 1}, {1, 4}, {1, 1}, 1}},
                              {{3, 80, 4, 8}, {6, 40, 2, 1}, {{1, 1}, {0, 4}, {2, 1}, 2}}});
}

// Windows whose rows share loads: planes of fewer rows or columns than a block has, of one, and around them.
TEST(Conv2d, DepthwiseWindowsOfAnySize) {
  for (const auto& [height, width] : {std::pair{3, 3}, {5, 5}, {7, 7}, {3, 1}, {5, 2}, {7, 3}, {3, 8}})
    for (const auto& [rows, columns] : {std::pair{3, 9}, {4, 1}, {4, 7}, {5, 16}, {7, 15}, {9, 33}, {8, 17}})
      for (const int filters : {1, 2})
        check<float>({{2, 5, rows, columns},
                      {5 * filters, 1, height, width},
                      {{1, 1}, {height / 2, width / 2}, {1, 1}, 5}});
  check_lower_precisions({{2, 5, 9, 19}, {5, 1, 3, 3}, {{1, 1}, {1, 1}, {1, 1}, 5}});
}

TEST(Conv2d, DepthwiseGradientsLeaveOutWhatLiesBehindARow) {
  constexpr std::int64_t images = 2, channels = 3, rows = 9, width = 20, taps = 3;
  std::vector<float> x(images * channels * rows * width, 1.0F);
  for (std::size_t i = 0; i < x.size(); i += width) x[i] = std::numeric_limits<float>::infinity();
  const Dims y{images, channels, rows - 2, width - 2};
  const Tensor dw = Tensor::empty(device(), {channels, 1, taps, taps});
  conv2d_backward_weight(device().queue(),
                         upload(std::vector<float>(static_cast<std::size_t>(product(y)), 1.0F), y),
                         upload(x, {images, channels, rows, width}), {{1, 1}, {0, 0}, {1, 1}, channels}, dw);
  const auto values = download<float>(dw);
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(values[i], i % taps == 0 ? std::numeric_limits<float>::infinity()
                                       : float(images * (rows - 2) * (width - 2)))
        << i;
}

TEST(Conv2d, InfinitiesReachTheTapsThatMeetThem) {
  constexpr std::int64_t images = 2, channels = 5, width = 12, taps = 3, first_met = 8;
  std::vector<float> x(images * channels * width, 1.0F);
  for (std::size_t i = 0; i < x.size(); ++i)
    if (i % width == first_met) x[i] = std::numeric_limits<float>::infinity();
  const Conv2dGeometry g{{1, 1}, {0, 4}, {1, 4}, 1};  // the first tap meets what is 4 before a result
  const Tensor tx = upload(x, {images, channels, 1, width}),
               tdy = upload(std::vector<float>(images * 6 * width, 1.0F), {images, 6, 1, width}),
               dw = Tensor::empty(device(), {6, channels, 1, taps});
  for_each_implementation("conv2d_backward_weight", [&] {
    for (const MatmulPrecision precision :
         {MatmulPrecision::highest, MatmulPrecision::high, MatmulPrecision::medium}) {
      conv2d_backward_weight(device().queue(), tdy, tx, g, dw, precision);
      const auto values = download<float>(dw);
      for (std::size_t i = 0; i < values.size(); ++i)
        EXPECT_EQ(values[i],
                  i % taps == 0 ? float(images * first_met) : std::numeric_limits<float>::infinity())
            << i;
    }
  });
}

// One window of whole planes, which is a matrix product; and windows that nearly are.
TEST(Conv2d, EveryImplementationOfOneWindow) {
  check_every_implementation({{{5, 70, 1, 1}, {33, 70, 1, 1}},
                              {{1, 9, 1, 1}, {130, 9, 1, 1}},
                              {{64, 40, 1, 1}, {3, 40, 1, 1}, {{3, 2}, {0, 0}, {5, 4}, 1}},
                              {{3, 7, 3, 4}, {18, 7, 3, 4}},
                              {{4, 6, 1, 5}, {8, 6, 1, 5}, {{1, 9}, {0, 0}, {7, 1}, 1}},
                              {{2, 6, 2, 2}, {4, 3, 2, 2}, {{1, 1}, {0, 0}, {1, 1}, 2}},    // groups
                              {{2, 5, 3, 3}, {4, 5, 2, 2}, {{1, 1}, {0, 0}, {2, 2}, 1}},    // apart
                              {{2, 5, 2, 2}, {4, 5, 4, 4}, {{1, 1}, {1, 1}, {1, 1}, 1}},    // padded
                              {{2, 5, 3, 4}, {4, 5, 2, 3}, {{2, 2}, {0, 0}, {1, 1}, 1}}});  // not whole
}

// Squeeze and excitation on a GPU: an item for each result took 150 to 420 us where a matrix product
// takes 15.
TEST(Conv2d, OfOnePixelIsExpectedToTakeLongestItemByItem) {
  const DeviceInfo card = nvidia_card(90);
  for (const auto& [in, out] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{1536, 64}, {64, 1536}, {1152, 48}, {48, 1152}}) {
    SCOPED_TRACE(concat(in, " to ", out, " channels"));
    const Tensor x = Tensor::empty(device(), {64, in, 1, 1}), y = Tensor::empty(device(), {64, out, 1, 1}),
                 w = Tensor::empty(device(), {out, in, 1, 1});
    const ConvSizes sizes{64, 1, in, out, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {1, 1}};
    const auto expect_less = [&](const auto& linear, const auto& direct, const auto& problem) {
      ASSERT_TRUE(linear.can_take(card, problem));
      EXPECT_LT(linear.expected_cost(card, problem), direct.expected_cost(card, problem));
    };
    constexpr MatmulPrecision precision = MatmulPrecision::highest;
    expect_less(conv2d_forward_linear(), conv2d_forward_simt_direct(),
                ConvForwardProblem{sizes, x, w, nullptr, y, precision});
    expect_less(conv2d_backward_data_linear(), conv2d_backward_data_simt_direct(),
                ConvBackwardDataProblem{sizes, y, w, x, precision});
    expect_less(conv2d_backward_weight_linear(), conv2d_backward_weight_simt_direct(),
                ConvBackwardWeightProblem{sizes, y, x, w, precision});
  }
}

// Few channels, whose taps are the depth: with and without channels that pad them to vectors, windows beyond
// every side.
TEST(Conv2d, EveryImplementationOfFewChannels) {
  check_every_implementation({{{2, 3, 30, 23}, {70, 3, 7, 7}, {{2, 2}, {3, 3}, {1, 1}, 1}},
                              {{3, 4, 9, 11}, {5, 4, 3, 3}, {{1, 1}, {2, 1}, {2, 1}, 1}},
                              {{1, 1, 13, 9}, {6, 1, 5, 2}, {{1, 2}, {4, 0}, {1, 3}, 1}},
                              {{2, 14, 9, 8}, {10, 7, 2, 3}, {{2, 1}, {1, 2}, {1, 1}, 2}},
                              {{4, 5, 8, 8}, {9, 5, 3, 1}, {{3, 1}, {1, 0}, {1, 1}, 1}}});
}

// Few results of deep sums, which work groups share: over channels that end within a step, in groups, over
// more parts than results, over the pixels of several images.
TEST(Conv2d, EveryImplementationOfDeepSums) {
  // chains of a thousand: the error grows with their length, not its root
  check_every_implementation({{{2, 603, 5, 4}, {7, 603, 3, 3}, {{1, 1}, {2, 2}, {1, 1}, 1}},
                              {{1, 260, 4, 3}, {290, 130, 3, 3}, {{1, 1}, {1, 1}, {1, 1}, 2}},
                              {{2, 1100, 2, 2}, {9, 1100, 1, 1}},
                              {{1, 600, 9, 8}, {5, 600, 3, 3}, {{2, 2}, {1, 1}, {1, 1}, 1}},
                              {{3, 4, 61, 33}, {6, 4, 3, 3}, {{1, 1}, {1, 1}, {1, 1}, 1}}},
                             1e-6);
}

// Small whole numbers are exact in bfloat16 and in every sum of them here, so both dtypes must agree exactly.
TEST(Conv2d, Bfloat16Storage) {
  const Case list[] = {{{2, 3, 9, 20}, {9, 3, 3, 3}, {{1, 1}, {1, 1}, {1, 1}, 1}},
                       {{2, 8, 9, 10}, {9, 8, 3, 2}, {{2, 2}, {0, 1}, {1, 1}, 1}},
                       {{2, 4, 9, 20}, {4, 1, 3, 3}, {{1, 1}, {1, 1}, {1, 1}, 4}}};
  Queue& queue = device().queue();
  const auto whole_numbers = [](const Dims& shape, unsigned seed) {
    std::vector<float> values = random_floats(product(shape), seed);
    for (float& value : values) value = std::round(value * 1.4F);
    return values;
  };
  const auto upload_bfloat16 = [&](const std::vector<float>& values, const Dims& shape) {
    std::vector<std::uint16_t> halves;
    for (const float value : values) {
      std::uint32_t bits;
      std::memcpy(&bits, &value, sizeof bits);
      halves.push_back(static_cast<std::uint16_t>(bits >> 16));
    }
    const Tensor t = Tensor::empty(device(), shape, DType::bfloat16);
    queue.write(t, halves.data(), halves.size() * sizeof halves[0]);
    return t;
  };
  const auto download_bfloat16 = [&](const Tensor& t) {
    std::vector<std::uint16_t> halves(static_cast<std::size_t>(t.numel()));
    queue.read(t, halves.data(), halves.size() * sizeof halves[0]);
    std::vector<double> values;
    for (const std::uint16_t half : halves) {
      const std::uint32_t bits = std::uint32_t{half} << 16;
      float value;
      std::memcpy(&value, &bits, sizeof value);
      values.push_back(value);
    }
    return values;
  };
  for (const Case& c : list) {
    const Dims y_shape = conv2d_output_shape(c.x, c.weight, c.geometry);
    const auto x = whole_numbers(c.x, 1), weight = whole_numbers(c.weight, 2), dy = whole_numbers(y_shape, 3);
    std::vector<double> y(dy.size()), dx(x.size()), dw(weight.size());
    for_each_product(c, y_shape, [&](std::size_t at_y, std::size_t at_x, std::size_t at_w) {
      y[at_y] += x[at_x] * weight[at_w];
      dx[at_x] += dy[at_y] * weight[at_w];
      dw[at_w] += dy[at_y] * x[at_x];
    });
    const Tensor tx = upload_bfloat16(x, c.x), tw = upload_bfloat16(weight, c.weight),
                 tdy = upload_bfloat16(dy, y_shape);
    const Tensor ty = Tensor::empty(device(), y_shape, DType::bfloat16),
                 tdx = Tensor::empty(device(), c.x, DType::bfloat16),
                 tdw = Tensor::empty(device(), c.weight, DType::bfloat16);
    conv2d_forward(queue, tx, tw, nullptr, c.geometry, ty);
    conv2d_backward_data(queue, tdy, tw, c.geometry, tdx);
    conv2d_backward_weight(queue, tdy, tx, c.geometry, tdw);
    expect_close(download_bfloat16(ty), y, 0, 0);
    expect_close(download_bfloat16(tdx), dx, 0, 0);
    expect_close(download_bfloat16(tdw), dw, 0.004, 0);  // sums beyond 256 are rounded when they are stored
  }
}

TEST(Conv2d, EmptyBatchGivesZeroWeightGradient) {
  Queue& queue = device().queue();
  const Tensor x = Tensor::empty(device(), {0, 2, 5, 5}),
               weight = upload(random_floats(18 * 2, 1), {2, 2, 3, 3});
  const Tensor y = Tensor::empty(device(), {0, 2, 3, 3});
  conv2d_forward(queue, x, weight, nullptr, {}, y);
  conv2d_backward_data(queue, y, weight, {}, x);
  conv2d_backward_weight(queue, y, x, {}, weight);
  EXPECT_EQ(download<float>(weight), std::vector<float>(36, 0.0F));
}

TEST(Conv2d, TheSameBitsEveryRun) {
  const Tensor x = upload(random_floats(4 * 8 * 400, 1), {4, 8, 20, 20});
  const Tensor dy = upload(random_floats(4 * 16 * 324, 2), {4, 16, 18, 18});
  const Tensor dw = Tensor::empty(device(), {16, 8, 3, 3});
  conv2d_backward_weight(device().queue(), dy, x, {}, dw);
  const auto first = download<float>(dw);
  for (int i = 0; i < 5; ++i) {
    conv2d_backward_weight(device().queue(), dy, x, {}, dw);
    EXPECT_EQ(download<float>(dw), first);
  }
}

TEST(Conv2d, ErrorsSayWhatPyTorchSays) {
  const auto message = [](const Dims& x, const Dims& weight, const Conv2dGeometry& g) {
    try {
      conv2d_output_shape(x, weight, g);
    } catch (const ValueError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_NE(message({1, 3, 8, 8}, {4, 2, 3, 3}, {})
                .find("expected input[1, 3, 8, 8] to have 2 channels, but got 3"),
            std::string::npos);
  EXPECT_NE(
      message({1, 2, 2, 8}, {4, 2, 3, 3}, {}).find("Kernel size can't be greater than actual input size"),
      std::string::npos);
  EXPECT_NE(message({1, 2, 8, 8}, {3, 1, 3, 3}, {{1, 1}, {0, 0}, {1, 1}, 2}).find("divisible by 2"),
            std::string::npos);
  EXPECT_NE(message({1, 2, 8}, {3, 2, 3, 3}, {}).find("4D"), std::string::npos);
  EXPECT_NE(message({1, 2, 8, 8}, {3, 2, 3, 3}, {{0, 1}, {0, 0}, {1, 1}, 1}).find("stride"),
            std::string::npos);
}

TEST(Conv2d, SamePaddingKeepsTheSizeOfAnInput) {
  for (const int kernel : {1, 2, 3, 6})
    for (const int dilation : {1, 2, 5}) {
      const Dims weight{4, 2, kernel, kernel + 1};
      Conv2dGeometry geometry{{1, 1}, {0, 0}, {dilation, 1}, 1};
      const SamePadding same = conv2d_same_padding(weight, geometry);
      geometry.padding = same.padding;
      EXPECT_EQ(conv2d_output_shape({3, 2, 9 + same.behind[0], 7 + same.behind[1]}, weight, geometry),
                Dims({3, 4, 9, 7}))
          << kernel << ", dilation " << dilation;
      for (const int behind : same.behind) EXPECT_TRUE(behind == 0 || behind == 1);
    }
  EXPECT_EQ(conv2d_same_padding({4, 2, 4, 3}, {}).behind, (std::array<int, 2>{1, 0}));
  EXPECT_THROW(conv2d_same_padding({4, 2, 3, 3}, {{2, 1}}), ValueError);
  EXPECT_THROW(conv2d_same_padding({4, 2, 3, 3}, {{1, 1}, {0, 0}, {0, 1}}), ValueError);
  EXPECT_THROW(conv2d_same_padding({4, 2, 3}, {}), ValueError);
}

TEST(Conv2d, Oclgrind) {
  check<float>({{2, 2, 5, 5}, {3, 2, 3, 3}});
  check<float>({{1, 2, 6, 9}, {9, 2, 3, 2}, {{2, 2}, {1, 1}, {1, 1}, 1}});
  check<float>({{1, 4, 5, 18}, {4, 1, 3, 3}, {{1, 1}, {1, 1}, {1, 1}, 4}});
  check<float>({{2, 3, 7, 7}, {3, 1, 3, 3}, {{1, 1}, {1, 1}, {1, 1}, 3}});
  check<float>({{1, 3, 6, 19}, {3, 1, 5, 5}, {{1, 1}, {2, 2}, {1, 1}, 3}});
  check<float>({{1, 3, 7, 9}, {3, 1, 3, 3}, {{2, 2}, {1, 1}, {1, 1}, 3}});
  check<float>({{1, 3, 4, 9}, {2, 3, 1, 1}});
  check<float>({{2, 9, 5, 6}, {10, 9, 1, 1}, {{2, 2}, {0, 0}, {1, 1}, 1}});  // zeros between results
  check<float>({{1, 9, 6, 4}, {10, 9, 1, 1}, {{2, 2}, {1, 1}, {1, 1}, 1}});  // and before them
  check<float>({{1, 9, 7, 6}, {10, 9, 3, 3}, {{2, 2}, {1, 1}, {1, 1}, 1}});
}

}  // namespace
