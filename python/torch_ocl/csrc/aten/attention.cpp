#include "dlprim/ops/attention/attention.h"

#include <ATen/Context.h>
#include <ATen/native/transformers/attention.h>
#include <ATen/native/transformers/sdp_utils_cpp.h>
#include <torch/library.h>

#include <array>
#include <cmath>
#include <limits>

#include "arguments.h"
#include "aten/kernels.h"
#include "aten/transforms.h"

/** \file scaled_dot_product_attention without the whole matrix of scores. */

namespace torch_ocl {
namespace {

/** PyTorch asks this before each call: its own composition stays for whatever dlprim's function does not
 * take, and for function transforms, which have no rule for it. */
std::int64_t choose(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                    const std::optional<at::Tensor>& mask, double dropout_p, bool /*is_causal*/,
                    std::optional<double> /*scale*/, bool /*enable_gqa*/) {
  const auto fits = [&](const at::Tensor& t) {
    return t.dim() == 4 && t.numel() > 0 && t.scalar_type() == query.scalar_type() &&
           t.size(0) == query.size(0) && t.size(1) == query.size(1);
  };
  const bool is_ours = !query.is_nested() && !key.is_nested() && !value.is_nested() &&
                       at::globalContext().userEnabledOverrideableSDP() && dropout_p == 0 &&
                       c10::isFloatingType(query.scalar_type()) && fits(query) && fits(key) && fits(value) &&
                       key.size(3) == query.size(3) && value.size(2) == key.size(2) &&
                       (!mask || (mask->is_privateuseone() && !is_mapped_or_in_forward_mode(*mask))) &&
                       !is_mapped_or_in_forward_mode(query) && !is_mapped_or_in_forward_mode(key) &&
                       !is_mapped_or_in_forward_mode(value);
  return static_cast<std::int64_t>(is_ours ? at::SDPBackend::overrideable : at::SDPBackend::math);
}

dlprim::AttentionSettings settings_of(const at::Tensor& query, bool is_causal, std::optional<double> scale) {
  dlprim::AttentionSettings settings;
  settings.scale = scale.value_or(1 / std::sqrt(static_cast<double>(query.size(3))));
  settings.is_causal = is_causal;
  settings.precision = matmul_precision();
  return settings;
}

/** [batch, heads, …] as one batch. */
dlprim::Tensor joined(const at::Tensor& t) {
  return raw(t.flatten(0, 1));
}

/** The mask for every query and key, [batch, heads, queries, keys], or none. */
std::optional<at::Tensor> expanded_mask(const std::optional<at::Tensor>& mask, const at::Tensor& query,
                                        const at::Tensor& key) {
  if (!mask || !mask->defined()) return std::nullopt;
  return mask->expand({query.size(0), query.size(1), query.size(2), key.size(2)});
}

using Outputs = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, c10::SymInt, c10::SymInt,
                           at::Tensor, at::Tensor, at::Tensor>;

Outputs attention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                  const std::optional<at::Tensor>& given, double dropout_p, bool is_causal,
                  bool /*return_debug_mask*/, std::optional<double> scale) {
  TORCH_CHECK_NOT_IMPLEMENTED(dropout_p == 0, "fused attention on ocl devices has no dropout");
  at::Tensor out = at::empty({query.size(0), query.size(1), query.size(2), value.size(3)}, query.options());
  const std::optional<at::Tensor> mask = expanded_mask(given, query, key);
  const dlprim::Tensor raw_mask = mask ? raw(*mask) : dlprim::Tensor();
  const bool is_double = query.scalar_type() == at::kDouble;
  at::Tensor log_sums = at::empty({query.size(0), query.size(1), query.size(2)},
                                  query.options().dtype(is_double ? at::kDouble : at::kFloat));
  const dlprim::Tensor raw_sums = raw(log_sums.flatten(0, 1));
  dlprim::attention_forward(device_under(query).queue(), joined(query), joined(key), joined(value),
                            mask ? &raw_mask : nullptr, settings_of(query, is_causal, scale), joined(out),
                            nullptr, &raw_sums);
  const at::Tensor none = at::empty({0}, query.options());
  return {out, log_sums, {}, {}, query.size(2), key.size(2), none, none, {}};
}

using Gradients = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor>;

Gradients attention_backward(const at::Tensor& grad, const at::Tensor& query, const at::Tensor& key,
                             const at::Tensor& value, const at::Tensor& given, std::array<bool, 4> wanted,
                             const at::Tensor& out, const at::Tensor& log_sums, const at::Tensor&,
                             const at::Tensor&, c10::SymInt, c10::SymInt, double, bool is_causal,
                             const at::Tensor&, const at::Tensor&, std::optional<double> scale) {
  const std::optional<at::Tensor> mask = expanded_mask(given, query, key);
  const dlprim::Tensor raw_mask = mask ? raw(*mask) : dlprim::Tensor();
  const auto fresh = [](bool is_wanted, const at::Tensor& like) {
    return is_wanted ? at::empty(like.sizes(), like.options()) : at::Tensor();
  };
  const at::Tensor dq = fresh(wanted[0], query), dk = fresh(wanted[1], key), dv = fresh(wanted[2], value),
                   dm = fresh(wanted[3] && mask, mask.value_or(query));
  const auto target = [](const at::Tensor& t) { return t.defined() ? joined(t) : dlprim::Tensor(); };
  const dlprim::Tensor raw_out = joined(out), raw_sums = raw(log_sums.flatten(0, 1));
  dlprim::attention_backward(device_under(query).queue(), joined(grad.contiguous()), nullptr, joined(query),
                             joined(key), joined(value), mask ? &raw_mask : nullptr,
                             settings_of(query, is_causal, scale), nullptr, &raw_out, &raw_sums,
                             {target(dq), target(dk), target(dv), dm.defined() ? raw(dm) : dlprim::Tensor()});
  return {dq, dk, dv, dm};
}

/** The gradients by differentiable operators, where their own gradients are asked for. */
std::optional<Gradients> differentiable_backward(const at::Tensor& grad, const at::Tensor& query,
                                                 const at::Tensor& key, const at::Tensor& value,
                                                 const at::Tensor& bias, std::array<bool, 4>,
                                                 const at::Tensor& out, const at::Tensor&, const at::Tensor&,
                                                 const at::Tensor&, c10::SymInt, c10::SymInt, double,
                                                 bool is_causal, const at::Tensor&, const at::Tensor&,
                                                 std::optional<double> given) {
  if (!at::GradMode::is_enabled() || !any_requires_grad({grad, query, key, value, bias})) return std::nullopt;
  const double scale = given.value_or(1 / std::sqrt(static_cast<double>(query.size(3))));
  at::Tensor scores = (query * scale).matmul(key.mT());
  if (bias.defined()) scores = scores + bias;
  if (is_causal) {
    const at::Tensor is_later = at::ones_like(scores, at::kBool).triu(1);
    scores = scores.masked_fill(is_later, -std::numeric_limits<double>::infinity());
  }
  const at::Tensor weights = at::_safe_softmax(scores, -1);
  const at::Tensor by_weights = grad.matmul(value.mT());
  const at::Tensor by_scores = weights * (by_weights - (grad * out).sum(-1, true));
  return Gradients(by_scores.matmul(key) * scale, by_scores.mT().matmul(query * scale),
                   weights.mT().matmul(grad), bias.defined() ? by_scores.sum_to_size(bias.sizes()) : bias);
}

TORCH_LIBRARY_IMPL(aten, AutogradPrivateUse1, library) {
  Derivatives m(library);
  m.impl("_scaled_dot_product_fused_attention_overrideable_backward", &differentiable_backward);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  Kernels m(library);
  m.impl("_scaled_dot_product_fused_attention_overrideable", &attention);
  m.impl("_scaled_dot_product_fused_attention_overrideable_backward", &attention_backward);
}

}  // namespace
}  // namespace torch_ocl

namespace at::native {

REGISTER_PRIVATEUSE1_DISPATCH(_fused_sdp_choice_stub, &torch_ocl::choose)

}  // namespace at::native
