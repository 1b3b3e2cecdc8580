#include "dlprim/ops/index/count.h"

#include <algorithm>

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/launch_ranges.h"

namespace dlprim {

void count_places(Queue& queue, const Tensor& places, const Tensor& counts) {
  ENTER(count_places, queue, places, counts);
  constexpr const char* op = "count_places";
  constexpr const char* file = "ops/index/count.cl";
  require_like(op, "the places", places, places.shape, DType::int64);
  require(counts.rank() == 1, op, ": expected counts of one dimension, got shape ", counts.shape);
  require_like(op, "the counts", counts, counts.shape, DType::int64);
  const int n = kernel_int(places.numel(), op, "places"), bins = kernel_int(counts.numel(), op, "bins");
  if (bins == 0) return;
  if (n == 0) return queue.zero(counts);
  // Each part counts in bins of its own. Parts are long enough that those do not outnumber what is counted.
  constexpr std::int64_t least_part = 8192;
  const DeviceInfo& device = queue.device().info();
  const std::int64_t most = device.runs_cpu_kernels() ? device.compute_units : 4 * device.compute_units;
  const std::int64_t parts = std::clamp<std::int64_t>(n / std::max<std::int64_t>(least_part, bins), 1, most);
  const Tensor partial = queue.scratch({parts, counts.numel()}, DType::int32);
  queue.zero(partial);
  const int items = device.runs_cpu_kernels() ? 1 : work_group(device);
  queue.launch(queue.kernel(file, "count_places"), Range::groups(items, parts), places, partial, cl_int{n},
               cl_int{bins});
  queue.launch(queue.kernel(file, "sum_counts"), share_range(queue, bins, parts), partial, counts,
               static_cast<cl_int>(parts), cl_int{bins});
}

}  // namespace dlprim
