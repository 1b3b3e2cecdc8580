#include "tests/cpp/ops/layouts/cases.h"

// Volumes: pooling and convolution; and the points of grids on planes and volumes.
namespace testing_support {

using namespace dlprim;

namespace {

/** Points in and around planes or volumes. */
struct Sampling {
  explicit Sampling(Draw& d) : dtype(d.floating()) {
    const int axes = d.number(2, 3);
    geometry.interpolation =
        axes == 3
            ? d.one_of({GridInterpolation::linear, GridInterpolation::nearest})
            : d.one_of({GridInterpolation::linear, GridInterpolation::nearest, GridInterpolation::cubic});
    geometry.padding = d.one_of({GridPadding::zeros, GridPadding::border, GridPadding::reflection});
    geometry.align_corners = d.coin();
    x = {d.size_or_none(2), d.size(17)};
    points = {x[0]};
    for (int i = 0; i < axes; ++i) {
      x.push_back(d.size(8));
      points.push_back(d.size_or_none(8));
    }
    points.push_back(axes);
    y = grid_sample_output_shape("the case", x, points, geometry);
    grid = d.input("grid", points, dtype);
  }
  DType dtype;
  GridGeometry geometry;
  Dims x, points, y;
  const Tensor* grid;
};

void draw_grid_sample_forward(Draw& d) {
  const Sampling s(d);
  const Tensor *x = d.input("x", s.x, s.dtype), *y = d.output("y", s.y, s.dtype);
  d.calls([=](Queue& queue) { grid_sample_forward(queue, *x, *s.grid, s.geometry, *y); });
}

void draw_grid_sample_backward_input(Draw& d) {
  const Sampling s(d);
  const Tensor *dy = d.input("dy", s.y, s.dtype), *dx = d.output("dx", s.x, s.dtype);
  d.calls([=](Queue& queue) { grid_sample_backward_input(queue, *dy, *s.grid, s.geometry, *dx); });
}

void draw_grid_sample_backward_grid(Draw& d) {
  const Sampling s(d);
  const Tensor *dy = d.input("dy", s.y, s.dtype), *x = d.input("x", s.x, s.dtype),
               *dgrid = d.output("dgrid", s.points, s.dtype);
  d.calls([=](Queue& queue) { grid_sample_backward_grid(queue, *dy, *x, *s.grid, s.geometry, *dgrid); });
}

}  // namespace

LayoutCases volume_cases() {
  return {{"grid_sample_forward", draw_grid_sample_forward},
          {"grid_sample_backward_input", draw_grid_sample_backward_input},
          {"grid_sample_backward_grid", draw_grid_sample_backward_grid}};
}

}  // namespace testing_support
