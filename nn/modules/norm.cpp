#include "nn/modules/norm.h"

#include "autograd/creation.h"
#include "autograd/ops/norm.h"
#include "autograd/ops/views.h"

namespace ocl::nn {
namespace {

const char* python_bool(bool value) {
  return value ? "True" : "False";
}

/** Sizes as Python prints a tuple: "(5,)", "(2, 3)". */
std::string tuple_repr(const std::vector<std::int64_t>& sizes) {
  std::string text = "(";
  for (std::size_t i = 0; i < sizes.size(); ++i) text += (i ? ", " : "") + std::to_string(sizes[i]);
  return text + (sizes.size() == 1 ? ",)" : ")");
}

}  // namespace

BatchNorm::BatchNorm(std::int64_t num_features, double eps, std::optional<double> momentum, bool affine,
                     bool track_running_stats)
    : num_features_(num_features), eps_(eps), momentum_(momentum) {
  dlprim::require(num_features > 0, "BatchNorm: num_features must be positive, got ", num_features);
  register_parameter("weight", weight, affine ? ones({num_features}) : Tensor());
  register_parameter("bias", bias, affine ? zeros({num_features}) : Tensor());
  register_buffer("running_mean", running_mean, track_running_stats ? zeros({num_features}) : Tensor());
  register_buffer("running_var", running_var, track_running_stats ? ones({num_features}) : Tensor());
  if (track_running_stats) register_counter("num_batches_tracked", &num_batches_tracked);
}

Tensor BatchNorm::forward(const Tensor& x) {
  check_input(x);
  const Tensor mean = held(running_mean), variance = held(running_var);
  const bool uses_batch = is_training() || !mean.defined();
  if (is_training() && mean.defined()) ++num_batches_tracked;
  const double momentum =
      momentum_ ? *momentum_ : 1.0 / static_cast<double>(std::max<std::int64_t>(num_batches_tracked, 1));
  return batch_norm(x, mean, variance, held(weight), held(bias), uses_batch, momentum, eps_);
}

std::string BatchNorm::extra_repr() const {
  return dlprim::concat(num_features_, ", eps=", float_repr(eps_),
                        ", momentum=", momentum_ ? float_repr(*momentum_) : "None",
                        ", affine=", python_bool(weight.defined()),
                        ", track_running_stats=", python_bool(running_mean.defined()));
}

void BatchNorm2d::check_input(const Tensor& x) const {
  dlprim::require(x.dim() == 4, "BatchNorm2d: expected 4D input (got ", x.dim(), "D input)");
}

void BatchNorm1d::check_input(const Tensor& x) const {
  dlprim::require(x.dim() == 2 || x.dim() == 3, "BatchNorm1d: expected 2D or 3D input (got ", x.dim(),
                  "D input)");
}

LayerNorm::LayerNorm(std::vector<std::int64_t> normalized_shape, double eps, bool elementwise_affine,
                     bool with_bias)
    : shape_(std::move(normalized_shape)), eps_(eps) {
  register_parameter("weight", weight, elementwise_affine ? ones(shape_) : Tensor());
  register_parameter("bias", bias, elementwise_affine && with_bias ? zeros(shape_) : Tensor());
}

Tensor LayerNorm::forward(const Tensor& x) {
  return layer_norm(x, shape_, held(weight), held(bias), eps_);
}

std::string LayerNorm::extra_repr() const {
  return dlprim::concat(tuple_repr(shape_), ", eps=", float_repr(eps_),
                        ", elementwise_affine=", python_bool(weight.defined()));
}

RMSNorm::RMSNorm(std::vector<std::int64_t> normalized_shape, std::optional<double> eps,
                 bool elementwise_affine)
    : shape_(std::move(normalized_shape)), eps_(eps) {
  register_parameter("weight", weight, elementwise_affine ? ones(shape_) : Tensor());
}

Tensor RMSNorm::forward(const Tensor& x) {
  return rms_norm(x, shape_, held(weight), eps_);
}

std::string RMSNorm::extra_repr() const {
  return dlprim::concat(tuple_repr(shape_), ", eps=", eps_ ? float_repr(*eps_) : "None",
                        ", elementwise_affine=", python_bool(weight.defined()));
}

GroupNorm::GroupNorm(std::int64_t num_groups, std::int64_t num_channels, double eps, bool affine)
    : groups_(num_groups), channels_(num_channels), eps_(eps) {
  dlprim::require(num_groups > 0 && num_channels > 0 && num_channels % num_groups == 0,
                  "GroupNorm: num_channels must be divisible by num_groups, got ", num_channels, " and ",
                  num_groups);
  register_parameter("weight", weight, affine ? ones({num_channels}) : Tensor());
  register_parameter("bias", bias, affine ? zeros({num_channels}) : Tensor());
}

Tensor GroupNorm::forward(const Tensor& x) {
  return group_norm(x, groups_, held(weight), held(bias), eps_);
}

std::string GroupNorm::extra_repr() const {
  return dlprim::concat(groups_, ", ", channels_, ", eps=", float_repr(eps_),
                        ", affine=", python_bool(weight.defined()));
}

InstanceNorm::InstanceNorm(std::int64_t num_features, double eps, std::optional<double> momentum, bool affine,
                           bool track_running_stats)
    : num_features_(num_features), eps_(eps), momentum_(momentum) {
  dlprim::require(num_features > 0, "InstanceNorm: num_features must be positive, got ", num_features);
  register_parameter("weight", weight, affine ? ones({num_features}) : Tensor());
  register_parameter("bias", bias, affine ? zeros({num_features}) : Tensor());
  register_buffer("running_mean", running_mean, track_running_stats ? zeros({num_features}) : Tensor());
  register_buffer("running_var", running_var, track_running_stats ? ones({num_features}) : Tensor());
  if (track_running_stats) register_counter("num_batches_tracked", &num_batches_tracked);
}

Tensor InstanceNorm::forward(const Tensor& x) {
  dlprim::require(x.dim() == item_rank() || x.dim() == item_rank() + 1, name(), ": expected ", item_rank(),
                  "D or ", item_rank() + 1, "D input (got ", x.dim(), "D input)");
  if (x.dim() == item_rank()) return squeeze(forward(unsqueeze(x, 0)), 0);
  const Tensor mean = held(running_mean), variance = held(running_var);
  const bool uses_input = is_training() || !mean.defined();
  return instance_norm(x, mean, variance, held(weight), held(bias), uses_input, momentum_.value_or(0), eps_);
}

std::string InstanceNorm::extra_repr() const {
  return dlprim::concat(num_features_, ", eps=", float_repr(eps_),
                        ", momentum=", momentum_ ? float_repr(*momentum_) : "None",
                        ", affine=", python_bool(weight.defined()),
                        ", track_running_stats=", python_bool(running_mean.defined()));
}

Tensor LocalResponseNorm::forward(const Tensor& x) {
  return local_response_norm(x, size_, alpha_, beta_, k_);
}

std::string LocalResponseNorm::extra_repr() const {
  return dlprim::concat(size_, ", alpha=", float_repr(alpha_), ", beta=", float_repr(beta_),
                        ", k=", float_repr(k_));
}

}  // namespace ocl::nn
