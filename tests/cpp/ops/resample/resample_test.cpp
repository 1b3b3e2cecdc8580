#include <cmath>
#include <functional>

#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/ops/resample/interpolate.h"
#include "dlprim/ops/resample/pad.h"
#include "dlprim/ops/resample/unfold.h"
#include "tests/cpp/support/elements.h"
#include "tests/cpp/support/messages.h"

using namespace dlprim;
using namespace testing_support;

namespace {

using Map = std::function<void(const Tensor& from, const Tensor& to)>;

double dot(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

/** The rule by which `backward` is the gradient of the linear `forward`: <forward(x), dy> = <x,
 * backward(dy)>. */
void check_adjoint(const Dims& xs, const Dims& ys, const Map& forward, const Map& backward) {
  const auto x = random_floats(product(xs), 1), dy = random_floats(product(ys), 2);
  Queue& queue = device().queue();
  const Tensor y = queue.scratch(ys), dx = queue.scratch(xs);
  forward(upload(x, xs), y);
  backward(upload(dy, ys), dx);
  const double expected = dot(download<float>(y), dy);
  EXPECT_NEAR(dot(x, download<float>(dx)), expected, 1e-5 * static_cast<double>(x.size() + dy.size()))
      << xs << " to " << ys;
}

void check_interpolation(const Dims& xs, const Dims& ys, const InterpolationGeometry& g) {
  Queue& queue = device().queue();
  check_adjoint(
      xs, ys, [&](const Tensor& x, const Tensor& y) { interpolate_forward(queue, x, g, y); },
      [&](const Tensor& dy, const Tensor& dx) { interpolate_backward(queue, dy, g, dx); });
}

void check_pad(const Dims& xs, const PadGeometry& g) {
  Queue& queue = device().queue();
  check_adjoint(
      xs, pad_output_shape("pad", xs, g),
      [&](const Tensor& x, const Tensor& y) { pad_forward(queue, x, g, y); },
      [&](const Tensor& dy, const Tensor& dx) { pad_backward(queue, dy, g, dx); });
}

void check_unfold(const Dims& image, const BlockGeometry& g) {
  Queue& queue = device().queue();
  const auto blocks = block_counts("unfold", {image[1], image[2]}, g);
  check_adjoint(
      image, {image[0] * g.kernel_size[0] * g.kernel_size[1], blocks[0] * blocks[1]},
      [&](const Tensor& x, const Tensor& y) { unfold(queue, x, g, y); },
      [&](const Tensor& dy, const Tensor& dx) { fold(queue, dy, g, dx); });
}

std::vector<float> interpolated(const std::vector<float>& x, std::int64_t size,
                                const InterpolationGeometry& g) {
  Queue& queue = device().queue();
  const Tensor y = queue.scratch({1, size});
  interpolate_forward(queue, upload(x, {1, static_cast<std::int64_t>(x.size())}), g, y);
  return download<float>(y);
}

}  // namespace

TEST(Interpolate, KnownValues) {
  EXPECT_EQ(interpolated({1, 2, 3}, 6, {Interpolation::nearest, 1}), (std::vector<float>{1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(interpolated({1, 2, 3, 4, 5}, 3, {Interpolation::nearest, 1}), (std::vector<float>{1, 2, 4}));
  EXPECT_EQ(interpolated({1, 2, 3, 4, 5}, 3, {Interpolation::nearest_exact, 1}),
            (std::vector<float>{1, 3, 5}));
  EXPECT_EQ(interpolated({0, 4}, 4, {Interpolation::linear, 1}), (std::vector<float>{0, 1, 3, 4}));
  EXPECT_EQ(interpolated({0, 4}, 5, {Interpolation::linear, 1, true}), (std::vector<float>{0, 1, 2, 3, 4}));
  EXPECT_EQ(interpolated({7, 9}, 1, {Interpolation::linear, 1, true}), (std::vector<float>{7}));
}

TEST(Interpolate, Adjoint) {
  for (const auto mode : {Interpolation::nearest, Interpolation::nearest_exact, Interpolation::linear}) {
    check_interpolation({2, 3, 7, 5}, {2, 3, 13, 9}, {mode, 2});
    check_interpolation({2, 3, 13, 9}, {2, 3, 4, 5}, {mode, 2});
    check_interpolation({3, 1, 1}, {3, 17, 19}, {mode, 2});
    check_interpolation({2, 3, 4, 5}, {2, 7, 4, 2}, {mode, 3});
    check_interpolation({2, 997}, {2, 1499}, {mode, 1});
  }
  check_interpolation({2, 7, 5}, {2, 13, 9}, {Interpolation::linear, 2, true});
  check_interpolation({2, 7, 5}, {2, 10, 8}, {Interpolation::linear, 2, false, {{{}, 1.5, 1.7}}});
}

TEST(Interpolate, Errors) {
  Queue& queue = device().queue();
  const Tensor x = queue.scratch({2, 3, 4}), other = queue.scratch({1, 3, 4});
  EXPECT_THROW(interpolate_forward(queue, x, {Interpolation::nearest, 2}, other), ValueError);
  EXPECT_THROW(interpolate_forward(queue, x, {Interpolation::nearest, 4}, x), ValueError);
  const Tensor whole = queue.scratch({2, 3, 4}, DType::int32);
  EXPECT_THROW(interpolate_forward(queue, whole, {Interpolation::nearest, 2}, whole), TypeError);
}

TEST(Pad, Adjoint) {
  for (const auto mode : {PadMode::reflect, PadMode::replicate}) {
    check_pad({3, 6}, {mode, 1, {0, 0, 2}, {0, 0, 5}});
    check_pad({2, 3, 5, 6}, {mode, 2, {0, 4, 2}, {0, 1, -1}});
    check_pad({2, 3, 5, 6}, {mode, 3, {1, 4, 2}, {2, -2, 3}});
  }
  check_pad({2, 1, 1}, {PadMode::replicate, 2, {0, 3, 0}, {0, 2, 4}});
}

TEST(Pad, Errors) {
  const auto shape = [](const Dims& x, const PadGeometry& g) { return pad_output_shape("pad", x, g); };
  EXPECT_EQ(shape({3, 6}, {PadMode::reflect, 1, {0, 0, 5}, {0, 0, -1}}), Dims({3, 10}));
  EXPECT_THROW(shape({3, 6}, {PadMode::reflect, 1, {0, 0, 6}, {}}), ValueError);
  EXPECT_THROW(shape({3, 6}, {PadMode::replicate, 1, {0, 0, -6}, {}}), ValueError);
  EXPECT_THROW(shape({3, 0}, {PadMode::replicate, 1, {0, 0, 1}, {}}), ValueError);
}

/** Every element of the result against the one that it shows, or the constant. */
void check_constant(std::mt19937& random, DType dtype, const Dims& xs, const PadMargins& margins,
                    Placement placement) {
  const Dims ys = pad_constant_output_shape("pad", xs, margins);
  const Sample x = sample(random, dtype, xs, placement), y = sample(random, dtype, ys, Placement::strided);
  pad_constant(device().queue(), x.tensor, margins, 3, y.tensor);
  std::vector<double> expected;
  for_each_element(ys, [&](Dims at) {
    bool is_inside = true;
    for (int d = 0; d < at.size(); ++d) {
      at[d] -= margins.before[d];
      is_inside &= at[d] >= 0 && at[d] < xs[d];
    }
    expected.push_back(is_inside ? x.values[element_number(xs, at)] : 3);
  });
  const Tensor result = device().queue().scratch(ys, dtype);
  copy(device().queue(), y.tensor, result);
  EXPECT_EQ(download_values(result), expected) << name(dtype) << " " << xs << " to " << ys;
}

TEST(Pad, Constant) {
  std::mt19937 random(1);
  for (const DType dtype : {DType::float32, DType::bfloat16, DType::int64, DType::uint8})
    for (const Placement placement : {Placement::contiguous, Placement::strided, Placement::expanded}) {
      check_constant(random, dtype, {}, {}, placement);
      check_constant(random, dtype, {7}, {{2}, {3}}, placement);
      check_constant(random, dtype, {5, 17}, {{0, -3}, {1, 4}}, placement);
      check_constant(random, dtype, {5, 17}, {{-1, -3}, {-4, 0}}, placement);
      check_constant(random, dtype, {2, 3, 4, 5}, {{1, 0, 2, -1}, {0, -3, 1, 33}}, placement);
      check_constant(random, dtype, {0, 3}, {{2, 0}, {0, 1}}, placement);
    }
}

TEST(Pad, ConstantsOfEveryKind) {
  Queue& queue = device().queue();
  const Tensor x = upload<float>({1}, {1}), y = queue.scratch({2});
  pad_constant(queue, x, {{0}, {1}}, -INFINITY, y);
  EXPECT_EQ(download<float>(y), (std::vector<float>{1, -INFINITY}));
  const Tensor bytes = queue.scratch({1}, DType::uint8), wide = queue.scratch({2}, DType::uint8);
  EXPECT_THROW(pad_constant(queue, bytes, {{0}, {1}}, 1000, wide), ValueError);
}

TEST(Pad, ConstantErrors) {
  const auto shape = [](const Dims& x, const PadMargins& m) {
    return pad_constant_output_shape("pad", x, m);
  };
  EXPECT_EQ(shape({3, 6}, {{-3, 0}, {5, -6}}), Dims({5, 0}));
  expect_error<ValueError>([&] { shape({3, 6}, {{0, -4}, {0, -3}}); },
                           "padding (-4, -3) cuts more than dimension 1 of input [3, 6] has");
  expect_error<ValueError>([&] { shape({3}, {{-4}, {5}}); }, "cuts more");
  expect_error<ValueError>([&] { shape({3}, {{INT64_MIN}, {0}}); }, "cuts more");
  expect_error<ValueError>([&] { shape({3}, {{INT64_MAX}, {0}}); }, "larger than 64 bits count");
  expect_error<ValueError>([&] { shape({3}, {{0, 0}, {0, 0}}); }, "margins of 1 dimensions, got 2 and 2");
  Queue& queue = device().queue();
  const Tensor x = queue.scratch({3});
  EXPECT_THROW(pad_constant(queue, x, {{1}, {0}}, 0, queue.scratch({3})), ValueError);
  EXPECT_THROW(pad_constant(queue, x, {{1}, {0}}, 0, queue.scratch({4}, DType::int64)), TypeError);
}

TEST(Unfold, Shapes) {
  const BlockGeometry g{{3, 2}, {2, 3}, {1, 2}, {3, 2}};
  EXPECT_EQ(unfold_output_shape("unfold", {4, 2, 11, 9}, g), Dims({4, 12, 15}));
  EXPECT_EQ(unfold_output_shape("unfold", {2, 11, 9}, g), Dims({12, 15}));
  EXPECT_EQ(fold_output_shape("fold", {4, 12, 15}, {11, 9}, g), Dims({4, 2, 11, 9}));
  EXPECT_EQ(fold_output_shape("fold", {12, 15}, {11, 9}, g), Dims({2, 11, 9}));
  expect_error<ValueError>([&] { unfold_output_shape("unfold", {11, 9}, g); }, "[C, H, W]");
  expect_error<ValueError>([&] { unfold_output_shape("unfold", {2, 0, 9}, g); },
                           "only the batch may be empty");
  expect_error<ValueError>([&] { fold_output_shape("fold", {13, 15}, {11, 9}, g); }, "divisible");
  expect_error<ValueError>([&] { fold_output_shape("fold", {12, 14}, {11, 9}, g); }, "has 3 * 5 blocks");
  expect_error<ValueError>([&] { fold_output_shape("fold", {12, 15}, {0, 9}, g); }, "greater than zero");
}

TEST(Unfold, Adjoint) {
  check_unfold({3, 6, 7}, {{3, 2}});
  check_unfold({2, 11, 9}, {{3, 2}, {2, 3}, {1, 2}, {3, 2}});
  check_unfold({1, 1, 1}, {{2, 3}, {1, 1}, {1, 1}, {1, 1}});
}

TEST(Unfold, Errors) {
  EXPECT_THROW(block_counts("unfold", {3, 3}, {{4, 1}}), ValueError);
  EXPECT_THROW(block_counts("unfold", {3, 3}, {{1, 1}, {0, 1}}), ValueError);
  EXPECT_THROW(block_counts("unfold", {3, 3}, {{1, 1}, {1, 1}, {-1, 0}}), ValueError);
  EXPECT_THROW(block_counts("unfold", {3, 3}, {{1, 1}, {1, 1}, {0, 0}, {1, 0}}), ValueError);
}

TEST(Resample, Oclgrind) {
  check_interpolation({2, 3, 5}, {2, 7, 4}, {Interpolation::linear, 2});
  check_interpolation({2, 3, 5}, {2, 7, 4}, {Interpolation::nearest, 2});
  check_pad({2, 3, 4}, {PadMode::reflect, 2, {0, 2, 1}, {0, 1, 3}});
  check_unfold({2, 4, 5}, {{3, 2}, {1, 2}, {1, 1}, {2, 1}});
}
