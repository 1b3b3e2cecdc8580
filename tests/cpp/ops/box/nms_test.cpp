#include "dlprim/ops/box/nms.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "tests/cpp/support/elements.h"
#include "tests/cpp/support/messages.h"

using namespace dlprim;
using namespace testing_support;

namespace {

using Boxes = std::vector<std::array<double, 4>>;
using Places = std::vector<std::int64_t>;

double overlap(const std::array<double, 4>& a, const std::array<double, 4>& b) {
  const double width = std::max(0.0, std::min(a[2], b[2]) - std::max(a[0], b[0]));
  const double height = std::max(0.0, std::min(a[3], b[3]) - std::max(a[1], b[1]));
  const auto area = [](const std::array<double, 4>& box) { return (box[2] - box[0]) * (box[3] - box[1]); };
  return width * height / (area(a) + area(b) - width * height);
}

Places reference(const Boxes& boxes, const std::vector<double>& scores, const Places& categories,
                 double threshold) {
  Places order(scores.size()), kept;
  std::iota(order.begin(), order.end(), 0);
  const auto at = [](const auto& values, std::int64_t i) { return values[static_cast<std::size_t>(i)]; };
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t i, std::int64_t j) {
    const double a = at(scores, i), b = at(scores, j);
    return std::isnan(a) ? !std::isnan(b) : a > b;
  });
  for (const std::int64_t i : order)
    if (std::none_of(kept.begin(), kept.end(), [&](std::int64_t j) {
          return (categories.empty() || at(categories, i) == at(categories, j)) &&
                 overlap(at(boxes, j), at(boxes, i)) > threshold;
        }))
      kept.push_back(i);
  return kept;
}

/** Boxes whose coordinates are quarters, so that every dtype has the same. */
Boxes random_boxes(std::mt19937& random, std::size_t n, int side) {
  std::uniform_int_distribution<int> corner(0, 4 * side), length(1, 4 * 6);
  Boxes boxes(n);
  for (auto& box : boxes) {
    box = {corner(random) / 4.0, corner(random) / 4.0, 0, 0};
    box[2] = box[0] + length(random) / 4.0;
    box[3] = box[1] + length(random) / 4.0;
  }
  return boxes;
}

Places kept(DType dtype, const Boxes& boxes, const std::vector<double>& scores, const Places& categories,
            double threshold) {
  std::vector<double> coordinates;
  for (const auto& box : boxes) coordinates.insert(coordinates.end(), box.begin(), box.end());
  const auto n = static_cast<std::int64_t>(boxes.size());
  const Tensor of = upload<std::int64_t>(categories, {static_cast<std::int64_t>(categories.size())});
  return download<std::int64_t>(nms(device().queue(), upload_as(dtype, coordinates, {n, 4}),
                                    upload_as(dtype, scores, {n}), categories.empty() ? nullptr : &of,
                                    threshold));
}

}  // namespace

TEST(Nms, KeepsWhatTheReferenceKeeps) {
  std::mt19937 random(1);
  for (const DType dtype : {DType::float32, DType::float64, DType::float16, DType::bfloat16}) {
    if (!supports(dtype)) continue;
    for (const std::size_t n : {1u, 2u, 31u, 32u, 33u, 63u, 257u, 1000u}) {
      const Boxes boxes = random_boxes(random, n, 12);
      std::vector<double> scores(n);
      Places categories(n);
      for (double& score : scores) score = std::uniform_int_distribution<int>(0, 60)(random) / 4.0;
      for (std::int64_t& category : categories) category = std::uniform_int_distribution<int>(-1, 2)(random);
      for (const double threshold : {0.0, 0.3007, 0.7003}) {  // no overlap of such boxes
        EXPECT_EQ(kept(dtype, boxes, scores, {}, threshold), reference(boxes, scores, {}, threshold))
            << n << " boxes of " << name(dtype) << " at " << threshold;
        EXPECT_EQ(kept(dtype, boxes, scores, categories, threshold),
                  reference(boxes, scores, categories, threshold))
            << n << " boxes of " << name(dtype) << " at " << threshold << ", by category";
      }
    }
  }
}

TEST(Nms, NotANumberStandsAboveAll) {
  const Boxes alike(3, {0, 0, 2, 2});
  EXPECT_EQ(kept(DType::float32, alike, {1, std::nan(""), std::numeric_limits<double>::infinity()}, {}, 0.5),
            Places{1});
}

TEST(Nms, BoxesThatAreNoNumbersSuppressNothing) {
  const double nan = std::nan("");
  EXPECT_EQ(kept(DType::float32, {{0, 0, 2, 2}, {nan, 0, 2, 2}, {0, 0, 2, nan}}, {3, 2, 1}, {}, 0.5),
            (Places{0, 1, 2}));
}

TEST(Nms, AnOverlapOnTheThresholdIsKept) {
  const Boxes half{{0, 0, 2, 1}, {0, 0, 1, 1}};
  EXPECT_EQ(kept(DType::float32, half, {2, 1}, {}, 0.5), (Places{0, 1}));
  EXPECT_EQ(kept(DType::float32, half, {2, 1}, {}, std::nextafter(0.5, 0)), Places{0});
}

TEST(Nms, NoBoxes) {
  EXPECT_TRUE(kept(DType::float32, {}, {}, {}, 0.5).empty());
}

TEST(Nms, RefusesWhatDoesNotFit) {
  Queue& queue = device().queue();
  const Tensor boxes = upload<float>(std::vector<float>(8, 1), {2, 4}), scores = upload<float>({1, 2}, {2});
  expect_error<ValueError>([&] { nms(queue, boxes.reshaped({4, 2}), scores, nullptr, 0.5); },
                           "nms: expected the boxes of shape [2, 4], got [4, 2]");
  const Tensor narrow = upload<std::int32_t>({1, 2}, {2});
  expect_error<TypeError>([&] { nms(queue, boxes, narrow, nullptr, 0.5); }, "nms: expected the scores");
  expect_error<TypeError>([&] { nms(queue, boxes, scores, &narrow, 0.5); }, "nms: expected the categories");
}
