#include <torch/library.h>

#include "arguments.h"
#include "dlprim/ops/norm/batch_norm.h"
#include "dlprim/ops/norm/row_norm.h"

namespace torch_ocl {
namespace {

using Tensors = std::tuple<at::Tensor, at::Tensor, at::Tensor>;

c10::ScalarType statistics_type(const at::Tensor& x) {
  return type_of(dlprim::compute_dtype(dtype_of(x.scalar_type())));
}

std::optional<at::Tensor> as_statistics(const std::optional<at::Tensor>& given, const at::Tensor& x) {
  if (!given || !given->defined()) return std::nullopt;
  return given->to(statistics_type(x)).contiguous();
}

Tensors native_batch_norm(const at::Tensor& input, const std::optional<at::Tensor>& weight,
                          const std::optional<at::Tensor>& bias,
                          const std::optional<at::Tensor>& running_mean,
                          const std::optional<at::Tensor>& running_var, bool training, double momentum,
                          double eps) {
  const at::Tensor x = input.contiguous();
  const at::TensorOptions options = x.options().dtype(statistics_type(x));
  const Optional w(as_statistics(weight, x)), b(as_statistics(bias, x));
  const std::optional<at::Tensor> mean = as_statistics(running_mean, x),
                                  variance = as_statistics(running_var, x);
  at::Tensor y = at::empty_like(x), invstd = at::empty({x.size(1)}, options);
  dlprim::Queue& queue = device_under(x).queue();
  if (!training) {
    dlprim::batch_norm_invstd(queue, raw(*variance), eps, raw(invstd));
    dlprim::batch_norm_forward(queue, raw(x), raw(*mean), raw(invstd), w.get(), b.get(), raw(y));
    return {y, at::empty({0}, options), at::empty({0}, options)};
  }
  at::Tensor saved = at::empty({x.size(1)}, options);
  const Optional running(mean), running_variance(variance);
  dlprim::batch_norm_training_forward(queue, raw(x), w.get(), b.get(), eps,
                                      {running.get(), running_variance.get(), momentum}, raw(y), raw(saved),
                                      raw(invstd));
  if (mean && !mean->is_same(*running_mean)) running_mean->copy_(*mean);
  if (variance && !variance->is_same(*running_var)) running_var->copy_(*variance);
  return {y, saved, invstd};
}

Tensors native_batch_norm_backward(const at::Tensor& grad, const at::Tensor& input,
                                   const std::optional<at::Tensor>& weight,
                                   const std::optional<at::Tensor>& running_mean,
                                   const std::optional<at::Tensor>& running_var,
                                   const std::optional<at::Tensor>& save_mean,
                                   const std::optional<at::Tensor>& save_invstd, bool training, double eps,
                                   std::array<bool, 3> wanted) {
  const at::Tensor g = grad.contiguous(), x = input.contiguous();
  dlprim::Queue& queue = device_under(x).queue();
  const at::TensorOptions options = x.options().dtype(statistics_type(x));
  at::Tensor mean, invstd;
  if (training) {
    mean = *save_mean;
    invstd = *save_invstd;
  } else {
    mean = *as_statistics(running_mean, x);
    invstd = at::empty({x.size(1)}, options);
    dlprim::batch_norm_invstd(queue, raw(*as_statistics(running_var, x)), eps, raw(invstd));
  }
  const at::Tensor dx = wanted[0] ? at::empty_like(x) : at::Tensor();
  const at::Tensor dw = wanted[1] ? at::empty({x.size(1)}, options) : at::Tensor();
  const at::Tensor db = wanted[2] ? at::empty({x.size(1)}, options) : at::Tensor();
  dlprim::batch_norm_backward(queue, raw(g), raw(x), raw(mean), raw(invstd),
                              Optional(as_statistics(weight, x)).get(), training, Optional(dx).get(),
                              Optional(dw).get(), Optional(db).get());
  const auto as_weight = [&](const at::Tensor& t) {
    return t.defined() && weight && weight->defined() ? t.to(weight->scalar_type()) : t;
  };
  return {dx, as_weight(dw), as_weight(db)};
}

Tensors native_layer_norm(const at::Tensor& input, c10::IntArrayRef normalized_shape,
                          const std::optional<at::Tensor>& weight, const std::optional<at::Tensor>& bias,
                          double eps) {
  const at::Tensor x = input.contiguous(), y = at::empty_like(x);
  const dlprim::NormRows rows =
      dlprim::layer_norm_rows("layer_norm", raw(x).shape, dims_of(normalized_shape));
  std::vector<std::int64_t> shape = x.sizes().vec();  // of the statistics: 1 where x is normalised
  std::fill(shape.end() - static_cast<std::ptrdiff_t>(normalized_shape.size()), shape.end(), 1);
  const at::TensorOptions options = x.options().dtype(statistics_type(x));
  const at::Tensor mean = at::empty({rows.rows}, options), invstd = at::empty({rows.rows}, options);
  const dlprim::Tensor raw_mean = raw(mean);
  if (x.numel() > 0)
    dlprim::row_norm_forward(device_under(x).queue(), rows, raw(x), Optional(weight).get(),
                             Optional(bias).get(), eps, raw(y), &raw_mean, raw(invstd));
  return {y, mean.view(shape), invstd.view(shape)};
}

Tensors native_layer_norm_backward(const at::Tensor& grad, const at::Tensor& input,
                                   c10::IntArrayRef normalized_shape, const at::Tensor& mean,
                                   const at::Tensor& invstd, const std::optional<at::Tensor>& weight,
                                   const std::optional<at::Tensor>&, std::array<bool, 3> wanted) {
  const at::Tensor g = grad.contiguous(), x = input.contiguous(), dx = at::empty_like(x);
  const dlprim::NormRows rows =
      dlprim::layer_norm_rows("layer_norm", raw(x).shape, dims_of(normalized_shape));
  const at::TensorOptions options = x.options().dtype(statistics_type(x));
  const at::Tensor m = mean.reshape({rows.rows}), s = invstd.reshape({rows.rows});
  const at::Tensor terms = wanted[1] ? at::empty(x.sizes(), options) : at::Tensor();
  dlprim::Queue& queue = device_under(x).queue();
  const dlprim::Tensor raw_mean = raw(m);
  if (x.numel() > 0)
    dlprim::row_norm_backward(queue, rows, raw(g), raw(x), Optional(weight).get(), &raw_mean, raw(s), raw(dx),
                              Optional(terms).get());
  const auto summed = [&](bool is_wanted, const at::Tensor& t) {
    if (!is_wanted) return at::Tensor();
    const at::Tensor gradient = at::zeros(normalized_shape, x.options());
    if (x.numel() > 0) dlprim::row_norm_backward_affine(queue, rows, raw(t), raw(gradient.view({-1})));
    return gradient;
  };
  return {wanted[0] ? dx : at::Tensor(), summed(wanted[1], terms), summed(wanted[2], g)};
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("native_batch_norm", &native_batch_norm);
  m.impl("native_batch_norm_backward", &native_batch_norm_backward);
  m.impl("native_layer_norm", &native_layer_norm);
  m.impl("native_layer_norm_backward", &native_layer_norm_backward);
}

}  // namespace
}  // namespace torch_ocl
