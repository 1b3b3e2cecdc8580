#include "nn/models/composed.h"

#include <algorithm>

#include "nn/init.h"

namespace ocl::models {

std::string repr_of(const NormLayer& layer) {
  return layer.name.empty() ? "None" : layer.name;
}

std::string repr_of(const ActivationLayer& layer) {
  return layer.name.empty() ? "None" : layer.name;
}

NormLayer batch_norm(double eps, double momentum) {
  const BatchNormOptions plain;
  const bool is_plain = eps == plain.eps() && momentum == plain.momentum();
  return {is_plain ? "BatchNorm2d" : "", [=](std::int64_t channels) {
            return make<BatchNorm2d>(BatchNormOptions(channels).eps(eps).momentum(momentum));
          }};
}

NormLayer layer_norm(double eps) {
  return {eps == LayerNormOptions().eps() ? "LayerNorm" : "",
          [=](std::int64_t channels) { return make<LayerNorm>(LayerNormOptions({channels}).eps(eps)); }};
}

NormLayer or_default(const NormLayer& given, const NormLayer& own) {
  return given ? given : own;
}

std::shared_ptr<ReLU> inplace_relu() {
  return make<ReLU>(ReLU::Options().inplace(true));
}

void zero_if_defined(Tensor& parameter) {
  if (parameter.defined()) init::zeros_(parameter);
}

void init_kaiming(const Module& net) {
  init_layers<Conv2d>(net, [](Tensor& weight) { init::kaiming_normal_(weight, 0, true); });
  init_layers<Linear>(net, [](Tensor& weight) { init::normal_(weight, 0, 0.01); });
}

std::int64_t make_divisible(double value, std::int64_t divisor, std::optional<std::int64_t> min_value) {
  const auto near = static_cast<std::int64_t>(value + static_cast<double>(divisor) / 2) / divisor * divisor;
  const std::int64_t result = std::max(min_value.value_or(divisor), near);
  return static_cast<double>(result) < 0.9 * value ? result + divisor : result;
}

}  // namespace ocl::models
