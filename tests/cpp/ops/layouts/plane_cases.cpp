#include "tests/cpp/ops/layouts/cases.h"

// Planes: pooling and resampling.
namespace testing_support {

using namespace dlprim;

namespace {

Dims planes(Draw& d) {
  Dims shape{d.size_or_none(3), d.size(5), d.size(17) + 2, d.size(33) + 2};
  if (d.coin()) shape.erase(0);
  return shape;
}

DType place_dtype(Draw& d) {
  return d.coin() ? DType::int32 : DType::int64;
}

/** A pooling of planes: windows of a size, or as many as asked for. */
struct Pooling {
  Pooling(Draw& d, bool adaptive) : x(planes(d)), y(x) {
    for (std::size_t i = 0; i < 2; ++i) {
      geometry.kernel[i] = d.number(2, 3);
      geometry.stride[i] = d.number(1, 2);
      geometry.padding[i] = d.number(0, 1);
    }
    if (!adaptive)
      y = pool2d_output_shape("the case", x, geometry);
    else
      for (const int dim : {x.size() - 2, x.size() - 1}) y[dim] = d.size(8);
  }
  const Tensor* places(Draw& d) const {
    return d.indices("indices", y, x.back() * x[x.size() - 2], place_dtype(d));
  }
  Dims x, y;
  Pool2dGeometry geometry{};
};

void draw_max_pool2d_forward(Draw& d) {
  const Pooling p(d, false);
  const Tensor *x = d.input("x", p.x), *y = d.output("y", p.y),
               *indices = d.coin() ? d.output("indices", p.y, place_dtype(d)) : nullptr;
  d.calls([=](Queue& queue) { max_pool2d_forward(queue, *x, p.geometry, *y, indices); });
}

void draw_max_pool2d_backward(Draw& d) {
  const Pooling p(d, false);
  const Tensor *dy = d.input("dy", p.y), *indices = p.places(d), *dx = d.output("dx", p.x);
  d.calls([=](Queue& queue) { max_pool2d_backward(queue, *dy, *indices, p.geometry, *dx); });
}

void draw_adaptive_max_pool2d_forward(Draw& d) {
  const Pooling p(d, true);
  const Tensor *x = d.input("x", p.x), *y = d.output("y", p.y),
               *indices = d.coin() ? d.output("indices", p.y, place_dtype(d)) : nullptr;
  d.calls([=](Queue& queue) { adaptive_max_pool2d_forward(queue, *x, *y, indices); });
}

void draw_adaptive_max_pool2d_backward(Draw& d) {
  const Pooling p(d, true);
  const Tensor *dy = d.input("dy", p.y), *indices = p.places(d), *dx = d.output("dx", p.x);
  d.calls([=](Queue& queue) { adaptive_max_pool2d_backward(queue, *dy, *indices, *dx); });
}

void draw_avg_pool2d_forward(Draw& d) {
  const Pooling p(d, false);
  const Tensor *x = d.input("x", p.x), *y = d.output("y", p.y);
  d.calls([=](Queue& queue) { avg_pool2d_forward(queue, *x, p.geometry, {}, *y); });
}

void draw_avg_pool2d_backward(Draw& d) {
  const Pooling p(d, false);
  const Tensor *dy = d.input("dy", p.y), *dx = d.output("dx", p.x);
  d.calls([=](Queue& queue) { avg_pool2d_backward(queue, *dy, p.geometry, {}, *dx); });
}

void draw_adaptive_avg_pool2d_forward(Draw& d) {
  const Pooling p(d, true);
  const Tensor *x = d.input("x", p.x), *y = d.output("y", p.y);
  d.calls([=](Queue& queue) { adaptive_avg_pool2d_forward(queue, *x, *y); });
}

void draw_adaptive_avg_pool2d_backward(Draw& d) {
  const Pooling p(d, true);
  const Tensor *dy = d.input("dy", p.y), *dx = d.output("dx", p.x);
  d.calls([=](Queue& queue) { adaptive_avg_pool2d_backward(queue, *dy, *dx); });
}

/** For `function(queue, source, geometry, result)` of what `Resampling` draws, x to y or back. */
template <class Resampling, auto function, bool is_backward>
void draw_resampling(Draw& d) {
  const Resampling r(d);
  const Tensor *source = d.input("source", is_backward ? r.y : r.x),
               *result = d.output("result", is_backward ? r.x : r.y);
  d.calls([=](Queue& queue) { function(queue, *source, r.geometry, *result); });
}

struct Padding {
  explicit Padding(Draw& d) : x(planes(d)) {
    geometry.mode = d.one_of({PadMode::reflect, PadMode::replicate});
    for (std::size_t i = 1; i < 3; ++i) {
      geometry.before[i] = d.number(-1, 2);
      geometry.after[i] = d.number(-1, 2);
    }
    y = pad_output_shape("the case", x, geometry);
  }
  Dims x, y;
  PadGeometry geometry;
};

struct Resizing {
  explicit Resizing(Draw& d) : x(planes(d)), y(x) {
    geometry.mode = d.one_of({Interpolation::nearest, Interpolation::nearest_exact, Interpolation::linear});
    for (int dim = x.size() - 2; dim < x.size(); ++dim) y[dim] = d.size(17);
  }
  Dims x, y;
  InterpolationGeometry geometry;
};

struct Blocks {
  explicit Blocks(Draw& d) : x(planes(d)), geometry{{d.number(1, 3), d.number(1, 3)}} {
    geometry.stride = {d.number(1, 2), d.number(1, 2)};
    geometry.padding = {d.number(0, 1), d.number(0, 1)};
    const auto counts = block_counts("the case", {x[x.size() - 2], x.back()}, geometry);
    const std::int64_t taps = std::int64_t{geometry.kernel_size[0]} * geometry.kernel_size[1];
    y = Dims(x.begin(), x.end() - 2);
    y[y.size() - 1] *= taps;
    y.push_back(counts[0] * counts[1]);
  }
  Dims x, y;
  BlockGeometry geometry;
};

}  // namespace

LayoutCases plane_cases() {
  return {{"max_pool2d_forward", draw_max_pool2d_forward},
          {"max_pool2d_backward", draw_max_pool2d_backward},
          {"adaptive_max_pool2d_forward", draw_adaptive_max_pool2d_forward},
          {"adaptive_max_pool2d_backward", draw_adaptive_max_pool2d_backward},
          {"avg_pool2d_forward", draw_avg_pool2d_forward},
          {"avg_pool2d_backward", draw_avg_pool2d_backward},
          {"adaptive_avg_pool2d_forward", draw_adaptive_avg_pool2d_forward},
          {"adaptive_avg_pool2d_backward", draw_adaptive_avg_pool2d_backward},
          {"pad_forward", draw_resampling<Padding, pad_forward, false>},
          {"pad_backward", draw_resampling<Padding, pad_backward, true>},
          {"interpolate_forward", draw_resampling<Resizing, interpolate_forward, false>},
          {"interpolate_backward", draw_resampling<Resizing, interpolate_backward, true>},
          {"unfold", draw_resampling<Blocks, unfold, false>},
          {"fold", draw_resampling<Blocks, fold, true>}};
}

}  // namespace testing_support
