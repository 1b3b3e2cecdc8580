#include "nn/modules/activation.h"

#include "autograd/ops/pointwise.h"
#include "nn/init.h"

namespace ocl::nn {

using dlprim::require;

Tensor Softplus::forward(const Tensor& x) {
  const SoftplusOptions o = options();
  return softplus(x, o.beta(), o.threshold());
}

Hardtanh::Hardtanh(const HardtanhOptions& o) : Layer(o) {
  require(o.min_val().real() < o.max_val().real(), "Hardtanh: min_val must be below max_val, got ",
          o.min_val().real(), " and ", o.max_val().real());
}

Tensor Hardtanh::forward(const Tensor& x) {
  const HardtanhOptions o = options();
  return activate(dlprim::pointwise_op("hardtanh"), x, {o.min_val(), o.max_val()}, o.inplace());
}

Tensor Threshold::forward(const Tensor& x) {
  const ThresholdOptions o = options();
  return activate(dlprim::pointwise_op("threshold"), x, {o.threshold(), o.value()}, o.inplace());
}

Tensor GELU::forward(const Tensor& x) {
  const std::string approximate = options().approximate();
  require(approximate == "none" || approximate == "tanh",
          "GELU: approximate argument must be either none or tanh, got ", approximate);
  return approximate == "tanh" ? gelu_tanh(x) : gelu(x);
}

PReLU::PReLU(const PReLUOptions& o) : Layer(o) {
  require(o.num_parameters() >= 0, "PReLU: num_parameters must not be negative, got ", o.num_parameters());
  register_parameter("weight", weight, made({o.num_parameters()}));
  initialize();
}

void PReLU::reset_parameters() {
  init::constant_(weight, options().init());
}

std::string PReLU::extra_repr() const {
  return dlprim::concat("num_parameters=", options().num_parameters());
}

std::int64_t SoftmaxOptions::chosen_dim(int rank) const {
  return dim_.value_or(rank == 0 || rank == 1 || rank == 3 ? 0 : 1);
}

Tensor RReLU::forward(const Tensor& x) {
  const RReLUOptions o = options();
  if (!o.inplace()) return rrelu(x, o.lower(), o.upper(), is_training());
  Tensor result = x;
  return rrelu_(result, o.lower(), o.upper(), is_training());
}

Tensor Softmax2d::forward(const Tensor& x) {
  require(x.dim() == 3 || x.dim() == 4, "Softmax2d: expected input to be 3D or 4D, got ", x.dim(),
          "D instead");
  return softmax(x, -3);
}

}  // namespace ocl::nn
