#include "nn/init.h"

#include <cmath>

#include "autograd/generator.h"
#include "autograd/tape.h"
#include "dlprim/ops/random/random.h"

namespace ocl::nn::init {
namespace {

using RandomKernel = void (*)(dlprim::Queue&, const dlprim::Tensor&, double, double, dlprim::PhiloxState);

Tensor& draw(Tensor& t, RandomKernel kernel, double first, double second) {
  const NoGradGuard no_grad;
  dlprim::require(t.is_contiguous(), "init: expected a contiguous tensor");
  kernel(t.device()->queue(), t.data(), first, second, default_generator(t.device()).next(t.numel()));
  t.data().storage->bump_version();
  return t;
}

double gain_of(const std::string& nonlinearity, double a) {
  if (nonlinearity == "relu") return std::sqrt(2.0);
  if (nonlinearity == "leaky_relu") return std::sqrt(2.0 / (1 + a * a));
  throw ValueError("kaiming: unsupported nonlinearity " + nonlinearity + "; expected 'relu' or 'leaky_relu'");
}

double kaiming_std(const Tensor& t, double a, bool fan_out, const std::string& nonlinearity) {
  const Fans fan = fans(t);
  return gain_of(nonlinearity, a) / std::sqrt(static_cast<double>(fan_out ? fan.out : fan.in));
}

double xavier_std(const Tensor& t, double gain) {
  const Fans fan = fans(t);
  return gain * std::sqrt(2.0 / static_cast<double>(fan.in + fan.out));
}

}  // namespace

Fans fans(const Tensor& weight) {
  dlprim::require(
      weight.dim() >= 2,
      "fan in and fan out can not be computed for a tensor with fewer than 2 dimensions, got shape ",
      weight.shape());
  const std::int64_t receptive = weight.numel() / std::max<std::int64_t>(weight.size(0) * weight.size(1), 1);
  return {weight.size(1) * receptive, weight.size(0) * receptive};
}

Tensor& uniform_(Tensor& t, double a, double b) {
  return draw(t, dlprim::random_uniform, a, b);
}
Tensor& normal_(Tensor& t, double mean, double std) {
  return draw(t, dlprim::random_normal, mean, std);
}

Tensor& constant_(Tensor& t, double value) {
  const NoGradGuard no_grad;
  return t.fill_(value);
}
Tensor& zeros_(Tensor& t) {
  return constant_(t, 0);
}
Tensor& ones_(Tensor& t) {
  return constant_(t, 1);
}

Tensor& xavier_uniform_(Tensor& t, double gain) {
  const double bound = std::sqrt(3.0) * xavier_std(t, gain);
  return uniform_(t, -bound, bound);
}
Tensor& xavier_normal_(Tensor& t, double gain) {
  return normal_(t, 0, xavier_std(t, gain));
}

Tensor& kaiming_uniform_(Tensor& t, double a, bool fan_out, const std::string& nonlinearity) {
  const double bound = std::sqrt(3.0) * kaiming_std(t, a, fan_out, nonlinearity);
  return uniform_(t, -bound, bound);
}
Tensor& kaiming_normal_(Tensor& t, double a, bool fan_out, const std::string& nonlinearity) {
  return normal_(t, 0, kaiming_std(t, a, fan_out, nonlinearity));
}

}  // namespace ocl::nn::init
