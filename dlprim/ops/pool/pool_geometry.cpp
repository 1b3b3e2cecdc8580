#include "dlprim/ops/pool/pool_geometry.h"

#include "dlprim/core/checked.h"

namespace dlprim {
namespace {

/** The name of one of the last `axes` dimensions. */
const char* axis_name(std::size_t axes, std::size_t axis) {
  static constexpr const char* names[] = {"depth", "height", "width"};
  return names[3 - axes + axis];
}

// Kernels count the elements of a plane, or a volume, in 32 bits.
void require_plane(const char* op, const Dims& shape, int axes) {
  kernel_int(product(Dims(shape.end() - axes, shape.end())), op, axes == 2 ? "a plane" : "a volume");
}

void require_planes(const char* op, const Dims& x, int axes) {
  require(x.size() == axes + 1 || x.size() == axes + 2, op, ": expected an input of shape ",
          axes == 2 ? "[N, C, H, W] or [C, H, W]" : "[N, C, D, H, W] or [C, D, H, W]", ", got ", x);
  // Only the batch may be empty, as in PyTorch.
  for (int i = x.size() - axes - 1; i < x.size(); ++i)
    require(x[i] > 0, op, ": expected an input with non-zero sizes other than the batch's, got ", x);
  require_plane(op, x, axes);
}

template <std::size_t axes>
void require_geometry(const char* op, const PoolGeometry<axes>& g) {
  for (std::size_t i = 0; i < axes; ++i) {
    const char* const axis = axis_name(axes, i);
    require(g.kernel[i] > 0, op, ": kernel ", axis, " should be greater than zero, got ", g.kernel[i]);
    require(g.stride[i] > 0, op, ": stride should be greater than zero, got ", g.stride[i], " for the ",
            axis);
    require(g.dilation[i] > 0, op, ": dilation should be greater than zero, got ", g.dilation[i], " for the ",
            axis);
    require(g.padding[i] >= 0, op, ": padding must be non-negative, got ", g.padding[i], " for the ", axis);
    require(g.padding[i] <= g.kernel[i] / 2, op,
            ": padding should be at most half of the kernel size, got padding ", g.padding[i],
            " and kernel size ", g.kernel[i], " for the ", axis);
  }
}

std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0);
}

template <std::size_t axes>
std::int64_t pooled_size(std::int64_t size, const PoolGeometry<axes>& g, std::size_t axis) {
  const std::int64_t stride = g.stride[axis], padding = g.padding[axis];
  const std::int64_t reach = static_cast<std::int64_t>(g.dilation[axis]) * (g.kernel[axis] - 1) + 1;
  std::int64_t out = floor_divide(size + 2 * padding - reach + (g.ceil_mode ? stride - 1 : 0), stride) + 1;
  if (g.ceil_mode && (out - 1) * stride >= size + padding)
    --out;  // the last window would start in the right padding
  return out;
}

template <std::size_t axes>
Dims output_shape(const char* op, const Dims& x, const PoolGeometry<axes>& geometry) {
  constexpr int count = axes;
  require_planes(op, x, count);
  require_geometry(op, geometry);
  Dims y = x;
  for (int axis = 0; axis < count; ++axis) {
    const int dim = x.size() - count + axis;
    y[dim] = pooled_size(x[dim], geometry, static_cast<std::size_t>(axis));
  }
  for (int dim = x.size() - count; dim < x.size(); ++dim)
    require(y[dim] > 0, op, ": input of shape ", x, " gives an output of shape ", y, ", which is too small");
  require_plane(op, y, count);
  return y;
}

template <std::size_t axes>
Dims adaptive_output_shape(const char* op, const Dims& x, const std::array<std::int64_t, axes>& size) {
  constexpr int count = axes;
  require_planes(op, x, count);
  Dims y = x;
  for (std::size_t i = 0; i < axes; ++i) {
    require(size[i] >= 0, op, ": output size must be non-negative, got ", size[i], " for the ",
            axis_name(axes, i));
    y[x.size() - count + static_cast<int>(i)] = size[i];
  }
  require_plane(op, y, count);
  return y;
}

}  // namespace

Dims pool2d_output_shape(const char* op, const Dims& x, const Pool2dGeometry& geometry) {
  return output_shape(op, x, geometry);
}

Dims pool3d_output_shape(const char* op, const Dims& x, const Pool3dGeometry& geometry) {
  return output_shape(op, x, geometry);
}

Dims adaptive_pool2d_output_shape(const char* op, const Dims& x, const std::array<std::int64_t, 2>& size) {
  return adaptive_output_shape(op, x, size);
}

Dims adaptive_pool3d_output_shape(const char* op, const Dims& x, const std::array<std::int64_t, 3>& size) {
  return adaptive_output_shape(op, x, size);
}

}  // namespace dlprim
