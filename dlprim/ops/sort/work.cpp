#include "dlprim/ops/sort/work.h"

#include "dlprim/core/checked.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/launch_ranges.h"

namespace dlprim {

void sums_before(Queue& queue, const char* file, const Defines& defines, const Tensor& counts,
                 const Tensor* totals) {
  const std::int64_t rows = counts.shape[0];
  const cl_int length = kernel_int(counts.shape[1], file, "a row of counts");
  Kernel& kernel = queue.kernel(file, "sums_before", defines);
  const DeviceInfo& device = queue.device().info();
  if (device.runs_cpu_kernels())
    return queue.launch(kernel, Range::linear(rows, 1), counts, Optional{totals}, length);
  const int group = work_group(device);
  queue.launch(kernel, Range::groups(group, rows), counts, Optional{totals}, length,
               LocalMemory{static_cast<std::size_t>(group) * sizeof(cl_int)});
}

}  // namespace dlprim
