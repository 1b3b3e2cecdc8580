#include "dlprim/ops/box/roi_align.h"

#include <cmath>
#include <random>

#include "tests/cpp/support/elements.h"
#include "tests/cpp/support/messages.h"

using namespace dlprim;
using namespace testing_support;

namespace {

DeviceCheck image_check() {
  static const DeviceCheck check = register_check("roi_align: number of an image out of range: ");
  return check;
}

/** How much each element of an axis counts in the mean of each bin: [bins][size]. */
using Weights = std::vector<std::vector<double>>;

struct Axis {
  Weights weights;
  int points;
};

Axis axis_of(double low, double high, std::int64_t bins, std::int64_t size, const RegionGeometry& g) {
  const double extent = g.aligned ? high - low : std::max(high - low, 1.0);
  const double bin = extent / static_cast<double>(bins);
  const int points = g.sampling_ratio > 0 ? g.sampling_ratio : std::max(static_cast<int>(std::ceil(bin)), 0);
  Axis axis{Weights(static_cast<std::size_t>(bins), std::vector<double>(static_cast<std::size_t>(size))),
            points};
  for (std::int64_t b = 0; b < bins; ++b)
    for (int i = 0; i < points; ++i) {
      const double at = low + static_cast<double>(b) * bin + (i + 0.5) * bin / points;
      if (at < -1 || at > static_cast<double>(size)) continue;
      const double held = std::min(std::max(at, 0.0), static_cast<double>(size - 1));
      const auto first = static_cast<std::size_t>(held);
      std::vector<double>& of_bin = axis.weights[static_cast<std::size_t>(b)];
      of_bin[first] += 1 - (held - std::floor(held));
      if (held > std::floor(held)) of_bin[first + 1] += held - std::floor(held);
    }
  return axis;
}

/** Calls visit(input element, output element, weight) for all that count. */
template <class Visit>
void for_each_weight(const Dims& x, const Dims& y, const std::vector<double>& rois, const RegionGeometry& g,
                     const Visit& visit) {
  const double offset = g.aligned ? 0.5 : 0;
  const auto number = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  for (std::int64_t k = 0; k < y[0]; ++k) {
    const double* roi = rois.data() + 5 * k;
    const auto at = [&](int i) { return roi[i] * g.spatial_scale - offset; };
    const Axis h = axis_of(at(2), at(4), y[2], x[2], g), w = axis_of(at(1), at(3), y[3], x[3], g);
    const double count = std::max(h.points * w.points, 1);
    for (std::int64_t c = 0; c < x[1]; ++c)
      for (std::int64_t i = 0; i < y[2]; ++i)
        for (std::int64_t j = 0; j < y[3]; ++j)
          for (std::int64_t row = 0; row < x[2]; ++row)
            for (std::int64_t column = 0; column < x[3]; ++column) {
              const double weight =
                  h.weights[number(i)][number(row)] * w.weights[number(j)][number(column)] / count;
              const auto image = static_cast<std::int64_t>(roi[0]);
              if (weight != 0)
                visit(number(((image * x[1] + c) * x[2] + row) * x[3] + column),
                      number(((k * y[1] + c) * y[2] + i) * y[3] + j), weight);
            }
  }
}

void check(DType dtype, std::mt19937& random, const Dims& x, const Dims& y, const RegionGeometry& g) {
  const Sample input = sample(random, dtype, x, Placement::contiguous);
  const Sample dy = sample(random, dtype, y, Placement::contiguous);
  std::uniform_int_distribution<int> corner(-12, 60), length(-2, 40), image(0, static_cast<int>(x[0]) - 1);
  std::vector<double> rois;
  for (std::int64_t k = 0; k < y[0]; ++k) {
    const double left = corner(random) / 4.0, top = corner(random) / 4.0;
    rois.insert(rois.end(), {static_cast<double>(image(random)), left, top, left + length(random) / 4.0,
                             top + length(random) / 4.0});
  }
  std::vector<double> expected(dy.values.size()), expected_dx(input.values.size());
  for_each_weight(x, y, rois, g, [&](std::size_t from, std::size_t to, double weight) {
    expected[to] += weight * input.values[from];
    expected_dx[from] += weight * dy.values[to];
  });
  Queue& queue = device().queue();
  const Tensor result = queue.scratch(y, dtype), dx = queue.scratch(x, dtype);
  const Tensor boxes = upload_as(dtype, rois, {y[0], 5});
  roi_align_forward(queue, input.tensor, boxes, g, result, image_check());
  roi_align_backward(queue, dy.tensor, boxes, g, dx);
  const double tolerance = 64 * epsilon(dtype);
  expect_close(download_values(result), expected, tolerance, 8 * tolerance);
  expect_close(download_values(dx), expected_dx, tolerance,
               8 * tolerance * std::max<double>(1, static_cast<double>(y[0])));
}

}  // namespace

TEST(RoiAlign, ReferenceInDoublePrecision) {
  std::mt19937 random(1);
  for (const DType dtype : {DType::float32, DType::float64, DType::float16, DType::bfloat16}) {
    if (!supports(dtype)) continue;
    for (const int ratio : {-1, 1, 3})
      for (const bool aligned : {false, true}) {
        check(dtype, random, {2, 3, 11, 7}, {6, 3, 3, 2}, {1, ratio, aligned});
        check(dtype, random, {1, 9, 8, 13}, {4, 9, 1, 5}, {0.5, ratio, aligned});  // more than ROI_CHANNELS
        check(dtype, random, {1, 1, 1, 1}, {3, 1, 2, 2}, {0.25, ratio, aligned});
      }
  }
}

TEST(RoiAlign, NoBoxes) {
  Queue& queue = device().queue();
  const Tensor x = upload<float>({1, 2, 3, 4}, {1, 1, 2, 2}), boxes = queue.scratch({0, 5});
  roi_align_forward(queue, x, boxes, {}, queue.scratch({0, 1, 2, 2}), image_check());
  const Tensor dx = upload<float>({1, 2, 3, 4}, x.shape);
  roi_align_backward(queue, queue.scratch({0, 1, 2, 2}), boxes, {}, dx);
  EXPECT_EQ(download<float>(dx), (std::vector<float>{0, 0, 0, 0}));
}

TEST(RoiAlign, ANumberOfNoImage) {
  Queue& queue = device().queue();
  const Tensor x = upload<float>({1, 2, 3, 4}, {1, 1, 2, 2}), y = queue.scratch({1, 1, 1, 1});
  for (const float image : {1.0f, -1.0f}) {
    roi_align_forward(queue, x, upload<float>({image, 0, 0, 1, 1}, {1, 5}), {}, y, image_check());
    expect_error<IndexError>([&] { queue.finish(); }, "number of an image out of range: ");
  }
}

TEST(RoiAlign, RefusesWhatDoesNotFit) {
  Queue& queue = device().queue();
  const Tensor x = queue.scratch({1, 2, 4, 4}), boxes = queue.scratch({3, 5}),
               y = queue.scratch({3, 2, 2, 2});
  const auto refuses = [&](const Tensor& input, const Tensor& rois, const Tensor& result, const char* part) {
    expect_error<ValueError>([&] { roi_align_forward(queue, input, rois, {}, result, image_check()); }, part);
    expect_error<ValueError>([&] { roi_align_backward(queue, result, rois, {}, input); }, part);
  };
  refuses(x.reshaped({2, 4, 4}), boxes, y, "expected an input [N, C, H, W]");
  refuses(x, boxes.reshaped({15}), y, "expected boxes [K, 5], got shape [15]");
  refuses(x, boxes, queue.scratch({2, 2, 2, 2}), "expected the result or its gradient of shape [3, 2, 2, 2]");
  refuses(x, boxes, queue.scratch({3, 2, 0, 2}), "positive numbers");
  refuses(queue.scratch({1, 2, 0, 4}), boxes, y, "planes with elements");
  expect_error<ValueError>(
      [&] { roi_align_forward(queue, x, boxes, {1, 2'000'000'000, false}, y, image_check()); },
      "a number of points along an axis of 4000000000 is too large");
}
