#include "dlprim/ops/pool/pool_launch.h"

#include <algorithm>

#include "dlprim/core/checked.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"
#include "dlprim/runtime/launch_ranges.h"

namespace dlprim {

Tensor as_volumes(const Tensor& t, int axes) {
  const Dims before(t.shape.begin(), t.shape.end() - axes);
  return t.reshaped({product(before), axes == 3 ? t.size(-3) : 1, t.size(-2), t.size(-1)});
}

Pool3dGeometry over_volumes(const Pool2dGeometry& g) {
  const auto with_depth = [](int depth, const std::array<int, 2>& of) {
    return std::array<int, 3>{depth, of[0], of[1]};
  };
  return {with_depth(1, g.kernel), with_depth(1, g.stride), with_depth(0, g.padding),
          with_depth(1, g.dilation), g.ceil_mode};
}

PoolWindow pool_window(const char* op, const Dims& x, const Dims& y, const Pool3dGeometry* geometry) {
  PoolWindow window{};
  for (std::size_t i = 0; i < 3; ++i) {
    const int dim = static_cast<int>(i) + 1, axis = i == 0 ? POOL_DEPTH : dim - 2;
    window.size[axis] = kernel_int(x[dim], op, "an input");
    window.out[axis] = kernel_int(y[dim], op, "an output");
    if (!geometry) continue;
    // A part of a window beyond the padded input changes nothing: without it all positions fit an int, also
    // those that a window's last element has when only its first lies inside.
    const int padded =
        kernel_int(2 * (x[dim] + 2 * std::int64_t{geometry->padding[i]}), op, "twice a padded input") / 2;
    window.padding[axis] = geometry->padding[i];
    window.stride[axis] = std::min(geometry->stride[i], padded);
    window.dilation[axis] = std::min(geometry->dilation[i], padded);
    window.kernel_size[axis] = std::min(geometry->kernel[i], (padded - 1) / window.dilation[axis] + 1);
  }
  window.adaptive = geometry == nullptr;
  return window;
}

bool has_depth(const PoolWindow& w) {
  return w.size[POOL_DEPTH] > 1 || w.out[POOL_DEPTH] > 1 || (!w.adaptive && w.kernel_size[POOL_DEPTH] > 1);
}

Range pool_volumes_range(Queue& queue, const Tensor& result) {
  const std::int64_t volumes = result.shape[0];
  return share_range(queue, volumes, result.numel() / volumes);
}

Range pool_elements_range(Queue& queue, const Tensor& result) {
  return share_range(queue, result.numel());
}

namespace {

/** The least value of a dtype, as kernels write it. */
const char* least_of(DType dtype) {
  switch (dtype) {
    case DType::uint8:
      return "0";
    case DType::int8:
      return "SCHAR_MIN";
    case DType::int16:
      return "SHRT_MIN";
    case DType::int32:
      return "INT_MIN";
    case DType::int64:
      return "LONG_MIN";
    default:
      return "-INFINITY";
  }
}

}  // namespace

Kernel& pool_kernel(Queue& queue, const char* name, const PoolWindow& window, DType dtype, DType places) {
  const bool exact = is_compute_dtype(dtype);
  return queue.kernel("ops/pool/pool.cl", name,
                      dtype_defines(dtype)
                          .set("EXACT_STORAGE", exact ? 1 : 0)
                          .set("WHOLE", is_integral(dtype) ? 1 : 0)
                          .set("LEAST", least_of(dtype))
                          .set("PLACE", places == DType::int64 ? "long" : "int")
                          .set("HAS_DEPTH", has_depth(window) ? 1 : 0));
}

void require_ordered(DType dtype, const Device& device, const char* op) {
  if (is_integral(dtype) && dtype != DType::boolean) return;
  require<TypeError>(is_floating(dtype), op, ": expected a dtype of real numbers, got ", name(dtype));
  require_floating(dtype, device, op);
}

void require_adaptive_shapes(const char* op, const Tensor& x, const Tensor& y, int axes) {
  require(y.rank() == x.rank() && y.rank() > axes, op, ": shapes ", x.shape, " and ", y.shape, " do not fit");
  require_like(op, "the result", y,
               axes == 2 ? adaptive_pool2d_output_shape(op, x.shape, {y.size(-2), y.size(-1)})
                         : adaptive_pool3d_output_shape(op, x.shape, {y.size(-3), y.size(-2), y.size(-1)}),
               x.dtype);
}

}  // namespace dlprim
