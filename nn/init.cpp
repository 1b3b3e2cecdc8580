#include "nn/init.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "autograd/ops/pointwise.h"
#include "autograd/tape/tape.h"
#include "autograd/tensor/creation.h"
#include "autograd/tensor/generator.h"
#include "dlprim/ops/random/random.h"

namespace ocl::nn::init {
namespace {

using RandomKernel = void (*)(dlprim::Queue&, const dlprim::Tensor&, double, double, dlprim::PhiloxState);

Tensor& draw(Tensor& t, RandomKernel kernel, double first, double second) {
  const NoGradGuard no_grad;
  if (!dlprim::is_dense(t.data())) {  // part of a larger tensor
    Tensor drawn = empty_like(t);
    return t.copy_(draw(drawn, kernel, first, second));
  }
  kernel(t.device()->queue(), dlprim::in_memory_order(t.data()), first, second,
         default_generator(t.device()).next(t.numel()));
  t.data().storage->bump_version();
  return t;
}

double kaiming_std(const Tensor& t, double a, bool fan_out, const std::string& nonlinearity) {
  const Fans fan = fans(t);
  return calculate_gain(nonlinearity, a) / std::sqrt(static_cast<double>(fan_out ? fan.out : fan.in));
}

double xavier_std(const Tensor& t, double gain) {
  const Fans fan = fans(t);
  dlprim::require(fan.in + fan.out > 0, "init: fan in and fan out are both 0 for a tensor of shape ",
                  t.shape());
  return gain * std::sqrt(2.0 / static_cast<double>(fan.in + fan.out));
}

}  // namespace

double calculate_gain(const std::string& nonlinearity, std::optional<double> param) {
  static const std::set<std::string> linear{"linear",           "conv1d",           "conv2d",
                                            "conv3d",           "conv_transpose1d", "conv_transpose2d",
                                            "conv_transpose3d", "sigmoid"};
  if (linear.count(nonlinearity)) return 1;
  if (nonlinearity == "tanh") return 5.0 / 3;
  if (nonlinearity == "relu") return std::sqrt(2.0);
  if (nonlinearity == "selu") return 3.0 / 4;
  dlprim::require(nonlinearity == "leaky_relu", "Unsupported nonlinearity ", nonlinearity);
  const double slope = param.value_or(0.01);
  return std::sqrt(2.0 / (1 + slope * slope));
}

Fans fans(const Tensor& weight) {
  dlprim::require(
      weight.dim() >= 2,
      "fan in and fan out can not be computed for a tensor with fewer than 2 dimensions, got shape ",
      weight.shape());
  const std::int64_t receptive = dlprim::product(Dims(weight.shape().begin() + 2, weight.shape().end()));
  return {weight.size(1) * receptive, weight.size(0) * receptive};
}

Tensor& uniform_(Tensor& t, double a, double b) {
  return draw(t, dlprim::random_uniform, a, b);
}
Tensor& normal_(Tensor& t, double mean, double std) {
  return draw(t, dlprim::random_normal, mean, std);
}

Tensor& constant_(Tensor& t, const Scalar& value) {
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
  if (t.numel() == 0) return t;
  const double bound = std::sqrt(3.0) * kaiming_std(t, a, fan_out, nonlinearity);
  return uniform_(t, -bound, bound);
}
Tensor& kaiming_normal_(Tensor& t, double a, bool fan_out, const std::string& nonlinearity) {
  if (t.numel() == 0) return t;
  return normal_(t, 0, kaiming_std(t, a, fan_out, nonlinearity));
}

namespace {

double normal_distribution(double x) {
  return (1 + std::erf(x / std::sqrt(2.0))) / 2;
}

}  // namespace

// Uniform numbers between the distribution's values at the ends, through its inverse. That is infinite at -1
// and 1, which a uniform number may be (one of 2^24 is, and many more are when rounded to half precision):
// the bounds a and b would come of it, however far outside.
Tensor& trunc_normal_(Tensor& t, double mean, double std, double a, double b) {
  dlprim::require(std > 0 && a < b, "trunc_normal_: expected std > 0 and a < b, got ", std, ", ", a, " and ",
                  b);
  const NoGradGuard no_grad;
  const double low = normal_distribution((a - mean) / std), high = normal_distribution((b - mean) / std);
  const DType wide = dlprim::compute_dtype(t.dtype());
  Tensor drawn = t.dtype() == wide ? t : empty_like(t, wide);
  uniform_(drawn, 2 * low - 1, 2 * high - 1);
  const double largest = 1 - std::ldexp(1.0, wide == DType::float64 ? -53 : -24);  // below 1
  drawn.clamp_(-largest, largest);
  drawn.erfinv_();
  drawn.mul_(std * std::sqrt(2.0));
  drawn.add_(mean);
  drawn.clamp_(a, b);
  if (t.dtype() != wide) t.copy_(drawn);
  return t;
}

Tensor& eye_(Tensor& t) {
  dlprim::require(t.dim() == 2, "Only tensors with 2 dimensions are supported, got shape ", t.shape());
  const NoGradGuard no_grad;
  t.zero_();
  dlprim::Tensor diagonal = t.data();
  diagonal.shape = {std::min(t.size(0), t.size(1))};
  diagonal.strides = {t.strides()[0] + t.strides()[1]};
  dlprim::fill(t.device()->queue(), diagonal, 1);
  return t;
}

}  // namespace ocl::nn::init
