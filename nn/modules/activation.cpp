#include "nn/modules/activation.h"

#include "autograd/creation.h"
#include "autograd/ops/pointwise.h"

namespace ocl::nn {

Activation::Activation(const char* class_name, const char* function, std::vector<Parameter> parameters,
                       bool is_inplace, bool shows_inplace)
    : inplace(is_inplace),
      class_name_(class_name),
      op_(dlprim::pointwise_op(function)),
      parameters_(std::move(parameters)),
      shows_inplace_(shows_inplace) {}

Tensor Activation::forward(const Tensor& x) {
  std::vector<Scalar> values;
  for (const Parameter& p : parameters_) values.push_back(p.value);
  return activate(op_, x, values, inplace);
}

std::string Activation::extra_repr() const {
  std::string text;
  for (const Parameter& p : parameters_)
    text += dlprim::concat(text.empty() ? "" : ", ", p.name, '=', number_repr(p.value));
  if (inplace && shows_inplace_) text += text.empty() ? "inplace=True" : ", inplace=True";
  return text;
}

Scalar& Activation::parameter(const std::string& parameter_name) {
  for (Parameter& p : parameters_)
    if (p.name == parameter_name) return p.value;
  throw ValueError(dlprim::concat(name(), " has no parameter '", parameter_name, "'"));
}

GELU::GELU(const std::string& approximate) : tanh_(approximate == "tanh") {
  dlprim::require(tanh_ || approximate == "none", "approximate argument must be either none or tanh, got ",
                  approximate);
}

Tensor GELU::forward(const Tensor& x) {
  return tanh_ ? gelu_tanh(x) : gelu(x);
}

PReLU::PReLU(std::int64_t num_parameters, double init) : init_(init) {
  dlprim::require(num_parameters > 0, "PReLU: num_parameters must be positive, got ", num_parameters);
  register_parameter("weight", weight, full({num_parameters}, init));
}

}  // namespace ocl::nn
