#include <ATen/ATen.h>
#include <ATen/Operators.h>
#include <ATen/native/GridSamplerUtils.h>
#include <torch/library.h>

#include "aten/fallback.h"
#include "aten/kernels.h"

/** \file grid_sample over planes, made of reading and adding by an index. Cubic interpolation the CPU does.
 */

namespace torch_ocl {
namespace {

using at::native::GridSamplerInterpolation;
using at::native::GridSamplerPadding;

/** Where the grid points along one axis, [N, places], and how fast that moves with the grid. */
struct Axis {
  at::Tensor x, slope;
  std::int64_t size;

  Axis(const at::Tensor& position, std::int64_t elements, GridSamplerPadding padding, bool align_corners)
      : size(elements) {
    const auto n = static_cast<double>(size);
    x = align_corners ? (position + 1) * ((n - 1) / 2) : ((position + 1) * n - 1) / 2;
    slope = at::full_like(x, align_corners ? (n - 1) / 2 : n / 2);
    if (padding == GridSamplerPadding::Reflection)
      reflect(align_corners ? 0 : -0.5, align_corners ? n - 1 : n - 0.5);
    if (padding == GridSamplerPadding::Zeros) return;
    slope = at::where((x <= 0).logical_or(x >= n - 1), at::zeros_like(x), slope);
    x = x.clamp(0, n - 1);
  }

 private:
  /** Mirrors at both ends, as often as it takes. */
  void reflect(double least, double most) {
    const double span = most - least;
    if (span == 0) {
      x = at::zeros_like(x);
      slope = at::zeros_like(x);
      return;
    }
    const at::Tensor from = x - least, distance = from.abs(), turns = (distance / span).floor();
    const at::Tensor rest = distance - turns * span, is_even = turns.remainder(2) == 0;
    slope = at::where((from < 0).logical_xor(is_even), slope, -slope);
    x = at::where(is_even, rest + least, most - rest);
  }
};

/** One of the elements that a place lies among. */
struct Corner {
  at::Tensor place, is_inside;  // [N, 1, places]

  Corner(const at::Tensor& x, const at::Tensor& y, std::int64_t width, std::int64_t height) {
    const at::Tensor inside = (x >= 0).logical_and(x < width).logical_and(y >= 0).logical_and(y < height);
    place = at::where(inside, y * width + x, at::zeros_like(x)).to(c10::kLong).unsqueeze(1);
    is_inside = inside.unsqueeze(1);
  }
  /** Its elements in planes [N, C, H * W]; 0 outside. */
  at::Tensor read(const at::Tensor& planes) const {
    return planes.gather(2, place.expand({-1, planes.size(1), -1})) * is_inside;
  }
  void add(const at::Tensor& planes, const at::Tensor& source) const {
    planes.scatter_add_(2, place.expand_as(source), source * is_inside);
  }
};

/** What both directions go through: calls visit(corner, weight, its slope along x, along y). */
template <class Visit>
void visit_corners(const Axis& x, const Axis& y, bool is_nearest, const Visit& visit) {
  if (is_nearest) {
    const at::Tensor none = at::zeros_like(x.x);
    return visit(Corner(x.x.round(), y.x.round(), x.size, y.size), at::ones_like(x.x), none, none);
  }
  const at::Tensor left = x.x.floor(), above = y.x.floor(), right_share = x.x - left,
                   lower_share = y.x - above;
  for (const int right : {0, 1})
    for (const int lower : {0, 1}) {
      const at::Tensor along_x = right ? right_share : 1 - right_share,
                       along_y = lower ? lower_share : 1 - lower_share;
      visit(Corner(left + right, above + lower, x.size, y.size), along_x * along_y,
            right ? along_y : -along_y, lower ? along_x : -along_x);
    }
}

bool is_left_to_the_cpu(std::int64_t mode) {
  return static_cast<GridSamplerInterpolation>(mode) == GridSamplerInterpolation::Bicubic;
}

/** Positions among many elements need more digits than half types have. */
bool is_half(const at::Tensor& t) {
  return t.scalar_type() == c10::kHalf || t.scalar_type() == c10::kBFloat16;
}

bool is_nearest(std::int64_t mode) {
  return static_cast<GridSamplerInterpolation>(mode) == GridSamplerInterpolation::Nearest;
}

at::Tensor grid_sampler_2d(const at::Tensor& input, const at::Tensor& grid, std::int64_t mode,
                           std::int64_t padding, bool align_corners) {
  at::native::check_grid_sampler_common(input, grid);
  at::native::check_grid_sampler_2d(input, grid);
  if (is_left_to_the_cpu(mode))
    return OnTheCpu<at::_ops::grid_sampler_2d>::call(input, grid, mode, padding, align_corners);
  if (is_half(input))
    return at::grid_sampler_2d(input.to(c10::kFloat), grid.to(c10::kFloat), mode, padding, align_corners)
        .to(input.scalar_type());
  const auto around = static_cast<GridSamplerPadding>(padding);
  const at::Tensor planes = input.flatten(2), places = grid.flatten(1, 2);
  at::Tensor result = at::zeros({input.size(0), input.size(1), places.size(1)}, input.options());
  visit_corners(Axis(places.select(2, 0), input.size(3), around, align_corners),
                Axis(places.select(2, 1), input.size(2), around, align_corners), is_nearest(mode),
                [&](const Corner& corner, const at::Tensor& weight, const at::Tensor&, const at::Tensor&) {
                  result.addcmul_(corner.read(planes), weight.unsqueeze(1));
                });
  return result.view({input.size(0), input.size(1), grid.size(1), grid.size(2)});
}

std::tuple<at::Tensor, at::Tensor> grid_sampler_2d_backward(const at::Tensor& grad, const at::Tensor& input,
                                                            const at::Tensor& grid, std::int64_t mode,
                                                            std::int64_t padding, bool align_corners,
                                                            std::array<bool, 2> wanted) {
  if (is_left_to_the_cpu(mode))
    return OnTheCpu<at::_ops::grid_sampler_2d_backward>::call(grad, input, grid, mode, padding, align_corners,
                                                              wanted);
  if (is_half(input)) {
    auto [dinput, dgrid] =
        at::grid_sampler_2d_backward(grad.to(c10::kFloat), input.to(c10::kFloat), grid.to(c10::kFloat), mode,
                                     padding, align_corners, wanted);
    for (at::Tensor* t : {&dinput, &dgrid})
      if (t->defined()) *t = t->to(input.scalar_type());
    return {dinput, dgrid};
  }
  const auto around = static_cast<GridSamplerPadding>(padding);
  const at::Tensor planes = input.flatten(2), places = grid.flatten(1, 2), g = grad.flatten(2);
  const Axis x(places.select(2, 0), input.size(3), around, align_corners),
      y(places.select(2, 1), input.size(2), around, align_corners);
  at::Tensor dinput = wanted[0] ? at::zeros(planes.sizes(), input.options()) : at::Tensor();
  at::Tensor dx = at::zeros_like(x.x), dy = at::zeros_like(y.x);
  visit_corners(x, y, is_nearest(mode),
                [&](const Corner& corner, const at::Tensor& weight, const at::Tensor& along_x,
                    const at::Tensor& along_y) {
                  if (wanted[0]) corner.add(dinput, g * weight.unsqueeze(1));
                  if (!wanted[1] || is_nearest(mode)) return;
                  const at::Tensor moved = (corner.read(planes) * g).sum(1);
                  dx.addcmul_(moved, along_x);
                  dy.addcmul_(moved, along_y);
                });
  return {wanted[0] ? dinput.view(input.sizes()) : at::Tensor(),
          wanted[1] ? at::stack({dx * x.slope, dy * y.slope}, 2).view(grid.sizes()) : at::Tensor()};
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  Kernels m(library);
  m.impl("grid_sampler_2d", &grid_sampler_2d);
  m.impl("grid_sampler_2d_backward", &grid_sampler_2d_backward);
}

}  // namespace
}  // namespace torch_ocl
