#include "nn/optim/tensor_rules.h"

#include <cmath>

#include "autograd/ops/compute_dtype.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/reduce.h"
#include "autograd/tensor/creation.h"
#include "dlprim/core/real.h"

namespace ocl::optim {
namespace {

/** The root of the mean of the squares, on the device. */
Tensor root_mean_square(const Tensor& t) {
  return norm(t) / std::sqrt(static_cast<double>(t.numel()));
}

/** Moves the running mean of squares along `dim` (of all elements alone, if none) towards those of `g`; one
 * that is not there yet begins with 0, in `dtype`. */
void follow(Tensor& mean, const Tensor& g, std::optional<std::int64_t> dim, double weight, DType dtype) {
  const Tensor squares = dim ? ocl::mean(g * g, {*dim}, true) : g * g;
  if (!mean.defined()) mean = zeros_like(squares, dtype);
  mean.add_((squares - mean) * weight);
}

// Squares of numbers of 16 bits are computed with in float32: only states and the parameter are rounded.
void adafactor(const Options& o, Participant& p) {
  const double lr = o.number("lr"), step = ++p.numbers[0];
  const DType dtype = p.parameter.dtype();
  const double least = std::isnan(o.numbers("eps")[0]) ? dlprim::machine_epsilon(dtype) : o.numbers("eps")[0];
  const double weight = std::pow(step, o.number("beta2_decay"));
  const Tensor given = in_compute_dtype(p.gradient), gradient = o.flag("maximize") ? given.neg() : given;
  Tensor value = p.parameter, &rows = p.tensors[0], &columns = p.tensors[1], &all = p.tensors[2];
  const Tensor size = root_mean_square(in_compute_dtype(value)).clamp_min(o.numbers("eps")[1]) *
                      std::fmin(lr, 1 / std::sqrt(step));
  if (o.number("weight_decay") != 0) value.mul_(1 - lr * o.number("weight_decay"));
  Tensor squares;
  if (gradient.dim() > 1) {
    follow(rows, gradient, -1, weight, dtype);
    follow(columns, gradient, -2, weight, dtype);
    const Tensor of_rows = in_compute_dtype(rows);
    squares = of_rows * in_compute_dtype(columns) / mean(of_rows, {-2}, true).clamp_min(least);
  } else {
    follow(all, gradient, std::nullopt, weight, dtype);
    squares = in_compute_dtype(all);
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
