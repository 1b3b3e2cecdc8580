#include "dlprim/ops/sort/work.h"

#include <algorithm>

#include "dlprim/core/checked.h"
#include "dlprim/runtime/device.h"

namespace dlprim {
namespace {

constexpr int largest_group = 256;
constexpr std::int64_t least_share =
    4096;  // elements; below it starting a work item costs more than its work

}  // namespace

Range share_range(const Queue& queue, std::int64_t parts, std::int64_t cost) {
  const DeviceInfo& info = queue.device().info();
  if (!info.runs_cpu_kernels()) return Range::linear(parts, std::min(largest_group, info.max_work_group));
  const std::int64_t by_size = parts * std::max<std::int64_t>(cost, 1) / least_share + 1;
  return Range::linear(std::min<std::int64_t>({by_size, 8 * info.compute_units, parts}), 1);
}

int local_group(const Queue& queue) {
  int group = 1;
  while (2 * group <= std::min(largest_group, queue.device().info().max_work_group)) group *= 2;
  return group;
}

void sums_before(Queue& queue, const char* file, const Defines& defines, const Tensor& counts,
                 const Tensor* totals) {
  const std::int64_t rows = counts.shape[0];
  const cl_int length = kernel_int(counts.shape[1], file, "a row of counts");
  Kernel& kernel = queue.kernel(file, "sums_before", defines);
  if (queue.device().info().runs_cpu_kernels())
    return queue.launch(kernel, Range::linear(rows, 1), counts, Optional{totals}, length);
  const int group = local_group(queue);
  queue.launch(kernel, Range::groups(group, rows), counts, Optional{totals}, length,
               LocalMemory{static_cast<std::size_t>(group) * sizeof(cl_int)});
}

}  // namespace dlprim
