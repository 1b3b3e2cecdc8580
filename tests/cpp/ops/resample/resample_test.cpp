#include <functional>

#include "dlprim/ops/resample/interpolate.h"
#include "dlprim/ops/resample/pad.h"
#include "dlprim/ops/resample/unfold.h"
#include "tests/cpp/support/tensors.h"

using namespace dlprim;
using namespace testing_support;

namespace {

using Map = std::function<void(const Tensor& from, const Tensor& to)>;

double dot(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

/** What makes `backward` the gradient of the linear `forward`: <forward(x), dy> = <x, backward(dy)>. */
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
