#include "dlprim/ops/resample/resample_launch.h"

#include "dlprim/core/checked.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"
#include "dlprim/runtime/launch_ranges.h"

namespace dlprim {

Kernel& resample_kernel(Queue& queue, const char* name, DType dtype) {
  return queue.kernel("ops/resample/resample.cl", name, dtype_defines(dtype));
}

Range rows_range(const Queue& queue, std::int64_t rows, std::int64_t columns) {
  const DeviceInfo& info = queue.device().info();
  const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  if (info.runs_cpu_kernels()) return {{1, size(cpu_shares(info, rows, columns)), 1}, {1, 1, 1}};
  constexpr std::int64_t most_groups = 32768;  // in the second dimension, below every device's limit
  const std::int64_t group = std::min<int>(MAX_GROUP, info.max_work_group);
  std::int64_t width = 1;
  while (width < columns && width < 64 && 2 * width <= group) width *= 2;
  const std::int64_t height = group / width;
  return {{size(columns), size(std::min(rows, most_groups * height)), 1}, {size(width), size(height), 1}};
}

std::array<cl_int, 3> spatial_sizes(const char* op, const Dims& shape, int axes) {
  std::array<cl_int, 3> sizes{1, 1, 1};
  for (int axis = 3 - axes; axis < 3; ++axis) {
    const std::int64_t size = shape[shape.size() - 3 + axis];
    sizes[static_cast<std::size_t>(axis)] = kernel_int(size, op, "a size");
  }
  return sizes;
}

}  // namespace dlprim
