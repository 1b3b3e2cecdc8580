#include <ATen/ops/glu_backward_jvp_native.h>
#include <torch/library.h>

#include "arguments.h"
#include "aten/accepted_types.h"
#include "aten/kernels.h"
#include "aten/norm_activation.h"
#include "dlprim/ops/pointwise/glu.h"
#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/ops/pointwise/pointwise_backward.h"

/** \file Activations whose arguments in aten are not those of a row. */

namespace torch_ocl {
namespace {

/** out = the row of self, in out's shape and dtype. */
void activate(std::string_view row, const at::Tensor& self, const at::Tensor& out) {
  const dlprim::PointwiseOp& op = dlprim::pointwise_op(row);
  require_accepted(op.name, {}, dtype_of(self.scalar_type()));
  at::native::resize_output(out, self.sizes());
  if (out.numel() == 0) return;
  const dlprim::Tensor y = raw(out);
  dlprim::pointwise(y.device().queue(), dlprim::forward_expression(op), y.dtype, {raw(self)}, {}, {y});
}

void gradient(std::string_view row, const at::Tensor& grad, const at::Tensor& self,
              const std::vector<dlprim::Scalar>& parameters, const at::Tensor& out) {
  // One may be of a batch where the other is of none (torch.func.jacrev).
  const std::vector<std::int64_t> shape = at::infer_size(grad.sizes(), self.sizes());
  at::native::resize_output(out, shape);
  if (out.numel() == 0) return;
  dlprim::pointwise_backward(device_under(out).queue(), dlprim::pointwise_op(row), raw(grad.expand(shape)),
                             {raw(self.expand(shape))}, parameters, dlprim::Tensor(), {raw(out)});
}

std::string_view gelu_row(c10::string_view approximate) {
  TORCH_CHECK(approximate == "none" || approximate == "tanh",
              "approximate argument must be either none or tanh.");
  return approximate == "tanh" ? "gelu_tanh" : "gelu";
}

at::Tensor& gelu(const at::Tensor& self, c10::string_view approximate, at::Tensor& out) {
  activate(gelu_row(approximate), self, out);
  return out;
}

at::Tensor& gelu_backward(const at::Tensor& grad, const at::Tensor& self, c10::string_view approximate,
                          at::Tensor& out) {
  gradient(gelu_row(approximate), grad, self, {}, out);
  return out;
}

at::Tensor hardtanh_backward(const at::Tensor& grad, const at::Tensor& self, const c10::Scalar& least,
                             const c10::Scalar& most) {
  const at::Tensor out = at::empty_like(self);
  if (is_relu6(least, most) && defer_gradient_behind_norm(dlprim::pointwise_op("relu6"), grad, self, out))
    return out;
  gradient("hardtanh", grad, self, {scalar_of(least), scalar_of(most)}, out);
  return out;
}

/** The gradient from threshold's input or, where the bound is 0, from relu's result, which is as good. */
at::Tensor& threshold_backward(const at::Tensor& grad, const at::Tensor& self, const c10::Scalar& threshold,
                               at::Tensor& out) {
  const std::vector<std::int64_t> shape = at::infer_size(grad.sizes(), self.sizes());
  at::native::resize_output(out, shape);
  if (threshold.toDouble() == 0 && grad.sizes() == self.sizes() &&
      defer_gradient_by_result(dlprim::pointwise_op("relu"), grad, self, out))
    return out;
  if (out.numel() > 0)
    dlprim::pointwise_backward(device_under(out).queue(), dlprim::pointwise_op("threshold"),
                               raw(grad.expand(shape)), {raw(self.expand(shape))},
                               {scalar_of(threshold), 0.0}, dlprim::Tensor(), {raw(out)});
  return out;
}

at::Tensor gradient_by_input(std::string_view row, const at::Tensor& grad, const at::Tensor& self) {
  const at::Tensor out = at::empty_like(self.dim() < grad.dim() ? grad : self);
  if (grad.sizes() != self.sizes() || !defer_gradient_behind_norm(dlprim::pointwise_op(row), grad, self, out))
    gradient(row, grad, self, {}, out);
  return out;
}

at::Tensor hardswish_backward(const at::Tensor& grad, const at::Tensor& self) {
  return gradient_by_input("hardswish", grad, self);
}

/** PyTorch has no kernel of it for backends, but five operators; those with a derivative it calls itself. */
at::Tensor silu_backward(const at::Tensor& grad, const at::Tensor& self) {
  return gradient_by_input("silu", grad, self);
}

std::tuple<at::Tensor&, at::Tensor&> log_sigmoid_out(const at::Tensor& self, at::Tensor& out,
                                                     at::Tensor& buffer) {
  activate("logsigmoid", self, out);
  at::native::resize_output(buffer, {0});  // the gradient takes the input alone
  return {out, buffer};
}

std::tuple<at::Tensor, at::Tensor> log_sigmoid(const at::Tensor& self) {
  at::Tensor out = at::empty_like(self), buffer = at::empty({0}, self.options());
  log_sigmoid_out(self, out, buffer);
  return {out, buffer};
}

at::Tensor& log_sigmoid_backward_out(const at::Tensor& grad, const at::Tensor& self, const at::Tensor&,
                                     at::Tensor& out) {
  gradient("logsigmoid", grad, self, {}, out);
  return out;
}

at::Tensor log_sigmoid_backward(const at::Tensor& grad, const at::Tensor& self, const at::Tensor& buffer) {
  at::Tensor out = at::empty_like(self.dim() < grad.dim() ? grad : self);
  return log_sigmoid_backward_out(grad, self, buffer, out);
}

at::Tensor& glu(const at::Tensor& self, std::int64_t dim, at::Tensor& out) {
  at::native::resize_output(out, sizes_of(dlprim::glu_output_shape(dims_of(self.sizes()), dim)));
  if (out.numel() > 0) dlprim::glu_forward(device_under(out).queue(), raw(self), dim, raw(out));
  return out;
}

at::Tensor& glu_backward_out(const at::Tensor& grad, const at::Tensor& self, std::int64_t dim,
                             at::Tensor& out) {
  at::native::resize_output(out, self.sizes());
  if (out.numel() > 0) dlprim::glu_backward(device_under(out).queue(), raw(grad), raw(self), dim, raw(out));
  return out;
}

at::Tensor glu_backward(const at::Tensor& grad, const at::Tensor& self, std::int64_t dim) {
  at::Tensor out = at::empty_like(self);
  return glu_backward_out(grad, self, dim, out);
}

/** a * sigmoid(b), moved by the tangents of both. */
at::Tensor glu_tangent(const at::Tensor& glu, const at::Tensor& self, const at::Tensor& tangent,
                       std::int64_t dim) {
  const auto by = tangent.chunk(2, dim);
  const at::Tensor gate = self.chunk(2, dim)[1].sigmoid();
  return by[0] * gate + glu * (by[1] - gate * by[1]);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  Kernels m(library);
  m.impl("gelu.out", &gelu);
  m.impl("gelu_backward.grad_input", &gelu_backward);
  m.impl("log_sigmoid_forward", &log_sigmoid);
  m.impl("log_sigmoid_forward.output", &log_sigmoid_out);
  m.impl("log_sigmoid_backward", &log_sigmoid_backward);
  m.impl("log_sigmoid_backward.grad_input", &log_sigmoid_backward_out);
  m.impl("glu.out", &glu);
  m.impl("glu_backward", &glu_backward);
  m.impl("glu_backward.grad_input", &glu_backward_out);
  m.impl("glu_jvp", &glu_tangent);
  library.impl("glu_backward_jvp", &at::native::glu_backward_jvp);  // made of operators
  m.impl("threshold_backward.grad_input", &threshold_backward);
  m.impl("hardtanh_backward", &hardtanh_backward);
  m.impl("hardswish_backward", &hardswish_backward);
  m.impl("silu_backward", &silu_backward);
}

}  // namespace
}  // namespace torch_ocl
