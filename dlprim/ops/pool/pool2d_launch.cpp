#include "dlprim/ops/pool/pool2d_launch.h"

#include <algorithm>

#include "dlprim/core/checked.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"
#include "dlprim/runtime/launch_ranges.h"

namespace dlprim {

PoolWindow pool_window(const char* op, const Dims& x, const Dims& y, const Pool2dGeometry* geometry) {
  PoolWindow window{};
  for (int axis = 0; axis < 2; ++axis) {
    const std::int64_t size = x[x.size() - 2 + axis], out = y[y.size() - 2 + axis];
    window.size[axis] = kernel_int(size, op, "an input");
    window.out[axis] = kernel_int(out, op, "an output");
    if (!geometry) continue;
    const auto i = static_cast<std::size_t>(axis);
    // What reaches beyond the padded input changes nothing: without it all positions fit an int, also those
    // that a window's last element has when only its first lies inside.
    const int padded =
        kernel_int(2 * (size + 2 * std::int64_t{geometry->padding[i]}), op, "twice a padded input") / 2;
    window.padding[axis] = geometry->padding[i];
    window.stride[axis] = std::min(geometry->stride[i], padded);
    window.dilation[axis] = std::min(geometry->dilation[i], padded);
    window.kernel_size[axis] = std::min(geometry->kernel[i], (padded - 1) / window.dilation[axis] + 1);
  }
  window.adaptive = geometry == nullptr;
  return window;
}

std::int64_t pool_planes(const Dims& shape) {
  return product(Dims(shape.begin(), shape.end() - 2));
}

Range pool_planes_range(Queue& queue, const Tensor& result) {
  const std::int64_t planes = pool_planes(result.shape);
  return share_range(queue, planes, result.numel() / planes);
}

Range pool_elements_range(Queue& queue, const Tensor& result) {
  return share_range(queue, result.numel());
}

Kernel& pool_kernel(Queue& queue, const char* name, DType dtype, DType places) {
  const bool exact = is_compute_dtype(dtype);
  return queue.kernel("ops/pool/pool2d.cl", name,
                      dtype_defines(dtype)
                          .set("EXACT_STORAGE", exact ? 1 : 0)
                          .set("PLACE", places == DType::int64 ? "long" : "int"));
}

void require_adaptive_shapes(const char* op, const Tensor& x, const Tensor& y) {
  require(y.rank() == x.rank() && y.rank() >= 3, op, ": shapes ", x.shape, " and ", y.shape, " do not fit");
  require_like(op, "the result", y, adaptive_pool2d_output_shape(op, x.shape, {y.size(-2), y.size(-1)}),
               x.dtype);
}

}  // namespace dlprim
