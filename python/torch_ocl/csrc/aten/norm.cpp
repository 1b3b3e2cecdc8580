#include <torch/library.h>

#include <cmath>

#include "arguments.h"
#include "aten/kernels.h"
#include "aten/norm_activation.h"
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
  TORCH_CHECK(given->device() == x.device(), "batch_norm: expected all tensors to be on ", x.device(),
              ", but found one on ", given->device());
  return given->to(statistics_type(x)).contiguous();
}

Tensors native_batch_norm(const at::Tensor& input, const std::optional<at::Tensor>& weight,
                          const std::optional<at::Tensor>& bias,
                          const std::optional<at::Tensor>& running_mean,
                          const std::optional<at::Tensor>& running_var, bool training, double momentum,
                          double eps) {
  const c10::MemoryFormat format = input.suggest_memory_format();
  const at::Tensor x = input.contiguous(format);
  const dlprim::Tensor raw_x = dlprim::batch_norm_items(raw_to_read(x));
  const at::TensorOptions options = x.options().dtype(statistics_type(x));
  const auto w = Optional::to_read(as_statistics(weight, x)), b = Optional::to_read(as_statistics(bias, x));
  const std::optional<at::Tensor> mean = as_statistics(running_mean, x),
                                  variance = as_statistics(running_var, x);
  const at::Tensor y = at::empty_like(x), invstd = at::empty({x.size(1)}, options);
  dlprim::Queue& queue = device_under(x).queue();
  const auto normalise = [&](const at::Tensor& by) {
    if (x.numel() == 0) return;
    if (format != c10::MemoryFormat::Contiguous)  // what would find it put off knows contiguous tensors alone
      return dlprim::batch_norm_forward(queue, raw_x, raw_to_read(by), raw_to_read(invstd), w.get(), b.get(),
                                        dlprim::batch_norm_items(raw(y)));
    auto work = std::make_shared<DeferredNorm>(x, by, invstd, w.tensor(), b.tensor());
    defer(y, std::move(work), {x, by, invstd, w.tensor(), b.tensor()});
  };
  if (!training) {
    dlprim::batch_norm_invstd(queue, raw_to_read(*variance), eps, raw(invstd));
    dlprim::check_batch_norm(queue, raw_x, raw_to_read(*mean), raw_to_read(invstd), w.get(), b.get());
    normalise(*mean);
    return {y, at::empty({0}, options), at::empty({0}, options)};
  }
  const at::Tensor saved = at::empty({x.size(1)}, options);
  const Optional running(mean), running_variance(variance);
  dlprim::check_batch_norm(queue, raw_x, raw(saved), raw(invstd), w.get(), b.get());
  dlprim::batch_norm_statistics(queue, raw_x, eps, raw(saved), raw(invstd),
                                {running.get(), running_variance.get(), momentum});
  normalise(saved);
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
  const c10::MemoryFormat format = input.suggest_memory_format();
  const at::Tensor g = grad.contiguous(format), x = input.contiguous(format);
  const dlprim::Tensor raw_x = dlprim::batch_norm_items(raw_to_read(x));
  dlprim::Queue& queue = device_under(x).queue();
  const at::TensorOptions options = x.options().dtype(statistics_type(x));
  at::Tensor mean, invstd;
  if (training) {
    mean = *save_mean;
    invstd = *save_invstd;
  } else {
    mean = *as_statistics(running_mean, x);
    invstd = at::empty({x.size(1)}, options);
    dlprim::batch_norm_invstd(queue, raw_to_read(*as_statistics(running_var, x)), eps, raw(invstd));
  }
  const at::Tensor dx = wanted[0] ? at::empty_like(x) : at::Tensor();
  const at::Tensor dw = wanted[1] ? at::empty({x.size(1)}, options) : at::Tensor();
  const at::Tensor db = wanted[2] ? at::empty({x.size(1)}, options) : at::Tensor();
  const auto w = Optional::to_read(as_statistics(weight, x));
  const dlprim::Tensor raw_dx = dx.defined() ? dlprim::batch_norm_items(raw(dx)) : dlprim::Tensor();
  const auto backward = [&](const dlprim::Tensor& dy, const dlprim::EpilogueGradient& epilogue) {
    dlprim::batch_norm_backward(queue, dy, raw_x, raw_to_read(mean), raw_to_read(invstd), w.get(), training,
                                raw_dx.defined() ? &raw_dx : nullptr, Optional(dw).get(), Optional(db).get(),
                                epilogue);
  };
  const auto activation = deferred<DeferredActivationGradient>(g);
  const bool fits = activation && format == c10::MemoryFormat::Contiguous && g.sizes() == x.sizes() &&
                    g.scalar_type() == x.scalar_type() && !g.is_alias_of(x);
  if (fits && !activation->norm()) {
    // The gradient is written on the way, for whoever else it goes to: that which a shortcut adds.
    const dlprim::Tensor behind = raw_to_overwrite(g);
    backward(activation->gradient(), {&activation->activation(), nullptr, &activation->result(), &behind});
    note_overwritten(g);
  } else if (fits && activation->norm()->is_of(raw_x, raw_to_read(mean), raw_to_read(invstd), w.get())) {
    backward(activation->gradient(), {&activation->activation(), activation->norm()->bias()});
  } else {
    backward(dlprim::batch_norm_items(raw_to_read(g)), {});
  }
  const auto as_weight = [&](const at::Tensor& t) {
    return t.defined() && weight && weight->defined() ? t.to(weight->scalar_type()) : t;
  };
  return {dx, as_weight(dw), as_weight(db)};
}

Tensors batch_norm_legit(const at::Tensor& input, const std::optional<at::Tensor>& weight,
                         const std::optional<at::Tensor>& bias, at::Tensor& running_mean,
                         at::Tensor& running_var, bool training, double momentum, double eps) {
  return at::native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps);
}

Tensors batch_norm_without_statistics(const at::Tensor& input, const std::optional<at::Tensor>& weight,
                                      const std::optional<at::Tensor>& bias, bool training, double momentum,
                                      double eps) {
  return at::native_batch_norm(input, weight, bias, {}, {}, training, momentum, eps);
}

std::optional<at::Tensor> as_type(const std::optional<at::Tensor>& given, const at::Tensor& x) {
  if (!given || !given->defined()) return std::nullopt;
  return given->to(x.scalar_type());
}

/** y, and mean and invstd of every row. */
Tensors norm_of_rows(const dlprim::NormRows& rows, const at::Tensor& x,
                     const std::optional<at::Tensor>& weight, const std::optional<at::Tensor>& bias,
                     double eps) {
  const at::Tensor y = at::empty_like(x);
  const at::TensorOptions options = x.options().dtype(statistics_type(x));
  const at::Tensor mean = at::empty({rows.rows}, options), invstd = at::empty({rows.rows}, options);
  const dlprim::Tensor raw_mean = raw(mean);
  if (x.numel() > 0) {
    dlprim::row_norm_forward(device_under(x).queue(), rows, raw(x), Optional(as_type(weight, x)).get(),
                             Optional(as_type(bias, x)).get(), eps, raw(y), &raw_mean, raw(invstd));
  } else {  // as PyTorch has it of rows without elements
    mean.zero_();
    invstd.fill_(NAN);
  }
  return {y, mean, invstd};
}

/** Gradients by x, weight and bias; those of `affine` shape have the dtype of x. */
Tensors norm_of_rows_backward(const dlprim::NormRows& rows, const at::Tensor& grad, const at::Tensor& x,
                              const at::Tensor& mean, const at::Tensor& invstd,
                              const std::optional<at::Tensor>& weight, c10::IntArrayRef affine,
                              std::array<bool, 3> wanted) {
  const at::Tensor g = grad.contiguous(), dx = at::empty_like(x);
  const at::TensorOptions options = x.options().dtype(statistics_type(x));
  const at::Tensor m = mean.reshape({rows.rows}).to(statistics_type(x)),
                   s = invstd.reshape({rows.rows}).to(statistics_type(x));
  const at::Tensor terms = wanted[1] ? at::empty(x.sizes(), options) : at::Tensor();
  dlprim::Queue& queue = device_under(x).queue();
  const dlprim::Tensor raw_mean = raw(m);
  if (x.numel() > 0)
    dlprim::row_norm_backward(queue, rows, raw(g), raw(x), Optional(as_type(weight, x)).get(), &raw_mean,
                              raw(s), raw(dx), Optional(terms).get());
  const auto summed = [&](bool is_wanted, const at::Tensor& t) {
    if (!is_wanted) return at::Tensor();
    const at::Tensor gradient = at::zeros(affine, x.options());
    if (x.numel() > 0) dlprim::row_norm_backward_affine(queue, rows, raw(t), raw(gradient.view({-1})));
    return weight && weight->defined() ? gradient.to(weight->scalar_type()) : gradient;
  };
  return {wanted[0] ? dx : at::Tensor(), summed(wanted[1], terms), summed(wanted[2], g)};
}

Tensors native_layer_norm(const at::Tensor& input, c10::IntArrayRef normalized_shape,
                          const std::optional<at::Tensor>& weight, const std::optional<at::Tensor>& bias,
                          double eps) {
  const at::Tensor x = input.contiguous();
  const dlprim::NormRows rows =
      dlprim::layer_norm_rows("layer_norm", dims_of(x.sizes()), dims_of(normalized_shape));
  std::vector<std::int64_t> shape = x.sizes().vec();  // of the statistics: 1 where x is normalised
  std::fill(shape.end() - static_cast<std::ptrdiff_t>(normalized_shape.size()), shape.end(), 1);
  const auto [y, mean, invstd] = norm_of_rows(rows, x, weight, bias, eps);
  return {y, mean.view(shape), invstd.view(shape)};
}

Tensors native_layer_norm_backward(const at::Tensor& grad, const at::Tensor& input,
                                   c10::IntArrayRef normalized_shape, const at::Tensor& mean,
                                   const at::Tensor& invstd, const std::optional<at::Tensor>& weight,
                                   const std::optional<at::Tensor>&, std::array<bool, 3> wanted) {
  const at::Tensor x = input.contiguous();
  const dlprim::NormRows rows =
      dlprim::layer_norm_rows("layer_norm", dims_of(x.sizes()), dims_of(normalized_shape));
  return norm_of_rows_backward(rows, grad, x, mean, invstd, weight, normalized_shape, wanted);
}

Tensors native_group_norm(const at::Tensor& input, const std::optional<at::Tensor>& weight,
                          const std::optional<at::Tensor>& bias, std::int64_t batch, std::int64_t,
                          std::int64_t, std::int64_t groups, double eps) {
  const at::Tensor x = input.contiguous();
  const dlprim::NormRows rows = dlprim::group_norm_rows("group_norm", dims_of(x.sizes()), groups);
  const auto [y, mean, invstd] = norm_of_rows(rows, x, weight, bias, eps);
  return {laid_out_as(input, y), mean.view({batch, groups}), invstd.view({batch, groups})};
}

Tensors native_group_norm_backward(const at::Tensor& grad, const at::Tensor& input, const at::Tensor& mean,
                                   const at::Tensor& invstd, const std::optional<at::Tensor>& weight,
                                   std::int64_t, std::int64_t channels, std::int64_t, std::int64_t groups,
                                   std::array<bool, 3> wanted) {
  const at::Tensor x = input.contiguous();
  const dlprim::NormRows rows = dlprim::group_norm_rows("group_norm", dims_of(x.sizes()), groups);
  return norm_of_rows_backward(rows, grad, x, mean, invstd, weight, {channels}, wanted);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  Kernels m(library);
  m.impl("native_batch_norm", &native_batch_norm);
  m.impl("native_batch_norm_backward", &native_batch_norm_backward);
  m.impl("_native_batch_norm_legit", &batch_norm_legit);
  m.impl("_native_batch_norm_legit.no_stats", &batch_norm_without_statistics);
  m.impl("native_layer_norm", &native_layer_norm);
  m.impl("native_layer_norm_backward", &native_layer_norm_backward);
  m.impl("native_group_norm", &native_group_norm);
  m.impl("native_group_norm_backward", &native_group_norm_backward);
}

}  // namespace
}  // namespace torch_ocl
