#include "tests/cpp/ops/layouts/cases.h"

// Volumes: pooling and convolution; and the points of grids on planes and volumes.
namespace testing_support {

using namespace dlprim;

namespace {

DType place_dtype(Draw& d) {
  return d.coin() ? DType::int32 : DType::int64;
}

/** A pooling of volumes: windows of a size, or as many as asked for. */
struct Pooling {
  Pooling(Draw& d, bool adaptive)
      : x{d.size_or_none(3), d.size(5), d.size(5) + 2, d.size(5) + 2, d.size(17) + 2} {
    if (d.coin()) x.erase(0);
    for (std::size_t i = 0; i < 3; ++i) {
      geometry.kernel[i] = d.number(2, 3);
      geometry.stride[i] = d.number(1, 2);
      geometry.padding[i] = d.number(0, 1);
    }
    y = adaptive ? x : pool3d_output_shape("the case", x, geometry);
    if (!adaptive) return;
    for (int dim = x.size() - 3; dim < x.size(); ++dim) y[dim] = d.size(5);
  }
  const Tensor* places(Draw& d) const {
    return d.indices("indices", y, product(Dims(x.end() - 3, x.end())), place_dtype(d));
  }
  Dims x, y;
  Pool3dGeometry geometry{};
};

void draw_max_pool3d_forward(Draw& d) {
  const Pooling p(d, false);
  const Tensor *x = d.input("x", p.x), *y = d.output("y", p.y),
               *indices = d.coin() ? d.output("indices", p.y, place_dtype(d)) : nullptr;
  d.calls([=](Queue& queue) { max_pool3d_forward(queue, *x, p.geometry, *y, indices); });
}

void draw_max_pool3d_backward(Draw& d) {
  const Pooling p(d, false);
  const Tensor *dy = d.input("dy", p.y), *indices = p.places(d), *dx = d.output("dx", p.x);
  d.calls([=](Queue& queue) { max_pool3d_backward(queue, *dy, *indices, p.geometry, *dx); });
}

void draw_adaptive_max_pool3d_forward(Draw& d) {
  const Pooling p(d, true);
  const Tensor *x = d.input("x", p.x), *y = d.output("y", p.y),
               *indices = d.coin() ? d.output("indices", p.y, place_dtype(d)) : nullptr;
  d.calls([=](Queue& queue) { adaptive_max_pool3d_forward(queue, *x, *y, indices); });
}

void draw_adaptive_max_pool3d_backward(Draw& d) {
  const Pooling p(d, true);
  const Tensor *dy = d.input("dy", p.y), *indices = p.places(d), *dx = d.output("dx", p.x);
  d.calls([=](Queue& queue) { adaptive_max_pool3d_backward(queue, *dy, *indices, *dx); });
}

void draw_avg_pool3d_forward(Draw& d) {
  const Pooling p(d, false);
  const Tensor *x = d.input("x", p.x), *y = d.output("y", p.y);
  d.calls([=](Queue& queue) { avg_pool3d_forward(queue, *x, p.geometry, {}, *y); });
}

void draw_avg_pool3d_backward(Draw& d) {
  const Pooling p(d, false);
  const Tensor *dy = d.input("dy", p.y), *dx = d.output("dx", p.x);
  d.calls([=](Queue& queue) { avg_pool3d_backward(queue, *dy, p.geometry, {}, *dx); });
}

void draw_adaptive_avg_pool3d_forward(Draw& d) {
  const Pooling p(d, true);
  const Tensor *x = d.input("x", p.x), *y = d.output("y", p.y);
  d.calls([=](Queue& queue) { adaptive_avg_pool3d_forward(queue, *x, *y); });
}

void draw_adaptive_avg_pool3d_backward(Draw& d) {
  const Pooling p(d, true);
  const Tensor *dy = d.input("dy", p.y), *dx = d.output("dx", p.x);
  d.calls([=](Queue& queue) { adaptive_avg_pool3d_backward(queue, *dy, *dx); });
}

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
  return {{"max_pool3d_forward", draw_max_pool3d_forward},
          {"max_pool3d_backward", draw_max_pool3d_backward},
          {"adaptive_max_pool3d_forward", draw_adaptive_max_pool3d_forward},
          {"adaptive_max_pool3d_backward", draw_adaptive_max_pool3d_backward},
          {"avg_pool3d_forward", draw_avg_pool3d_forward},
          {"avg_pool3d_backward", draw_avg_pool3d_backward},
          {"adaptive_avg_pool3d_forward", draw_adaptive_avg_pool3d_forward},
          {"adaptive_avg_pool3d_backward", draw_adaptive_avg_pool3d_backward},
          {"grid_sample_forward", draw_grid_sample_forward},
          {"grid_sample_backward_input", draw_grid_sample_backward_input},
          {"grid_sample_backward_grid", draw_grid_sample_backward_grid}};
}

}  // namespace testing_support
