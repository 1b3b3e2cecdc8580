#include "dlprim/ops/resample/interpolate.h"

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/core/real.h"
#include "dlprim/ops/resample/resample_launch.h"
#include "dlprim/ops/resample/resample_shared.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"

namespace dlprim {
namespace {

// In the type that PyTorch computes it in, so that positions between two elements round to the same one.
template <class Real>
Real scale_of(const InterpolationGeometry& g, std::size_t axis, cl_int size, cl_int out) {
  if (g.align_corners) return out > 1 ? static_cast<Real>(size - 1) / static_cast<Real>(out - 1) : Real(0);
  if (const auto& factor = g.scale_factors[axis]) return static_cast<Real>(1 / *factor);
  return static_cast<Real>(size) / static_cast<Real>(out);
}

template <class Real>
KernelInterpolation<Real> kernel_interpolation(const char* op, const Dims& x, const Dims& y,
                                               const InterpolationGeometry& g) {
  const auto size = spatial_sizes(op, x, g.axes), out = spatial_sizes(op, y, g.axes);
  const bool linear = g.mode == Interpolation::linear;
  KernelInterpolation<Real> p{};
  p.center = (linear && !g.align_corners) || g.mode == Interpolation::nearest_exact ? Real(0.5) : Real(0);
  for (std::size_t i = 0; i < 3; ++i) {
    const bool interpolated = i >= 3 - static_cast<std::size_t>(g.axes);
    p.size[i] = size[i];
    p.out[i] = out[i];
    p.linear[i] = linear && interpolated;
    p.scale[i] = interpolated ? scale_of<Real>(g, i, size[i], out[i]) : Real(1);
    p.inverse[i] = p.scale[i] == 0 ? Real(0) : 1 / p.scale[i];
  }
  return p;
}

void check(const char* op, const Queue& queue, const Tensor& x, const InterpolationGeometry& g,
           const Tensor& y) {
  require(g.axes >= 1 && g.axes <= 3 && x.rank() >= g.axes, op, ": cannot interpolate ", g.axes,
          " dimensions of an input of shape ", x.shape);
  require(y.rank() == x.rank(), op, ": shapes ", x.shape, " and ", y.shape, " do not fit");
  Dims expected = x.shape;
  for (int d = x.rank() - g.axes; d < x.rank(); ++d) {
    require(x.shape[d] > 0 && y.shape[d] > 0, op,
            ": input and output sizes should be greater than 0, but got input ", x.shape, " and output ",
            y.shape);
    expected[d] = y.shape[d];
  }
  require_floating(x.dtype, queue.device(), op);
  require_contiguous(op, "the input or its gradient", x);
  require_like(op, "the result or its gradient", y, expected, x.dtype);
}

void launch(Queue& queue, const char* op, const char* kernel, const Tensor& source, const Tensor& result,
            const Dims& x, const Dims& y, const InterpolationGeometry& g) {
  if (result.numel() == 0) return;
  const std::int64_t columns = result.size(-1), rows = result.numel() / columns;
  with_real(result.dtype, [&](auto zero) {
    queue.launch(resample_kernel(queue, kernel, result.dtype), rows_range(queue, rows, columns), source,
                 result, cl_long{rows}, kernel_interpolation<decltype(zero)>(op, x, y, g));
  });
}

}  // namespace

void interpolate_forward(Queue& queue, const Tensor& x, const InterpolationGeometry& geometry,
                         const Tensor& y) {
  ENTER(interpolate_forward, queue, x, geometry, y);
  check("interpolate", queue, x, geometry, y);
  launch(queue, "interpolate", "interpolate", x, y, x.shape, y.shape, geometry);
}

void interpolate_backward(Queue& queue, const Tensor& dy, const InterpolationGeometry& geometry,
                          const Tensor& dx) {
  ENTER(interpolate_backward, queue, dy, geometry, dx);
  constexpr const char* op = "interpolate backward";
  check(op, queue, dx, geometry, dy);
  launch(queue, op, "interpolate_backward", dy, dx, dx.shape, dy.shape, geometry);
}

}  // namespace dlprim
