#include "dlprim/ops/random/multinomial.h"

#include <algorithm>

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/core/real.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"

namespace dlprim {
namespace {

/** One work item for each of `items`, in each of `rows`. */
Range by_row(const Queue& queue, std::int64_t items, std::int64_t rows) {
  const DeviceInfo& info = queue.device().info();
  const int group = info.runs_cpu_kernels() ? 1 : std::min(128, info.max_work_group);
  return Range::groups(group, (items + group - 1) / group, rows);
}

}  // namespace

void multinomial(Queue& queue, const Tensor& weights, bool replacement, PhiloxState state,
                 const Tensor& out) {
  ENTER(multinomial, queue, weights, replacement, state, out);
  constexpr const char* op = "multinomial";
  require_floating(weights.dtype, queue.device(), op);
  require(
      weights.rank() == 2 && out.rank() == 2 && weights.shape[0] == out.shape[0] && out.dtype == DType::int64,
      op, ": expected weights [rows, categories] and an int64 result [rows, samples], got ", weights.shape,
      " and ", out.shape);
  require_contiguous(op, "the weights", weights);
  require_contiguous(op, "the result", out);
  const std::int64_t rows = weights.shape[0], categories = weights.shape[1], samples = out.shape[1];
  require(categories > 0 && (replacement || samples <= categories), op, ": cannot draw ", samples,
          " samples of ", categories, " categories", replacement ? "" : " without replacement");
  if (out.numel() == 0) return;
  static const DeviceCheck weight_check = register_check(
      "multinomial: probability tensor contains either `inf`, `nan` or element < 0, at category ");
  static const DeviceCheck sum_check =
      register_check("multinomial: invalid distribution (sum of probabilities <= 0) in row ");

  std::int64_t leaves = 1;
  while (leaves < categories) leaves *= 2;
  const Tensor trees = queue.scratch({rows, 2 * leaves}, compute_dtype(weights.dtype));
  queue.launch(random_kernel(queue, "multinomial_leaves", weights.dtype), by_row(queue, leaves, rows),
               weights, trees, static_cast<cl_ulong>(categories), static_cast<cl_ulong>(leaves),
               weight_check.spoiling(out));
  for (std::int64_t nodes = leaves / 2; nodes > 0; nodes /= 2)
    queue.launch(random_kernel(queue, "multinomial_level", weights.dtype), by_row(queue, nodes, rows), trees,
                 static_cast<cl_ulong>(leaves), static_cast<cl_ulong>(nodes));
  const char* draw = replacement ? "multinomial_draw" : "multinomial_draw_without_replacement";
  const Range range = replacement ? by_row(queue, samples, rows) : Range::linear(rows, 1);
  queue.launch(random_kernel(queue, draw, weights.dtype), range, trees, out, static_cast<cl_ulong>(leaves),
               static_cast<cl_ulong>(samples), state, sum_check.spoiling(out));
}

}  // namespace dlprim
