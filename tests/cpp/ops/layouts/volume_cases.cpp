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

/** A convolution that fits together. */
struct Convolution {
  explicit Convolution(Draw& d) {
    geometry.groups = d.number(0, 3) ? 1 : 2;
    const std::int64_t in = d.size(5), out = d.size(5) * geometry.groups;
    for (std::size_t i = 0; i < 3; ++i) {
      geometry.stride[i] = d.number(1, 2);
      geometry.padding[i] = d.number(0, 1);
      geometry.dilation[i] = d.number(1, 2);
    }
    x = {d.size_or_none(2), in * geometry.groups, d.size(3) + 4, d.size(5) + 4, d.size(8) + 4};
    weight = {out, in, d.number(1, 3), d.number(1, 3), d.number(1, 3)};
    y = conv3d_output_shape(x, weight, geometry);
  }
  Conv3dGeometry geometry;
  Dims x, weight, y;
};

void draw_conv3d_forward(Draw& d) {
  const Convolution c(d);
  const Tensor *x = d.input("x", c.x), *weight = d.input("weight", c.weight),
               *bias = d.coin() ? d.input("bias", {c.weight[0]}) : nullptr, *y = d.output("y", c.y);
  d.calls([=](Queue& queue) { conv3d_forward(queue, *x, *weight, bias, c.geometry, *y); });
}

void draw_conv3d_backward_data(Draw& d) {
  const Convolution c(d);
  const Tensor *dy = d.input("dy", c.y), *weight = d.input("weight", c.weight), *dx = d.output("dx", c.x);
  d.calls([=](Queue& queue) { conv3d_backward_data(queue, *dy, *weight, c.geometry, *dx); });
}

void draw_conv3d_backward_weight(Draw& d) {
  const Convolution c(d);
  const Tensor *dy = d.input("dy", c.y), *x = d.input("x", c.x), *dw = d.output("dw", c.weight);
  d.calls([=](Queue& queue) { conv3d_backward_weight(queue, *dy, *x, c.geometry, *dw); });
}

void draw_conv3d_backward_bias(Draw& d) {
  const Convolution c(d);
  const Tensor *dy = d.input("dy", c.y), *db = d.output("db", {c.y[1]});
  d.calls([=](Queue& queue) { conv3d_backward_bias(queue, *dy, *db); });
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
          {"conv3d_forward", draw_conv3d_forward},
          {"conv3d_backward_data", draw_conv3d_backward_data},
          {"conv3d_backward_weight", draw_conv3d_backward_weight},
          {"conv3d_backward_bias", draw_conv3d_backward_bias},
          {"grid_sample_forward", draw_grid_sample_forward},
          {"grid_sample_backward_input", draw_grid_sample_backward_input},
          {"grid_sample_backward_grid", draw_grid_sample_backward_grid}};
}

}  // namespace testing_support
