#include "dlprim/ops/loss/class_loss_launch.h"

#include <algorithm>

#include "dlprim/core/checked.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"
#include "dlprim/runtime/launch_ranges.h"

namespace dlprim {

LossRows loss_rows(const ClassLossExtents& extents, std::int64_t ignore_index) {
  return {extents.rows(), ignore_index, static_cast<cl_int>(extents.classes),
          static_cast<cl_int>(extents.positions)};
}

Kernel& loss_kernel(Queue& queue, const char* kernel, DType dtype, bool is_wide) {
  Defines defines = dtype_defines(dtype);
  defines.set("WIDE_LOSS", is_wide ? 1 : 0);
  return queue.kernel("ops/loss/class_loss.cl", kernel, defines);
}

bool is_wide_loss(const Tensor& loss, const Tensor& scores) {
  return loss.dtype != scores.dtype;
}

bool has_long_rows(const Queue& queue, const ClassLossExtents& extents) {
  constexpr int long_row = 32;
  return !queue.device().info().runs_cpu_kernels() && extents.positions == 1 && extents.classes >= long_row;
}

Range loss_rows_range(const Queue& queue, const ClassLossExtents& extents) {
  return share_range(queue, extents.rows(), extents.classes, 64);
}

void reduce_loss(Queue& queue, const Tensor& terms, Reduction reduction, const Tensor& loss,
                 const Tensor& total_weight) {
  constexpr std::int64_t rows_per_group = 8192;
  constexpr std::int64_t most_groups = 256;
  const DeviceInfo& device = queue.device().info();
  const int group = device.runs_cpu_kernels() ? 1 : work_group(device);
  const auto sum = [&](const Tensor& pairs, std::int64_t groups, const Tensor& partials) {
    queue.launch(loss_kernel(queue, "class_loss_reduce", loss.dtype), Range::groups(group, groups), pairs,
                 static_cast<cl_long>(pairs.shape[0]), static_cast<cl_int>(reduction), partials, loss,
                 total_weight);
  };
  const std::int64_t groups = std::min(most_groups, terms.shape[0] / rows_per_group + 1);
  const Tensor partials = queue.scratch({groups, 2}, compute_dtype(loss.dtype));
  sum(terms, groups, partials);
  if (groups > 1) sum(partials, 1, partials);
}

void write_empty_loss(Queue& queue, Reduction reduction, const Tensor& loss, const Tensor& total_weight) {
  queue.zero(total_weight);
  if (reduction == Reduction::none) return;
  const Tensor no_terms = queue.scratch({1, 2}, compute_dtype(loss.dtype));
  queue.zero(no_terms);
  reduce_loss(queue, no_terms, reduction, loss, total_weight);
}

void require_loss_tensors(const char* op, const Tensor& scores, Reduction reduction, const Tensor& loss,
                          const Tensor& total_weight) {
  const DType wide = compute_dtype(scores.dtype);
  require_like(op, "the loss", loss, class_loss_shape(scores.shape, reduction),
               loss.dtype == wide ? wide : scores.dtype);
  require_elements(op, "total_weight", total_weight, 1, compute_dtype(scores.dtype));
}

}  // namespace dlprim
