#include "nn/modules/norm.h"

#include "autograd/creation.h"
#include "autograd/ops/norm.h"

namespace ocl::nn {

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
  const bool uses_batch = is_training() || !running_mean.defined();
  if (is_training() && running_mean.defined()) ++num_batches_tracked;
  const double momentum =
      momentum_ ? *momentum_ : 1.0 / static_cast<double>(std::max<std::int64_t>(num_batches_tracked, 1));
  return batch_norm(x, running_mean, running_var, weight, bias, uses_batch, momentum, eps_);
}

std::string BatchNorm::extra_repr() const {
  return dlprim::concat(num_features_, ", eps=", float_repr(eps_),
                        ", momentum=", momentum_ ? float_repr(*momentum_) : "None",
                        ", affine=", weight.defined() ? "True" : "False",
                        ", track_running_stats=", running_mean.defined() ? "True" : "False");
}

void BatchNorm2d::check_input(const Tensor& x) const {
  dlprim::require(x.dim() == 4, "BatchNorm2d: expected 4D input (got ", x.dim(), "D input)");
}

void BatchNorm1d::check_input(const Tensor& x) const {
  dlprim::require(x.dim() == 2 || x.dim() == 3, "BatchNorm1d: expected 2D or 3D input (got ", x.dim(),
                  "D input)");
}

}  // namespace ocl::nn
