#include "dlprim/ops/index/count.h"

#include <algorithm>

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/core/real.h"
#include "dlprim/ops/index/index_shared.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"
#include "dlprim/runtime/launch_ranges.h"

namespace dlprim {
namespace {

constexpr const char* file = "ops/index/count.cl";

/** Sums into `counts` what launch(range, partial, n, bins, local_memory...) counts of `n` in parts. */
template <class Launch>
void count_in_parts(Queue& queue, const char* op, std::int64_t elements, const Tensor& counts,
                    const Launch& launch) {
  require(counts.rank() == 1, op, ": expected counts of one dimension, got shape ", counts.shape);
  require_like(op, "the counts", counts, counts.shape, DType::int64);
  const int n = kernel_int(elements, op, "elements"), bins = kernel_int(counts.numel(), op, "bins");
  if (bins == 0) return;
  if (n == 0) return queue.zero(counts);
  // Each part counts in bins of its own. Parts are long enough that those do not outnumber what is counted.
  const DeviceInfo& device = queue.device().info();
  const bool on_cpu = device.runs_cpu_kernels();
  const std::int64_t least_part = on_cpu ? 8192 : 2048;
  const std::int64_t most = on_cpu ? device.compute_units : 2 * device.compute_units;
  const std::int64_t parts = std::clamp<std::int64_t>(n / std::max<std::int64_t>(least_part, bins), 1, most);
  const Tensor partial = queue.scratch({parts, counts.numel()}, DType::int32);
  if (on_cpu) {
    launch(Range::groups(1, parts), partial, cl_int{n}, cl_int{bins});
  } else {
    const std::size_t own = bins <= MOST_LOCAL_BINS ? static_cast<std::size_t>(bins) : 1;
    launch(Range::groups(work_group(device), parts), partial, cl_int{n}, cl_int{bins},
           LocalMemory{own * sizeof(cl_int)});
  }
  queue.launch(queue.kernel(file, "sum_counts"), share_range(queue, bins, parts), partial, counts,
               static_cast<cl_int>(parts), cl_int{bins});
}

}  // namespace

void count_places(Queue& queue, const Tensor& places, const Tensor& counts) {
  ENTER(count_places, queue, places, counts);
  constexpr const char* op = "count_places";
  require_like(op, "the places", places, places.shape, DType::int64);
  count_in_parts(queue, op, places.numel(), counts,
                 [&](const Range& range, const Tensor& partial, const auto&... sizes) {
                   queue.launch(queue.kernel(file, "count_places"), range, places, partial, sizes...);
                 });
}

void count_in_bins(Queue& queue, const Tensor& x, double low, double high, const Tensor& counts) {
  ENTER(count_in_bins, queue, x, low, high, counts);
  constexpr const char* op = "count_in_bins";
  require_floating(x.dtype, queue.device(), op);
  require<TypeError>(is_compute_dtype(x.dtype), op, ": expected float32 or float64, got ", name(x.dtype));
  require_contiguous(op, "the elements", x);
  count_in_parts(queue, op, x.numel(), counts,
                 [&](const Range& range, const Tensor& partial, const auto&... sizes) {
                   with_real(x.dtype, [&](auto zero) {
                     using Real = decltype(zero);
                     const auto from = static_cast<Real>(low), to = static_cast<Real>(high);
                     queue.launch(queue.kernel(file, "count_in_bins", dtype_defines(x.dtype)), range, x,
                                  partial, from, to, static_cast<Real>(to - from), sizes...);
                   });
                 });
}

}  // namespace dlprim
