#include <torch/library.h>

#include <cmath>

#include "arguments.h"
#include "aten/kernels.h"
#include "aten/norm_activation.h"
#include "aten/pointwise.h"
#include "dlprim/ops/pointwise/nan_to_num.h"
#include "dlprim/ops/pointwise/pointwise_backward.h"

/** \file Elementwise operators that choose among rows, or whose defaults depend on the dtype. */

namespace torch_ocl {
namespace {

at::Tensor& clamp(const at::Tensor& self, const std::optional<at::Tensor>& least,
                  const std::optional<at::Tensor>& most, at::Tensor& out) {
  const bool has_least = least && least->defined(), has_most = most && most->defined();
  TORCH_CHECK(has_least || has_most, "torch.clamp: At least one of 'min' or 'max' must not be None");
  if (!has_most) return at::maximum_out(out, self, *least);
  return at::minimum_out(out, has_least ? at::maximum(self, *least) : self, *most);
}

at::Tensor& clamp_min(const at::Tensor& self, const at::Tensor& least, at::Tensor& out) {
  return at::maximum_out(out, self, least);
}

at::Tensor& clamp_max(const at::Tensor& self, const at::Tensor& most, at::Tensor& out) {
  return at::minimum_out(out, self, most);
}

/** Whole numbers are held within whole bounds. */
at::Tensor& hardtanh_out(const at::Tensor& self, const c10::Scalar& least, const c10::Scalar& most,
                         at::Tensor& out) {
  TORCH_CHECK(self.scalar_type() != c10::kBool, "Bool inputs not supported for hardtanh");
  TORCH_CHECK(self.scalar_type() != c10::kByte || (least.toDouble() >= 0 && most.toDouble() >= 0),
              "cannot do hardtanh on an unsigned type with negative limits");
  const bool is_whole = c10::isIntegralType(self.scalar_type(), false);
  return at::clamp_out(out, self, is_whole ? c10::Scalar(least.toLong()) : least,
                       is_whole ? c10::Scalar(most.toLong()) : most);
}
at::Tensor relu6_of_deferred_norm(const at::Tensor& self, const c10::Scalar& least, const c10::Scalar& most,
                                  bool in_place) {
  if (!is_relu6(least, most)) return {};
  return activate_deferred_norm(dlprim::pointwise_op("relu6"), self, in_place);
}
at::Tensor hardtanh(const at::Tensor& self, const c10::Scalar& least, const c10::Scalar& most) {
  if (at::Tensor y = relu6_of_deferred_norm(self, least, most, false); y.defined()) return y;
  at::Tensor out = at::empty_like(self);
  return hardtanh_out(self, least, most, out);
}
at::Tensor& hardtanh_in_place(at::Tensor& self, const c10::Scalar& least, const c10::Scalar& most) {
  if (relu6_of_deferred_norm(self, least, most, true).defined()) return self;
  return hardtanh_out(self, least, most, self);
}

at::Tensor& div_mode(const at::Tensor& self, const at::Tensor& other, std::optional<c10::string_view> mode,
                     at::Tensor& out) {
  if (!mode) return at::div_out(out, self, other);
  TORCH_CHECK(*mode == "floor" || *mode == "trunc",
              "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '", *mode, "'");
  compute_row(dlprim::pointwise_op(*mode == "floor" ? "div_floor" : "div_trunc"), {self, other}, {},
              Result::out, out);
  return out;
}

at::Tensor& nan_to_num(const at::Tensor& self, std::optional<double> nan, std::optional<double> positive,
                       std::optional<double> negative, at::Tensor& out) {
  TORCH_CHECK(self.scalar_type() == out.scalar_type(), "nan_to_num: dtype of out: ", out.scalar_type(),
              " should be same as input: ", self.scalar_type());
  compute_row(dlprim::nan_to_num_row(), {self},
              dlprim::nan_to_num_parameters(dtype_of(self.scalar_type()), nan, positive, negative),
              Result::out, out);
  return out;
}

at::Tensor& polygamma(std::int64_t n, const at::Tensor& self, at::Tensor& out) {
  TORCH_CHECK(n >= 0, "polygamma(n, x) does not support negative n.");
  compute_row(dlprim::pointwise_op("polygamma_kernel"), {self}, {n}, Result::out, out);
  return out;
}

at::Tensor& round_decimals(const at::Tensor& self, std::int64_t decimals, at::Tensor& out) {
  if (c10::isIntegralType(self.scalar_type(), true) || decimals == 0) return at::round_out(out, self);
  const double power = std::pow(10.0, std::abs(static_cast<double>(decimals)));
  compute_row(dlprim::pointwise_op("round_decimals"), {self},
              {decimals < 0 ? 1.0 : power, decimals < 0 ? power : 1.0}, Result::out, out);
  return out;
}

std::tuple<at::Tensor, at::Tensor> prelu_backward(const at::Tensor& grad, const at::Tensor& self,
                                                  const at::Tensor& weight) {
  const std::vector<std::int64_t> shape =
      at::infer_size(at::infer_size(self.sizes(), weight.sizes()), grad.sizes());
  at::Tensor dx = at::empty(shape, self.options()), dw = at::empty(shape, weight.options());
  if (dx.numel() > 0)
    dlprim::pointwise_backward(device_under(dx).queue(), dlprim::pointwise_op("prelu_kernel"),
                               raw(grad.expand(shape)), {raw(self.expand(shape)), raw(weight.expand(shape))},
                               {}, {}, {raw(dx), raw(dw)});
  return {dx, dw};
}

std::tuple<at::Tensor, at::Tensor> weight_norm(const at::Tensor& v, const at::Tensor& g, std::int64_t dim) {
  const at::Tensor norms = at::norm_except_dim(v, 2, dim);
  return {v * (g / norms), norms};
}

std::tuple<at::Tensor, at::Tensor> weight_norm_backward(const at::Tensor& grad, const at::Tensor& v,
                                                        const at::Tensor& g, const at::Tensor& norms,
                                                        std::int64_t dim) {
  return at::_weight_norm_differentiable_backward(grad, v, g, norms, dim);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  Kernels m(library);
  m.impl("clamp.Tensor_out", &clamp);
  m.impl("clamp_min.Tensor_out", &clamp_min);
  m.impl("clamp_max.Tensor_out", &clamp_max);
  m.impl("hardtanh", &hardtanh);
  m.impl("hardtanh.out", &hardtanh_out);
  m.impl("hardtanh_", &hardtanh_in_place);
  m.impl("div.out_mode", &div_mode);
  m.impl("polygamma.out", &polygamma);
  m.impl("nan_to_num.out", &nan_to_num);
  m.impl("round.decimals_out", &round_decimals);
  m.impl("_prelu_kernel_backward", &prelu_backward);
  m.impl("_weight_norm_interface", &weight_norm);
  m.impl("_weight_norm_interface_backward", &weight_norm_backward);
}

}  // namespace
}  // namespace torch_ocl
