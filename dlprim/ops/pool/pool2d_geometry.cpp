#include "dlprim/ops/pool/pool2d_geometry.h"

#include "dlprim/core/checked.h"

namespace dlprim {
namespace {

constexpr const char* axis_name[2] = {"height", "width"};

// Kernels count the elements of a plane in 32 bits.
void require_plane(const char* op, const Dims& shape) {
  kernel_int(product({shape[shape.size() - 2], shape.back()}), op, "a plane");
}

void require_planes(const char* op, const Dims& x) {
  require(x.size() == 3 || x.size() == 4, op, ": expected an input of shape [N, C, H, W] or [C, H, W], got ",
          x);
  // Only the batch may be empty, as in PyTorch.
  for (int i = x.size() - 3; i < x.size(); ++i)
    require(x[i] > 0, op, ": expected an input with non-zero sizes other than the batch's, got ", x);
  require_plane(op, x);
}

void require_geometry(const char* op, const Pool2dGeometry& g) {
  for (std::size_t i = 0; i < 2; ++i) {
    require(g.kernel[i] > 0, op, ": kernel ", axis_name[i], " should be greater than zero, got ",
            g.kernel[i]);
    require(g.stride[i] > 0, op, ": stride should be greater than zero, got ", g.stride[i], " for the ",
            axis_name[i]);
    require(g.dilation[i] > 0, op, ": dilation should be greater than zero, got ", g.dilation[i], " for the ",
            axis_name[i]);
    require(g.padding[i] >= 0, op, ": padding must be non-negative, got ", g.padding[i], " for the ",
            axis_name[i]);
    require(g.padding[i] <= g.kernel[i] / 2, op,
            ": padding should be at most half of the kernel size, got padding ", g.padding[i],
            " and kernel size ", g.kernel[i], " for the ", axis_name[i]);
  }
}

std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0);
}

std::int64_t pooled_size(std::int64_t size, const Pool2dGeometry& g, std::size_t axis) {
  const std::int64_t stride = g.stride[axis], padding = g.padding[axis];
  const std::int64_t reach = static_cast<std::int64_t>(g.dilation[axis]) * (g.kernel[axis] - 1) + 1;
  std::int64_t out = floor_divide(size + 2 * padding - reach + (g.ceil_mode ? stride - 1 : 0), stride) + 1;
  if (g.ceil_mode && (out - 1) * stride >= size + padding)
    --out;  // the last window would start in the right padding
  return out;
}

}  // namespace

Dims pool2d_output_shape(const char* op, const Dims& x, const Pool2dGeometry& geometry) {
  require_planes(op, x);
  require_geometry(op, geometry);
  Dims y = x;
  for (int axis = 0; axis < 2; ++axis) {
    const int dim = x.size() - 2 + axis;
    y[dim] = pooled_size(x[dim], geometry, static_cast<std::size_t>(axis));
  }
  require(y[y.size() - 1] > 0 && y[y.size() - 2] > 0, op, ": input of shape ", x,
          " gives an output of shape ", y, ", which is too small");
  require_plane(op, y);
  return y;
}

Dims adaptive_pool2d_output_shape(const char* op, const Dims& x, const std::array<std::int64_t, 2>& size) {
  require_planes(op, x);
  Dims y = x;
  for (int axis = 0; axis < 2; ++axis) {
    const std::int64_t out = size[static_cast<std::size_t>(axis)];
    require(out >= 0, op, ": output size must be non-negative, got ", out, " for the ", axis_name[axis]);
    y[x.size() - 2 + axis] = out;
  }
  require_plane(op, y);
  return y;
}

}  // namespace dlprim
