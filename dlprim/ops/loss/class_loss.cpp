#include "dlprim/ops/loss/class_loss.h"

#include <algorithm>

#include "dlprim/core/checked.h"
#include "dlprim/core/real.h"
#include "dlprim/ops/loss/class_loss_launch.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"
#include "dlprim/runtime/launch_ranges.h"

namespace dlprim {

ClassLossExtents class_loss_extents(const char* op, const Tensor& scores, const Tensor& target,
                                    const Tensor* weight) {
  require_floating(scores.dtype, scores.device(), op);
  require(scores.rank() >= 1, op, ": expected scores of shape [C], [N, C] or [N, C, ...], got ",
          scores.shape);
  const int class_dim = scores.rank() == 1 ? 0 : 1;
  const std::int64_t classes = scores.shape[class_dim];
  if (is_floating(target.dtype)) {
    require(target.shape == scores.shape, op, ": class probabilities must have the scores' shape ",
            scores.shape, ", got ", target.shape);
    require<TypeError>(target.dtype == scores.dtype, op, ": expected class probabilities of dtype ",
                       name(scores.dtype), ", got ", name(target.dtype));
  } else {
    require<TypeError>(target.dtype == DType::int64, op, ": expected a target of dtype int64, got ",
                       name(target.dtype));
    const Dims expected = class_loss_shape(scores.shape, Reduction::none);
    require(target.shape == expected, op, ": expected a target of shape ", expected, " for scores of shape ",
            scores.shape, ", got ", target.shape);
  }
  if (weight) {
    require(weight->shape == Dims{classes}, op, ": weight should be defined for all ", classes,
            " classes, but got weight of shape ", weight->shape);
    require<TypeError>(weight->dtype == scores.dtype, op, ": expected weight of dtype ", name(scores.dtype),
                       ", got ", name(weight->dtype));
  }
  require_contiguous(op, "the scores", scores);
  require_contiguous(op, "the target", target);
  if (weight) require_contiguous(op, "weight", *weight);
  kernel_int(classes, op, "a number of classes");
  if (scores.rank() == 1) return {1, classes, 1};
  const std::int64_t positions = product(Dims(scores.shape.begin() + 2, scores.shape.end()));
  kernel_int(positions, op, "a number of positions");
  return {scores.shape[0], classes, positions};
}

Dims class_loss_shape(const Dims& scores, Reduction reduction) {
  if (reduction != Reduction::none) return {};
  Dims shape = scores;
  shape.erase(scores.size() == 1 ? 0 : 1);
  return shape;
}

LossRows loss_rows(const ClassLossExtents& extents, std::int64_t ignore_index) {
  return {extents.rows(), ignore_index, static_cast<cl_int>(extents.classes),
          static_cast<cl_int>(extents.positions)};
}

Kernel& loss_kernel(Queue& queue, const char* kernel, DType dtype) {
  return queue.kernel("ops/loss/class_loss.cl", kernel, dtype_defines(dtype));
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
  require_like(op, "the loss", loss, class_loss_shape(scores.shape, reduction), scores.dtype);
  require_elements(op, "total_weight", total_weight, 1, compute_dtype(scores.dtype));
}

}  // namespace dlprim
