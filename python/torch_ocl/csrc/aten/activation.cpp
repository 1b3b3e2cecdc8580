#include <torch/library.h>

#include "arguments.h"
#include "dlprim/ops/pointwise/pointwise.h"

/** \file Activations whose arguments in aten are not those of a row. */

namespace torch_ocl {
namespace {

/** out = the row of self, in out's shape and dtype. */
void activate(std::string_view row, const at::Tensor& self, const at::Tensor& out) {
  at::native::resize_output(out, self.sizes());
  if (out.numel() == 0) return;
  const dlprim::PointwiseOp& op = dlprim::pointwise_op(row);
  const dlprim::Tensor y = raw(out);
  dlprim::pointwise(y.device().queue(), dlprim::forward_expression(op), y.dtype, {raw(self)}, {}, {y});
}

void gradient(std::string_view row, const at::Tensor& grad, const at::Tensor& self,
              const std::vector<dlprim::Scalar>& parameters, const at::Tensor& out) {
  at::native::resize_output(out, self.sizes());
  if (out.numel() == 0) return;
  dlprim::pointwise_backward(device_under(out).queue(), dlprim::pointwise_op(row), raw(grad), {raw(self)},
                             parameters, dlprim::Tensor(), {raw(out)});
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
  gradient("hardtanh", grad, self, {scalar_of(least), scalar_of(most)}, out);
  return out;
}

at::Tensor hardswish_backward(const at::Tensor& grad, const at::Tensor& self) {
  const at::Tensor out = at::empty_like(self);
  gradient("hardswish", grad, self, {}, out);
  return out;
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("gelu.out", &gelu);
  m.impl("gelu_backward.grad_input", &gelu_backward);
  m.impl("hardtanh_backward", &hardtanh_backward);
  m.impl("hardswish_backward", &hardswish_backward);
}

}  // namespace
}  // namespace torch_ocl
