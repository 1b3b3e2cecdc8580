#include "dlprim/ops/loss/elementwise_loss.h"
#include "dlprim/ops/pointwise/pointwise_backward.h"

#include <ATen/ExpandUtils.h>
#include <torch/library.h>

#include "arguments.h"
#include "aten/compute_type.h"
#include "aten/kernels.h"
#include "aten/pointwise.h"

namespace torch_ocl {
namespace {

using Parameters = std::vector<dlprim::Scalar>;

/** The losses `each`, or their mean or sum. */
at::Tensor& reduced_into(const at::Tensor& each, std::int64_t reduction, at::Tensor& out) {
  const at::Tensor result = reduction == at::Reduction::Mean  ? each.mean()
                            : reduction == at::Reduction::Sum ? each.sum()
                                                              : each;
  at::native::resize_output(out, result.sizes());
  return out.copy_(result);
}

at::Tensor& loss(const char* row, const at::Tensor& self, const at::Tensor& target,
                 const Parameters& parameters, std::int64_t reduction, at::Tensor& out,
                 const at::Tensor& weight = {}) {
  const dlprim::PointwiseOp& op = dlprim::elementwise_loss(row);
  if (reduction == at::Reduction::None && !weight.defined()) {
    compute_row(op, {self, target}, parameters, Result::out, out);
    return out;
  }
  at::Tensor each =
      compute_row(op, {in_compute_type(self), in_compute_type(target)}, parameters, Result::fresh);
  if (weight.defined()) each = each * in_compute_type(weight);
  return reduced_into(each, reduction, out);
}

/** The gradient by `self`, in the shape that it and the target broadcast to. */
at::Tensor& gradient(const char* row, const at::Tensor& grad, const at::Tensor& self,
                     const at::Tensor& target, const Parameters& parameters, std::int64_t reduction,
                     at::Tensor& out, const at::Tensor& weight = {}) {
  const std::vector<std::int64_t> shape = at::infer_size(self.sizes(), target.sizes());
  at::native::resize_output(out, shape);
  if (out.numel() == 0) return out;
  at::Tensor g = grad;
  if (reduction == at::Reduction::Mean || weight.defined()) g = in_compute_type(g);
  if (reduction == at::Reduction::Mean) g = g / static_cast<double>(out.numel());
  if (weight.defined()) g = g * in_compute_type(weight);
  dlprim::pointwise_backward(device_under(out).queue(), dlprim::elementwise_loss(row), raw(g.expand(shape)),
                             {raw(self.expand(shape)), raw(target.expand(shape))}, parameters, {},
                             {raw(out), {}});
  return out;
}

at::Tensor fresh(const at::Tensor& self) {
  return at::empty({0}, self.options());
}

at::Tensor& mse_loss(const at::Tensor& self, const at::Tensor& target, std::int64_t reduction,
                     at::Tensor& out) {
  return loss("mse_loss", self, target, {}, reduction, out);
}
at::Tensor& mse_loss_backward_out(const at::Tensor& grad, const at::Tensor& self, const at::Tensor& target,
                                  std::int64_t reduction, at::Tensor& out) {
  return gradient("mse_loss", grad, self, target, {}, reduction, out);
}
at::Tensor mse_loss_backward(const at::Tensor& grad, const at::Tensor& self, const at::Tensor& target,
                             std::int64_t reduction) {
  at::Tensor out = fresh(self);
  return mse_loss_backward_out(grad, self, target, reduction, out);
}

at::Tensor& smooth_l1_loss(const at::Tensor& self, const at::Tensor& target, std::int64_t reduction,
                           double beta, at::Tensor& out) {
  TORCH_CHECK(beta >= 0, "smooth_l1_loss does not support negative values for beta.");
  return loss("smooth_l1_loss", self, target, {beta}, reduction, out);
}
at::Tensor& smooth_l1_loss_backward(const at::Tensor& grad, const at::Tensor& self, const at::Tensor& target,
                                    std::int64_t reduction, double beta, at::Tensor& out) {
  return gradient("smooth_l1_loss", grad, self, target, {beta}, reduction, out);
}

at::Tensor& huber_loss_out(const at::Tensor& self, const at::Tensor& target, std::int64_t reduction,
                           double delta, at::Tensor& out) {
  TORCH_CHECK(delta > 0, "huber_loss does not support non-positive values for delta.");
  return loss("huber_loss", self, target, {delta}, reduction, out);
}
at::Tensor huber_loss(const at::Tensor& self, const at::Tensor& target, std::int64_t reduction,
                      double delta) {
  at::Tensor out = fresh(self);
  return huber_loss_out(self, target, reduction, delta, out);
}
at::Tensor& huber_loss_backward(const at::Tensor& grad, const at::Tensor& self, const at::Tensor& target,
                                std::int64_t reduction, double delta, at::Tensor& out) {
  return gradient("huber_loss", grad, self, target, {delta}, reduction, out);
}

at::Tensor& binary_cross_entropy_out(const at::Tensor& self, const at::Tensor& target,
                                     const std::optional<at::Tensor>& weight, std::int64_t reduction,
                                     at::Tensor& out) {
  return loss("binary_cross_entropy", self, target, {}, reduction, out, weight.value_or(at::Tensor()));
}
at::Tensor binary_cross_entropy(const at::Tensor& self, const at::Tensor& target,
                                const std::optional<at::Tensor>& weight, std::int64_t reduction) {
  at::Tensor out = fresh(self);
  return binary_cross_entropy_out(self, target, weight, reduction, out);
}
at::Tensor& binary_cross_entropy_backward_out(const at::Tensor& grad, const at::Tensor& self,
                                              const at::Tensor& target,
                                              const std::optional<at::Tensor>& weight, std::int64_t reduction,
                                              at::Tensor& out) {
  return gradient("binary_cross_entropy", grad, self, target, {}, reduction, out,
                  weight.value_or(at::Tensor()));
}
at::Tensor binary_cross_entropy_backward(const at::Tensor& grad, const at::Tensor& self,
                                         const at::Tensor& target, const std::optional<at::Tensor>& weight,
                                         std::int64_t reduction) {
  at::Tensor out = fresh(self);
  return binary_cross_entropy_backward_out(grad, self, target, weight, reduction, out);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  Kernels m(library);
  m.impl("mse_loss.out", &mse_loss);
  m.impl("mse_loss_backward", &mse_loss_backward);
  m.impl("mse_loss_backward.grad_input", &mse_loss_backward_out);
  m.impl("smooth_l1_loss.out", &smooth_l1_loss);
  m.impl("smooth_l1_loss_backward.grad_input", &smooth_l1_loss_backward);
  m.impl("huber_loss", &huber_loss);
  m.impl("huber_loss.out", &huber_loss_out);
  m.impl("huber_loss_backward.out", &huber_loss_backward);
  m.impl("binary_cross_entropy", &binary_cross_entropy);
  m.impl("binary_cross_entropy.out", &binary_cross_entropy_out);
  m.impl("binary_cross_entropy_backward", &binary_cross_entropy_backward);
  m.impl("binary_cross_entropy_backward.grad_input", &binary_cross_entropy_backward_out);
}

}  // namespace
}  // namespace torch_ocl
