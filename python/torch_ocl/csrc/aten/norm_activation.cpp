#include "aten/norm_activation.h"

#include "arguments.h"
#include "dlprim/ops/norm/batch_norm.h"
#include "dlprim/ops/pointwise/pointwise_backward.h"

namespace torch_ocl {
namespace {

bool is_same(const dlprim::Tensor& a, const dlprim::Tensor& b) {
  return a.storage == b.storage && a.offset == b.offset && a.dtype == b.dtype && a.shape == b.shape &&
         a.strides == b.strides;
}

const dlprim::Tensor* given(const dlprim::Tensor& t) {
  return t.defined() ? &t : nullptr;
}

/** Whether a norm's kernels could take the gradient along, which `of` tells; it is valid. */
bool can_be_deferred(const at::Tensor& grad, const at::Tensor& of, const at::Tensor& out) {
  const auto fits = [&](const at::Tensor& t) {
    return t.scalar_type() == out.scalar_type() && t.device() == out.device() && t.sizes() == out.sizes() &&
           t.is_contiguous() && !t.is_alias_of(out);
  };
  return out.numel() > 0 && out.is_floating_point() && fills_its_memory(out) && fits(grad) && fits(of) &&
         !grad.is_alias_of(of) && (out.scalar_type() != c10::kDouble || device_under(out).info().fp64);
}

}  // namespace

DeferredNorm::DeferredNorm(const at::Tensor& x, const at::Tensor& mean, const at::Tensor& invstd,
                           const at::Tensor& weight, const at::Tensor& bias)
    : x_(raw_to_read(x)), mean_(raw_to_read(mean)), invstd_(raw_to_read(invstd)) {
  if (weight.defined()) weight_ = raw_to_read(weight);
  if (bias.defined()) bias_ = raw_to_read(bias);
}

void DeferredNorm::run(const dlprim::Tensor& result, const dlprim::PointwiseOp* activation) const {
  dlprim::batch_norm_forward(x_.device().queue(), x_, mean_, invstd_, given(weight_), given(bias_), result,
                             {nullptr, activation});
}

bool DeferredNorm::is_of(const dlprim::Tensor& x, const dlprim::Tensor& mean, const dlprim::Tensor& invstd,
                         const dlprim::Tensor* weight) const {
  return is_same(x, x_) && is_same(mean, mean_) && is_same(invstd, invstd_) &&
         (weight ? weight_.defined() && is_same(*weight, weight_) : !weight_.defined());
}

void DeferredActivationGradient::run(const dlprim::Tensor& result) const {
  dlprim::Queue& queue = result.device().queue();
  dlprim::Tensor x, y = result_;
  if (norm_) {
    x = queue.scratch(result.shape, result.dtype);
    norm_->run(x);
    y = x;  // of the activations that are put off so, none is told by a result other than its bounds
  }
  dlprim::pointwise_backward(queue, activation_, gradient_, {x}, {}, y, {result});
}

at::Tensor activate_deferred_norm(const dlprim::PointwiseOp& activation, const at::Tensor& self,
                                  bool in_place) {
  const auto norm = deferred<DeferredNorm>(self);
  if (!norm || !dlprim::can_be_epilogue(activation, false)) return {};
  at::Tensor out = in_place ? self : at::empty_like(self);
  norm->run(raw_to_overwrite(out), &activation);
  note_overwritten(out);
  return out;
}

bool defer_gradient_behind_norm(const dlprim::PointwiseOp& activation, const at::Tensor& grad,
                                const at::Tensor& self, const at::Tensor& out) {
  if (!dlprim::can_be_epilogue(activation, false)) return false;
  const auto norm = deferred<DeferredNorm>(self);
  if (!norm || !can_be_deferred(grad, self, out)) return false;
  auto work = std::make_shared<DeferredActivationGradient>(activation, raw_to_read(grad), norm.work);
  defer(out, std::move(work), {grad, self});
  return true;
}

bool defer_gradient_by_result(const dlprim::PointwiseOp& activation, const at::Tensor& grad,
                              const at::Tensor& result, const at::Tensor& out) {
  if (!can_be_deferred(grad, result, out) || !dlprim::can_be_epilogue(activation, true)) return false;
  auto work =
      std::make_shared<DeferredActivationGradient>(activation, raw_to_read(grad), raw_to_read(result));
  defer(out, std::move(work), {grad, result});
  return true;
}

}  // namespace torch_ocl
