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
  const std::int64_t columns = result.size(-1), rows = result.numel() / columns;
  with_real(result.dtype, [&](auto zero) {
    queue.launch(resample_kernel(queue, kernel, result.dtype), rows_range(queue, rows, columns), source,
                 result, cl_long{rows}, kernel_interpolation<decltype(zero)>(op, x, y, g));
  });
}

/** The taps of `columns` for each work item of a range, which kernels of shape cpu fill in. */
struct ColumnTaps {
  Tensor firsts, weights;

  ColumnTaps(Queue& queue, const Range& range, std::int64_t columns, DType dtype)
      : firsts(queue.scratch({items(range), columns}, DType::int32)),
        weights(queue.scratch({items(range), columns}, compute_dtype(dtype))) {}

  static std::int64_t items(const Range& range) { return static_cast<std::int64_t>(range.global[1]); }
};

void launch_by_table(Queue& queue, const Tensor& x, const InterpolationGeometry& g, const Tensor& y) {
  const std::int64_t columns = y.size(-1), rows = y.numel() / columns;
  const Range range = rows_range(queue, rows, columns);
  const ColumnTaps taps(queue, range, columns, x.dtype);
  with_real(x.dtype, [&](auto zero) {
    queue.launch(resample_kernel(queue, "interpolate_by_table", x.dtype), range, x, y, taps.firsts,
                 taps.weights, cl_long{rows},
                 kernel_interpolation<decltype(zero)>("interpolate", x.shape, y.shape, g));
  });
}

/** The planes of a tensor of which `axes` are interpolated. */
std::int64_t planes_of(const Tensor& t, int axes) {
  return product(Dims(t.shape.begin(), t.shape.end() - axes));
}

void launch_of_planes(Queue& queue, const char* op, const Tensor& dy, const InterpolationGeometry& g,
                      const Tensor& dx) {
  const std::int64_t planes = planes_of(dx, g.axes);
  const Range range = rows_range(queue, planes, (dy.numel() + dx.numel()) / planes);
  const ColumnTaps taps(queue, range, dy.size(-1), dx.dtype);
  const Tensor sums = queue.scratch({ColumnTaps::items(range), dx.size(-1)}, dx.dtype);
  with_real(dx.dtype, [&](auto zero) {
    queue.launch(resample_kernel(queue, "interpolate_backward_of_planes", dx.dtype), range, dy, dx,
                 taps.firsts, taps.weights, sums, cl_long{planes},
                 kernel_interpolation<decltype(zero)>(op, dx.shape, dy.shape, g));
  });
}

}  // namespace

void interpolate_forward(Queue& queue, const Tensor& x, const InterpolationGeometry& geometry,
                         const Tensor& y) {
  ENTER(interpolate_forward, queue, x, geometry, y);
  check("interpolate", queue, x, geometry, y);
  if (y.numel() == 0) return;
  if (queue.device().info().runs_cpu_kernels()) return launch_by_table(queue, x, geometry, y);
  launch(queue, "interpolate", "interpolate", x, y, x.shape, y.shape, geometry);
}

void interpolate_backward(Queue& queue, const Tensor& dy, const InterpolationGeometry& geometry,
                          const Tensor& dx) {
  ENTER(interpolate_backward, queue, dy, geometry, dx);
  constexpr const char* op = "interpolate backward";
  check(op, queue, dx, geometry, dy);
  if (dx.numel() == 0) return;
  // A core takes whole planes; 16-bit sums would be rounded with each addition.
  const DeviceInfo& device = queue.device().info();
  if (device.runs_cpu_kernels() && is_compute_dtype(dx.dtype) &&
      planes_of(dx, geometry.axes) >= device.compute_units)
    return launch_of_planes(queue, op, dy, geometry, dx);
  launch(queue, op, "interpolate_backward", dy, dx, dx.shape, dy.shape, geometry);
}

}  // namespace dlprim
