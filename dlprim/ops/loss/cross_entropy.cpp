#include "dlprim/ops/loss/cross_entropy.h"

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/core/real.h"
#include "dlprim/ops/loss/class_loss_launch.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/launch_ranges.h"

namespace dlprim {
namespace {

DeviceCheck target_check() {
  static const DeviceCheck check = register_check("cross_entropy: target out of range: ");
  return check;
}

ClassLossExtents checked_extents(const char* op, const Tensor& logits, const Tensor& target,
                                 const Tensor* weight, const CrossEntropyOptions& options,
                                 const Tensor& normalizers) {
  const ClassLossExtents extents = class_loss_extents(op, logits, target, weight);
  require(options.label_smoothing >= 0 && options.label_smoothing <= 1, op,
          ": label_smoothing must be between 0.0 and 1.0, got ", options.label_smoothing);
  require_elements(op, "normalizers", normalizers, 2 * extents.rows(), compute_dtype(logits.dtype));
  return extents;
}

}  // namespace

Dims cross_entropy_normalizer_shape(const Dims& logits) {
  if (logits.size() < 2) return {1, 1, 2};
  return {logits[0], product(Dims(logits.begin() + 2, logits.end())), 2};
}

void cross_entropy_forward(Queue& queue, const Tensor& logits, const Tensor& target, const Tensor* weight,
                           const CrossEntropyOptions& options, const Tensor& loss, const Tensor& total_weight,
                           const Tensor& normalizers) {
  ENTER(cross_entropy_forward, queue, logits, target, weight, options, loss, total_weight, normalizers);
  constexpr const char* op = "cross_entropy";
  const ClassLossExtents extents = checked_extents(op, logits, target, weight, options, normalizers);
  require_loss_tensors(op, logits, options.reduction, loss, total_weight);
  if (extents.rows() == 0) return write_empty_loss(queue, options.reduction, loss, total_weight);
  const bool reduced = options.reduction != Reduction::none;
  const bool probabilities = is_floating(target.dtype);
  Tensor terms;
  if (reduced)
    terms = queue.scratch({extents.rows(), 2}, compute_dtype(logits.dtype));
  else
    queue.zero(total_weight);
  const bool groups = has_long_rows(queue, extents);
  Kernel& kernel = loss_kernel(queue, groups ? "cross_entropy_rows_groups" : "cross_entropy_rows",
                               logits.dtype, is_wide_loss(loss, logits));
  const Range range = groups ? Range::groups(work_group(queue.device().info()), extents.rows())
                             : loss_rows_range(queue, extents);
  with_real(logits.dtype, [&](auto zero) {
    const LossLabels<decltype(zero)> labels{static_cast<decltype(zero)>(options.label_smoothing),
                                            probabilities};
    queue.launch(kernel, range, logits, Optional{probabilities ? nullptr : &target},
                 Optional{probabilities ? &target : nullptr}, Optional{weight},
                 loss_rows(extents, options.ignore_index), labels, normalizers, loss,
                 Optional{reduced ? &terms : nullptr}, target_check().spoiling(loss));
  });
  if (reduced) reduce_loss(queue, terms, options.reduction, loss, total_weight);
}

void cross_entropy_backward(Queue& queue, const Tensor& grad, const Tensor& logits, const Tensor& target,
                            const Tensor* weight, const CrossEntropyOptions& options,
                            const Tensor& total_weight, const Tensor& normalizers, const Tensor& dlogits) {
  ENTER(cross_entropy_backward, queue, grad, logits, target, weight, options, total_weight, normalizers,
        dlogits);
  constexpr const char* op = "cross_entropy backward";
  const ClassLossExtents extents = checked_extents(op, logits, target, weight, options, normalizers);
  require_loss_tensors(op, logits, options.reduction, grad, total_weight);
  require_like(op, "dlogits", dlogits, logits.shape, logits.dtype);
  if (dlogits.numel() == 0) return;
  const bool probabilities = is_floating(target.dtype);
  const Optional indices{probabilities ? nullptr : &target}, masses{probabilities ? &target : nullptr};
  const Tensor factors = queue.scratch({extents.rows(), 2}, compute_dtype(logits.dtype));
  const LossRows rows = loss_rows(extents, options.ignore_index);
  const DeviceInfo& device = queue.device().info();
  const int group = work_group(device);
  const bool long_rows = has_long_rows(queue, extents);
  const std::int64_t groups_of_row = ceil_div(extents.classes, std::int64_t{CLASSES_OF_ITEM} * group);
  const Range elements = device.runs_cpu_kernels() ? loss_rows_range(queue, extents)
                         : long_rows ? Range::groups(group, extents.rows() * groups_of_row)
                                     : Range::linear(ceil_div(dlogits.numel(), CLASSES_OF_ITEM), group);
  with_real(logits.dtype, [&](auto zero) {
    const LossLabels<decltype(zero)> labels{static_cast<decltype(zero)>(options.label_smoothing),
                                            probabilities};
    queue.launch(loss_kernel(queue, "cross_entropy_factors", logits.dtype, is_wide_loss(grad, logits)),
                 loss_rows_range(queue, extents), grad, indices, masses, Optional{weight}, rows, labels,
                 static_cast<cl_int>(options.reduction), total_weight, factors,
                 target_check().spoiling(dlogits));
    queue.launch(loss_kernel(queue, "cross_entropy_backward", logits.dtype), elements, factors, logits,
                 indices, masses, Optional{weight}, rows, labels, normalizers, dlogits,
                 cl_int{long_rows ? 1 : 0});
  });
}

void cross_entropy_target_backward(Queue& queue, const Tensor& grad, const Tensor& logits,
                                   const Tensor* weight, const CrossEntropyOptions& options,
                                   const Tensor& total_weight, const Tensor& normalizers,
                                   const Tensor& dtarget) {
  ENTER(cross_entropy_target_backward, queue, grad, logits, weight, options, total_weight, normalizers,
        dtarget);
  constexpr const char* op = "cross_entropy backward";
  const ClassLossExtents extents = checked_extents(op, logits, dtarget, weight, options, normalizers);
  require_loss_tensors(op, logits, options.reduction, grad, total_weight);
  if (dtarget.numel() == 0) return;
  with_real(logits.dtype, [&](auto zero) {
    const LossLabels<decltype(zero)> labels{static_cast<decltype(zero)>(options.label_smoothing), true};
    queue.launch(
        loss_kernel(queue, "cross_entropy_target_gradient", logits.dtype, is_wide_loss(grad, logits)),
        loss_rows_range(queue, extents), grad, logits, Optional{weight},
        loss_rows(extents, options.ignore_index), labels, static_cast<cl_int>(options.reduction),
        total_weight, normalizers, dtarget);
  });
}

}  // namespace dlprim
