#include "autograd/ops/random.h"

#include <cmath>

#include "autograd/ops/call.h"
#include "autograd/ops/inplace.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/views.h"
#include "autograd/tape/tape.h"
#include "dlprim/ops/random/exponential.h"
#include "dlprim/ops/random/multinomial.h"
#include "dlprim/ops/random/permutation.h"
#include "dlprim/runtime/dtype_defines.h"

namespace ocl {
namespace {

using dlprim::require;

/** A fresh tensor, filled by fill(queue, tensor, state); of complex numbers, their parts. */
template <class Fill>
Tensor drawn(const char* op, const Shape& shape, DType dtype, const Device& device, Generator* generator,
             const Fill& fill) {
  if (real_dtype(dtype) == DType::float64) dlprim::require_floating(DType::float64, *device, op);
  const dlprim::Tensor data = dlprim::Tensor::empty(*device, shape, dtype),
                       numbers = is_complex(dtype) ? dlprim::pairs_of(data) : data;
  fill(device->queue(), numbers, generator_or_default(generator, device).next(numbers.numel()));
  return Tensor(data);
}

/** Overwrites `a`, through contiguous memory where it is not. */
template <class Fill>
Tensor& overwritten(const char* op, Tensor& a, Generator* generator, const Fill& fill) {
  check_in_place(op, a, {});
  dlprim::Queue& queue = a.device()->queue();
  const dlprim::Tensor target = is_complex(a.dtype()) ? dlprim::pairs_of(a.data()) : a.data();
  const dlprim::PhiloxState state = generator_or_default(generator, a.device()).next(target.numel());
  if (target.is_contiguous()) {
    fill(queue, target, state);
  } else {
    const dlprim::Tensor values = dlprim::Tensor::empty(*a.device(), target.shape, target.dtype);
    fill(queue, values, state);
    dlprim::copy(queue, values, target);
  }
  record_overwrite(op, a);
  return a;
}

/** The deviation of each part of complex numbers whose own is `std`. */
double deviation_of_part(DType dtype, double std) {
  return is_complex(dtype) ? std / std::sqrt(2.0) : std;
}

/** Waits for the device. */
bool holds_everywhere(const Tensor& condition) {
  return all(condition).item<bool>();
}

}  // namespace

Tensor rand(const Shape& shape, DType dtype, const Device& device, Generator* generator) {
  ENTER_OPERATOR(rand, shape, dtype, device, generator);
  return drawn("rand", shape, dtype, device, generator, [](auto& queue, const auto& out, auto state) {
    dlprim::random_uniform(queue, out, 0, 1, state);
  });
}

Tensor randn(const Shape& shape, DType dtype, const Device& device, Generator* generator) {
  ENTER_OPERATOR(randn, shape, dtype, device, generator);
  return normal(0, 1, shape, dtype, device, generator);
}

Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, DType dtype, const Device& device,
               Generator* generator) {
  require<TypeError>(!is_complex(dtype), "randint: not implemented for ", name(dtype));
  ENTER_OPERATOR(randint, low, high, shape, dtype, device, generator);
  return drawn("randint", shape, dtype, device, generator, [&](auto& queue, const auto& out, auto state) {
    dlprim::random_integers(queue, out, low, high, state);
  });
}

Tensor randperm(std::int64_t n, DType dtype, const Device& device, Generator* generator) {
  require<TypeError>(!is_complex(dtype), "randperm: not implemented for ", name(dtype));
  ENTER_OPERATOR(randperm, n, dtype, device, generator);
  dlprim::require_permutation("randperm", n, dtype);
  return drawn("randperm", {n}, dtype, device, generator, [](auto& queue, const auto& out, auto state) {
    dlprim::random_permutation(queue, out, state);
  });
}

Tensor normal(double mean, double std, const Shape& shape, DType dtype, const Device& device,
              Generator* generator) {
  ENTER_OVERLOAD(normal, size, mean, std, shape, dtype, device, generator);
  return drawn("normal", shape, dtype, device, generator, [&](auto& queue, const auto& out, auto state) {
    dlprim::random_normal(queue, out, mean, deviation_of_part(dtype, std), state);
  });
}

Tensor normal(const Operand& mean, const Operand& std, Generator* generator) {
  ENTER_OPERATOR(normal, mean, std, generator);
  require<TypeError>(mean.is_tensor() || std.is_tensor(), "normal: expected a tensor or a size");
  require(std.is_tensor() || std.number().real() >= 0, "normal expects std >= 0.0, but found std ",
          std.number().real());
  const Tensor& like = mean.is_tensor() ? mean.tensor() : std.tensor();
  Dims shape = like.shape();
  if (mean.is_tensor() && std.is_tensor())
    shape = dlprim::broadcast_shapes(shape, std.tensor().shape(), "normal");
  const NoGradGuard no_grad;
  require(!std.is_tensor() || holds_everywhere(ge(std.tensor(), 0)),
          "normal expects all elements of std >= 0.0");
  const Tensor unit = normal(0, 1, shape.vector(), like.dtype(), like.device(), generator);
  return add(mul(unit, std), mean);
}

Tensor bernoulli(const Tensor& p, Generator* generator) {
  ENTER_OPERATOR(bernoulli, p, generator);
  dlprim::require_floating(p.dtype(), *p.device(), "bernoulli");
  const NoGradGuard no_grad;
  require(holds_everywhere(logical_and(ge(p, 0), le(p, 1))),
          "bernoulli expects all elements of p to be in [0, 1]");
  // Numbers of 16 bits are too few to tell chances apart.
  const DType compute = dlprim::compute_dtype(p.dtype());
  return lt(rand(p.shape().vector(), compute, p.device(), generator), p.to(compute)).to(p.dtype());
}

Tensor bernoulli(const Tensor& like, double p, Generator* generator) {
  ENTER_OVERLOAD(bernoulli, p, like, p, generator);
  return empty_like(like).bernoulli_(p, generator);
}

Tensor multinomial(const Tensor& input, std::int64_t num_samples, bool replacement, Generator* generator) {
  ENTER_OPERATOR(multinomial, input, num_samples, replacement, generator);
  require(input.dim() == 1 || input.dim() == 2, "multinomial: prob_dist must be 1 or 2 dim, got shape ",
          input.shape());
  require<TypeError>(is_floating(input.dtype()),
                     "multinomial only supports floating-point dtypes for input, got: ", name(input.dtype()));
  require(num_samples > 0, "multinomial: cannot sample n_sample <= 0 samples, got ", num_samples);
  const NoGradGuard no_grad;
  const Tensor weights = contiguous(input.dim() == 1 ? unsqueeze(input, 0) : input);
  const Tensor samples = empty({weights.size(0), num_samples}, DType::int64, input.device());
  dlprim::multinomial(input.device()->queue(), weights.data(), replacement,
                      generator_or_default(generator, input.device()).next(samples.numel()), samples.data());
  return input.dim() == 1 ? squeeze(samples, 0) : samples;
}

Tensor& Tensor::uniform_(double from, double to, Generator* generator) {
  require<TypeError>(!is_complex(), "uniform_: not implemented for ", name(dtype()));
  ANNOUNCE_OPERATOR("uniform_", *this, from, to, generator);
  require(from <= to, "uniform_ expects to return a [from, to) range, but found from=", from, " > to=", to);
  return overwritten("uniform_", *this, generator, [&](auto& queue, const auto& out, auto state) {
    dlprim::random_uniform(queue, out, from, to, state);
  });
}

Tensor& Tensor::normal_(double mean, double std, Generator* generator) {
  ANNOUNCE_OPERATOR("normal_", *this, mean, std, generator);
  require(std >= 0, "normal_ expects std >= 0.0, but found std ", std);
  return overwritten("normal_", *this, generator, [&](auto& queue, const auto& out, auto state) {
    dlprim::random_normal(queue, out, mean, deviation_of_part(dtype(), std), state);
  });
}

Tensor& Tensor::bernoulli_(double p, Generator* generator) {
  require<TypeError>(!is_complex(), "bernoulli_: not implemented for ", name(dtype()));
  ANNOUNCE_OPERATOR("bernoulli_", *this, p, generator);
  require(p >= 0 && p <= 1, "bernoulli_ expects p to be in [0, 1], but got p=", p);
  return overwritten("bernoulli_", *this, generator, [&](auto& queue, const auto& out, auto state) {
    dlprim::random_bernoulli(queue, out, p, state);
  });
}

Tensor& Tensor::exponential_(double lambd, Generator* generator) {
  require<TypeError>(!is_complex(), "exponential_: not implemented for ", name(dtype()));
  ANNOUNCE_OPERATOR("exponential_", *this, lambd, generator);
  require(lambd > 0, "exponential_ expects lambda > 0.0, but found lambda=", lambd);
  return overwritten("exponential_", *this, generator, [&](auto& queue, const auto& out, auto state) {
    dlprim::random_exponential(queue, out, lambd, state);
  });
}

Tensor& Tensor::random_(std::optional<std::int64_t> from, std::optional<std::int64_t> to,
                        Generator* generator) {
  require<TypeError>(!is_complex(), "random_: not implemented for ", name(dtype()));
  ANNOUNCE_OPERATOR("random_", *this, from, to, generator);
  const std::int64_t low = from.value_or(0), high = to.value_or(dlprim::whole_numbers_end(dtype()));
  require(low < high, "random_ expects 'from' to be less than 'to', but got from=", low, " >= to=", high);
  return overwritten("random_", *this, generator, [&](auto& queue, const auto& out, auto state) {
    dlprim::random_integers(queue, out, low, high, state);
  });
}

}  // namespace ocl
