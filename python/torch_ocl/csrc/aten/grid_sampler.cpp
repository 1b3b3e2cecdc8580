#include "dlprim/ops/resample/grid_sample.h"

#include <ATen/ATen.h>
#include <ATen/native/GridSamplerUtils.h>
#include <torch/library.h>

#include "arguments.h"
#include "aten/kernels.h"

/** \file grid_sample over planes and volumes. */

namespace torch_ocl {
namespace {

dlprim::GridGeometry geometry_of(std::int64_t mode, std::int64_t padding, bool align_corners) {
  using at::native::GridSamplerInterpolation;
  using at::native::GridSamplerPadding;
  dlprim::GridGeometry g;
  switch (static_cast<GridSamplerInterpolation>(mode)) {
    case GridSamplerInterpolation::Bilinear:
      g.interpolation = dlprim::GridInterpolation::linear;
      break;
    case GridSamplerInterpolation::Nearest:
      g.interpolation = dlprim::GridInterpolation::nearest;
      break;
    case GridSamplerInterpolation::Bicubic:
      g.interpolation = dlprim::GridInterpolation::cubic;
      break;
  }
  switch (static_cast<GridSamplerPadding>(padding)) {
    case GridSamplerPadding::Zeros:
      g.padding = dlprim::GridPadding::zeros;
      break;
    case GridSamplerPadding::Border:
      g.padding = dlprim::GridPadding::border;
      break;
    case GridSamplerPadding::Reflection:
      g.padding = dlprim::GridPadding::reflection;
      break;
  }
  g.align_corners = align_corners;
  return g;
}

at::Tensor grid_sampler(const at::Tensor& input, const at::Tensor& grid, std::int64_t mode,
                        std::int64_t padding, bool align_corners) {
  at::native::check_grid_sampler_common(input, grid);
  const dlprim::GridGeometry geometry = geometry_of(mode, padding, align_corners);
  const dlprim::Dims shape = dlprim::grid_sample_output_shape("grid_sampler", dims_of(input.sizes()),
                                                              dims_of(grid.sizes()), geometry);
  const at::Tensor x = input.contiguous(), points = grid.contiguous();
  const at::Tensor y = at::empty(sizes_of(shape), x.options());
  if (y.numel() > 0)
    dlprim::grid_sample_forward(device_under(x).queue(), raw(x), raw(points), geometry, raw(y));
  return y;
}

std::tuple<at::Tensor, at::Tensor> grid_sampler_backward(const at::Tensor& grad, const at::Tensor& input,
                                                         const at::Tensor& grid, std::int64_t mode,
                                                         std::int64_t padding, bool align_corners,
                                                         std::array<bool, 2> wanted) {
  if (grad.numel() == 0)
    return {wanted[0] ? at::zeros_like(input) : at::Tensor(),
            wanted[1] ? at::zeros_like(grid) : at::Tensor()};
  const dlprim::GridGeometry geometry = geometry_of(mode, padding, align_corners);
  const at::Tensor g = grad.contiguous(), x = input.contiguous(), points = grid.contiguous();
  dlprim::Queue& queue = device_under(x).queue();
  at::Tensor dx, dgrid;
  if (wanted[0]) {
    dx = at::empty_like(x);
    dlprim::grid_sample_backward_input(queue, raw(g), raw(points), geometry, raw(dx));
  }
  if (wanted[1]) {
    dgrid = at::empty_like(points);
    dlprim::grid_sample_backward_grid(queue, raw(g), raw(x), raw(points), geometry, raw(dgrid));
  }
  return {dx, dgrid};
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  Kernels m(library);
  m.impl("grid_sampler_2d", &grid_sampler);
  m.impl("grid_sampler_2d_backward", &grid_sampler_backward);
  m.impl("grid_sampler_3d", &grid_sampler);
  m.impl("grid_sampler_3d_backward", &grid_sampler_backward);
}

}  // namespace
}  // namespace torch_ocl
