#include "dlprim/ops/sort/work.h"

#include "dlprim/core/checked.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/launch_ranges.h"

namespace dlprim {

void sums_before(Queue& queue, const char* file, const Defines& defines, const Tensor& counts,
                 const Tensor* totals) {
  const std::int64_t rows = counts.shape[0];
  const cl_int length = kernel_int(counts.shape[1], file, "a row of counts");
  const DeviceInfo& device = queue.device().info();
  constexpr std::int64_t few_counts = 64;  // of a row, which a work item of a GPU sums by itself
  if (device.runs_cpu_kernels() || length <= few_counts)
    return queue.launch(queue.kernel(file, "sums_before", defines), share_range(queue, rows, length), counts,
                        Optional{totals}, cl_long{rows}, length);

  constexpr std::int64_t counts_of_segment = 8192;
  const std::int64_t segments = ceil_div(length, counts_of_segment);
  const Tensor of_segments = segments > 1 ? queue.scratch({rows, segments}, DType::int32) : Tensor{};
  const int group = work_group(device);
  const cl_int segment_count = static_cast<cl_int>(segments),
               segment = static_cast<cl_int>(counts_of_segment);
  queue.launch(queue.kernel(file, "sums_of_segments", defines), Range::groups(group, rows * segments), counts,
               Optional{segments > 1 ? &of_segments : totals}, length, segment_count, segment,
               LocalMemory{static_cast<std::size_t>(group) * sizeof(cl_int)});
  if (segments == 1) return;
  sums_before(queue, file, defines, of_segments, totals);
  queue.launch(queue.kernel(file, "add_to_segments", defines), share_range(queue, rows * length), counts,
               of_segments, cl_long{rows}, length, segment_count, segment);
}

}  // namespace dlprim
