#include "dlprim/ops/loss/nll_loss.h"

#include "dlprim/core/call.h"
#include "dlprim/core/error.h"
#include "dlprim/core/real.h"
#include "dlprim/ops/loss/class_loss_launch.h"
#include "dlprim/runtime/device.h"

namespace dlprim {
namespace {

DeviceCheck target_check() {
  static const DeviceCheck check = register_check("nll_loss: target out of range: ");
  return check;
}

ClassLossExtents nll_extents(const char* op, const Tensor& scores, const Tensor& target,
                             const Tensor* weight) {
  require<TypeError>(!is_floating(target.dtype), op, ": expected a target of dtype int64, got ",
                     name(target.dtype));
  return class_loss_extents(op, scores, target, weight);
}

}  // namespace

void nll_loss_forward(Queue& queue, const Tensor& log_probabilities, const Tensor& target,
                      const Tensor* weight, std::int64_t ignore_index, Reduction reduction,
                      const Tensor& loss, const Tensor& total_weight) {
  ENTER(nll_loss_forward, queue, log_probabilities, target, weight, ignore_index, reduction, loss,
        total_weight);
  constexpr const char* op = "nll_loss";
  const ClassLossExtents extents = nll_extents(op, log_probabilities, target, weight);
  require_loss_tensors(op, log_probabilities, reduction, loss, total_weight);
  if (extents.rows() == 0) return write_empty_loss(queue, reduction, loss, total_weight);
  const bool reduced = reduction != Reduction::none;
  const DType dtype = log_probabilities.dtype;
  Tensor terms;
  if (reduced)
    terms = queue.scratch({extents.rows(), 2}, compute_dtype(dtype));
  else
    queue.zero(total_weight);
  queue.launch(loss_kernel(queue, "nll_loss_rows", dtype, is_wide_loss(loss, log_probabilities)),
               loss_rows_range(queue, extents), log_probabilities, target, Optional{weight},
               loss_rows(extents, ignore_index), loss, Optional{reduced ? &terms : nullptr},
               target_check().spoiling(loss));
  if (reduced) reduce_loss(queue, terms, reduction, loss, total_weight);
}

void nll_loss_backward(Queue& queue, const Tensor& grad, const Tensor& target, const Tensor* weight,
                       std::int64_t ignore_index, Reduction reduction, const Tensor& total_weight,
                       const Tensor& dx) {
  ENTER(nll_loss_backward, queue, grad, target, weight, ignore_index, reduction, total_weight, dx);
  constexpr const char* op = "nll_loss backward";
  const ClassLossExtents extents = nll_extents(op, dx, target, weight);
  require_loss_tensors(op, dx, reduction, grad, total_weight);
  if (dx.numel() == 0) return;
  const bool is_zero = has_long_rows(queue, extents);  // an item a row would write it far apart
  if (is_zero) queue.zero(dx);
  queue.launch(loss_kernel(queue, "nll_loss_backward", dx.dtype, is_wide_loss(grad, dx)),
               loss_rows_range(queue, extents), grad, target, Optional{weight},
               loss_rows(extents, ignore_index), static_cast<cl_int>(reduction), total_weight, dx,
               cl_int{is_zero ? 1 : 0}, target_check().spoiling(dx));
}

}  // namespace dlprim
