#include "nn/optim/tensor_rules.h"

#include <cmath>
#include <limits>

#include "autograd/ops/pointwise.h"
#include "autograd/ops/reduce.h"
#include "autograd/tensor/creation.h"

namespace ocl::optim {
namespace {

/** The root of the mean of the squares, on the device. */
Tensor root_mean_square(const Tensor& t) {
  return norm(t) / std::sqrt(static_cast<double>(t.numel()));
}

/** Moves the running mean of squares along `dim` (of all elements alone, if none) towards those of `g`. */
void follow(Tensor& mean, const Tensor& g, std::optional<std::int64_t> dim, double weight) {
  const Tensor squares = dim ? ocl::mean(g * g, {*dim}, true) : g * g;
  if (!mean.defined()) mean = zeros_like(squares);
  mean.add_((squares - mean) * weight);
}

void adafactor(const Options& o, Participant& p) {
  const double lr = o.number("lr"), step = ++p.numbers[0];
  const double epsilon = p.parameter.dtype() == DType::float64 ? std::numeric_limits<double>::epsilon()
                                                               : std::numeric_limits<float>::epsilon();
  const double least = std::isnan(o.numbers("eps")[0]) ? epsilon : o.numbers("eps")[0];
  const double weight = std::pow(step, o.number("beta2_decay"));
  const Tensor gradient = o.flag("maximize") ? p.gradient.neg() : p.gradient;
  Tensor value = p.parameter, &rows = p.tensors[0], &columns = p.tensors[1], &all = p.tensors[2];
  const Tensor size =
      root_mean_square(value).clamp_min(o.numbers("eps")[1]) * std::fmin(lr, 1 / std::sqrt(step));
  if (o.number("weight_decay") != 0) value.mul_(1 - lr * o.number("weight_decay"));
  Tensor squares;
  if (gradient.dim() > 1) {
    follow(rows, gradient, -1, weight);
    follow(columns, gradient, -2, weight);
    squares = rows * columns / mean(rows, {-2}, true).clamp_min(least);
  } else {
    follow(all, gradient, std::nullopt, weight);
    squares = all;
  }
  const Tensor update = squares.clamp_min(least * least).rsqrt() * gradient;
  value.sub_(update * (size / (root_mean_square(update) / o.number("d")).clamp_min(1)));
}

}  // namespace

void tensor_update(const char* name, const Options& options, Participant& participant) {
  dlprim::require(std::string(name) == "Adafactor", name, ": takes no steps by itself");
  adafactor(options, participant);
}

}  // namespace ocl::optim
