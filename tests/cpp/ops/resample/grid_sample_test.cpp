#include "dlprim/ops/resample/grid_sample.h"

#include <cmath>
#include <limits>

#include "tests/cpp/support/elements.h"
#include "tests/cpp/support/messages.h"

using namespace dlprim;
using namespace testing_support;

namespace {

constexpr GridInterpolation interpolations[] = {GridInterpolation::linear, GridInterpolation::nearest,
                                                GridInterpolation::cubic};
constexpr GridPadding paddings[] = {GridPadding::zeros, GridPadding::border, GridPadding::reflection};

/** Points in and around the input. */
std::vector<float> points(std::int64_t count, unsigned seed) {
  std::vector<float> values = random_floats(count, seed);
  for (float& v : values) v *= 1.6F;
  return values;
}

Dims grid_shape(const Dims& x, const Dims& out) {
  Dims shape{x[0]};
  for (const std::int64_t n : out) shape.push_back(n);
  shape.push_back(out.size());
  return shape;
}

std::vector<float> sampled(const Tensor& x, const Tensor& grid, const GridGeometry& g) {
  const Tensor y = queue().scratch(grid_sample_output_shape("grid_sample", x.shape, grid.shape, g));
  grid_sample_forward(queue(), x, grid, g, y);
  return download<float>(y);
}

double dot(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

/** Calls check(geometry, x's shape, result's) over all options. */
template <class Check>
void for_each_geometry(const Check& check) {
  for (const GridInterpolation interpolation : interpolations)
    for (const GridPadding padding : paddings)
      for (const bool align_corners : {false, true}) {
        const GridGeometry g{interpolation, padding, align_corners};
        check(g, Dims{2, 11, 5, 7}, Dims{4, 6});
        check(g, Dims{1, 3, 1, 6}, Dims{7, 3});
        if (interpolation != GridInterpolation::cubic) check(g, Dims{2, 9, 3, 5, 4}, Dims{2, 3, 5});
      }
}

/** The rule of the gradient of a linear function by its input: <sampled(x), dy> = <x, dx>. */
void check_adjoint(const GridGeometry& g, const Dims& xs, const Dims& out) {
  const Dims gs = grid_shape(xs, out), ys = grid_sample_output_shape("grid_sample", xs, gs, g);
  const auto x = random_floats(product(xs), 1), dy = random_floats(product(ys), 2);
  const Tensor grid = upload(points(product(gs), 3), gs), dx = queue().scratch(xs);
  const double expected = dot(sampled(upload(x, xs), grid, g), dy);
  grid_sample_backward_input(queue(), upload(dy, ys), grid, g, dx);
  EXPECT_NEAR(dot(x, download<float>(dx)), expected, 1e-5 * static_cast<double>(dy.size())) << xs << gs;
}

/** The gradient by the grid against the derivative along each axis, which sampling gives by itself. */
void check_grid_gradient(const GridGeometry& g, const Dims& xs, const Dims& out) {
  const Dims gs = grid_shape(xs, out), ys = grid_sample_output_shape("grid_sample", xs, gs, g);
  const Tensor x = upload(random_floats(product(xs), 1), xs), grid = upload(points(product(gs), 3), gs),
               dgrid = queue().scratch(gs);
  const auto dy = random_floats(product(ys), 2);
  grid_sample_backward_grid(queue(), upload(dy, ys), x, grid, g, dgrid);
  const auto actual = download<float>(dgrid);
  const std::int64_t axes = out.size(), count = product(out);
  for (std::int64_t axis = 0; axis < axes; ++axis) {
    GridGeometry slope = g;
    slope.order[static_cast<std::size_t>(2 - axis)] = 1;
    const auto slopes = sampled(x, grid, slope);
    for (std::int64_t image = 0; image < xs[0]; ++image)
      for (std::int64_t point = 0; point < count; ++point) {
        double expected = 0;
        for (std::int64_t c = 0; c < xs[1]; ++c) {
          const auto i = static_cast<std::size_t>((image * xs[1] + c) * count + point);
          expected += static_cast<double>(slopes[i]) * dy[i];
        }
        EXPECT_NEAR(actual[static_cast<std::size_t>((image * count + point) * axes + axis)], expected, 1e-4);
      }
  }
}

/** Derivatives of every order against differences of the one below. */
void check_derivative(const GridGeometry& g, int order) {
  const Dims xs{1, 2, 6, 8}, gs{1, 1, 4, 2};
  const Tensor x = upload(random_floats(product(xs), 1), xs);
  // No step crosses an element's center or edge.
  const std::vector<float> at{-0.21F, 0.3F, 0.08F, -0.4F, 0.62F, 0.11F, -0.71F, -0.09F};
  constexpr float step = 1.0F / 256;
  for (const std::size_t axis : {std::size_t{1}, std::size_t{2}}) {
    GridGeometry lower = g, higher = g;
    lower.order[axis] = order - 1;
    higher.order[axis] = order;
    std::vector<float> before = at, behind = at;
    for (std::size_t i = 2 - axis; i < at.size(); i += 2) {
      before[i] -= step;
      behind[i] += step;
    }
    const auto a = sampled(x, upload(before, gs), lower), b = sampled(x, upload(behind, gs), lower),
               slope = sampled(x, upload(at, gs), higher);
    for (std::size_t i = 0; i < slope.size(); ++i)
      EXPECT_NEAR((b[i] - a[i]) / (2 * step), slope[i], 0.02 * (1 + std::abs(slope[i]))) << "order " << order;
  }
}

}  // namespace

TEST(GridSample, KnownValues) {
  const Tensor x = upload<float>({1, 2, 3, 4}, {1, 1, 2, 2});
  const auto at = [&](std::vector<float> xy, const GridGeometry& g) {
    const auto count = static_cast<std::int64_t>(xy.size() / 2);
    return sampled(x, upload(xy, {1, 1, count, 2}), g);
  };
  const GridGeometry corners{GridInterpolation::linear, GridPadding::zeros, true};
  EXPECT_EQ(at({-1, -1, 1, -1, 0, 0, 1, 1}, corners), (std::vector<float>{1, 2, 2.5F, 4}));
  EXPECT_EQ(at({-0.5F, -0.5F, 0.5F, -0.5F, 0, 0}, {}), (std::vector<float>{1, 2, 2.5F}));
  EXPECT_EQ(at({-1, -0.5F, -3, 0}, {}), (std::vector<float>{0.5F, 0}));  // half an element, and none
  EXPECT_EQ(at({-1, -0.5F, -3, 0.5F}, {GridInterpolation::linear, GridPadding::border}),
            (std::vector<float>{1, 3}));
  EXPECT_EQ(at({-1.5F, -0.5F, 2.5F, 0.5F}, {GridInterpolation::linear, GridPadding::reflection}),
            (std::vector<float>{1, 3}));
  EXPECT_EQ(at({-0.2F, 0.2F}, {GridInterpolation::nearest}), (std::vector<float>{3}));
  EXPECT_EQ(at({-1, -1, 1, 1}, {GridInterpolation::cubic, GridPadding::border, true}),
            (std::vector<float>{1, 4}));
}

TEST(GridSample, PointsThatAreNotFiniteOrFarAwayGiveNothing) {
  const float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();
  const Tensor x = upload<float>({1, 2, 3, 4}, {1, 1, 2, 2}),
               grid = upload<float>({nan, 0, 0, inf, -inf, 0, 1e30F, 0, 0, -1e30F}, {1, 1, 5, 2}),
               dy = upload<float>({1, 1, 1, 1, 1}, {1, 1, 1, 5}), dx = queue().scratch(x.shape);
  for (const GridInterpolation interpolation : interpolations) {
    EXPECT_EQ(sampled(x, grid, {interpolation}), std::vector<float>(5, 0));
    grid_sample_backward_input(queue(), dy, grid, {interpolation}, dx);
    EXPECT_EQ(download<float>(dx), std::vector<float>(4, 0));
  }
}

TEST(GridSample, Adjoint) {
  for_each_geometry(check_adjoint);
}

TEST(GridSample, GradientByTheGrid) {
  for_each_geometry(check_grid_gradient);
}

TEST(GridSample, Derivatives) {
  for (const GridPadding padding : paddings)
    for (const bool align_corners : {false, true}) {
      check_derivative({GridInterpolation::linear, padding, align_corners}, 1);
      for (const int order : {1, 2, 3})
        check_derivative({GridInterpolation::cubic, padding, align_corners}, order);
    }
}

// Many points on one element, and in between.
TEST(GridSample, SumsRepeat) {
  constexpr std::int64_t count = 20000;
  const auto grid = random_floats(2 * count, 1), dy = random_floats(count, 2);
  for (const std::int64_t size : {1, 3}) {
    const Tensor tgrid = upload(grid, {1, 1, count, 2}), tdy = upload(dy, {1, 1, 1, count}),
                 dx = queue().scratch({1, 1, size, size});
    const GridGeometry g{GridInterpolation::linear, GridPadding::border};
    grid_sample_backward_input(queue(), tdy, tgrid, g, dx);
    const auto first = download<float>(dx);
    double total = 0, expected = 0;
    for (const float v : first) total += v;
    for (const float v : dy) expected += v;
    EXPECT_NEAR(total, expected, 0.01);
    grid_sample_backward_input(queue(), tdy, tgrid, g, dx);
    EXPECT_EQ(download<float>(dx), first);
  }
}

TEST(GridSample, Errors) {
  const auto shape = [](const Dims& x, const Dims& grid, const GridGeometry& g = {}) {
    return grid_sample_output_shape("grid_sample", x, grid, g);
  };
  EXPECT_EQ(shape({2, 3, 4, 5}, {2, 6, 7, 2}), Dims({2, 3, 6, 7}));
  EXPECT_EQ(shape({0, 3, 4, 5, 6}, {0, 6, 7, 8, 3}), Dims({0, 3, 6, 7, 8}));
  expect_error<ValueError>([&] { shape({3, 4, 5}, {6, 7, 2}); }, "expected an input [N, C, H, W]");
  expect_error<ValueError>([&] { shape({2, 3, 4, 5}, {1, 6, 7, 2}); }, "expected a grid [N, OH, OW, 2]");
  expect_error<ValueError>([&] { shape({2, 3, 4, 5, 6}, {2, 6, 7, 8, 2}); },
                           "expected a grid [N, OD, OH, OW, 3]");
  expect_error<ValueError>([&] { shape({2, 3, 0, 5}, {2, 6, 7, 2}); }, "elements");
  expect_error<ValueError>([&] { shape({2, 3, 4, 5, 6}, {2, 6, 7, 8, 3}, {GridInterpolation::cubic}); },
                           "bicubic");
  const Tensor x = queue().scratch({1, 1, 2, 2}), grid = queue().scratch({1, 3, 3, 2}),
               half = Tensor::empty(device(), {1, 3, 3, 2}, DType::float16),
               y = queue().scratch({1, 1, 3, 3});
  EXPECT_THROW(grid_sample_forward(queue(), x, half, {}, y), TypeError);
  EXPECT_THROW(grid_sample_forward(queue(), x, grid, {}, x), ValueError);
}

TEST(GridSample, Oclgrind) {
  for (const GridPadding padding : paddings) {
    check_adjoint({GridInterpolation::linear, padding}, {1, 2, 3, 4}, {2, 3});
    check_adjoint({GridInterpolation::cubic, padding, true}, {1, 1, 3, 4}, {2, 2});
    check_grid_gradient({GridInterpolation::linear, padding}, {1, 2, 2, 3, 4}, {1, 2, 2});
  }
}
