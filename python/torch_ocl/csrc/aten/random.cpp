#include "dlprim/ops/random/random.h"

#include <ATen/ATen.h>
#include <ATen/native/DistributionTemplates.h>
#include <torch/library.h>

#include <algorithm>
#include <limits>

#include "arguments.h"
#include "aten/kernels.h"
#include "dlprim/ops/random/exponential.h"
#include "dlprim/ops/random/multinomial.h"
#include "dlprim/ops/random/permutation.h"
#include "runtime/generator.h"
#include "runtime/graph.h"

namespace torch_ocl {
namespace {

namespace templates = at::native::templates;

using GivenGenerator = std::optional<at::Generator>;

/** Fills `self` by `write(queue, contiguous tensor, state)`. */
template <class Write>
void fill(const at::Tensor& self, const GivenGenerator& generator, const Write& write) {
  if (self.numel() == 0) return;
  const dlprim::PhiloxState state = draw(generator, self.device(), self.numel());
  into(self, [&](const dlprim::Tensor& to) { write(to.device().queue(), to, state); });
}

// The kernels that PyTorch's templates, which check the arguments for every device, run then.

template <class>
struct UniformFilling {
  void operator()(at::TensorIterator& iterator, double from, double to, const GivenGenerator& generator) {
    fill(iterator.tensor(0), generator, [&](auto& queue, const auto& out, const auto& state) {
      random_uniform(queue, out, from, to, state);
    });
  }
};

template <class>
struct NormalFilling {
  void operator()(const at::Tensor& self, double mean, double std, const GivenGenerator& generator) {
    fill(self, generator, [&](auto& queue, const auto& out, const auto& state) {
      random_normal(queue, out, mean, std, state);
    });
  }
};

template <class>
struct BernoulliFilling {
  void operator()(const at::Tensor& self, double p, const GivenGenerator& generator) {
    fill(self, generator,
         [&](auto& queue, const auto& out, const auto& state) { random_bernoulli(queue, out, p, state); });
  }
};

template <class>
struct ExponentialFilling {
  void operator()(at::TensorIterator& iterator, double lambd, const GivenGenerator& generator) {
    fill(iterator.tensor(0), generator, [&](auto& queue, const auto& out, const auto& state) {
      random_exponential(queue, out, lambd, state);
    });
  }
};

template <class>
struct GeometricFilling {
  void operator()(at::TensorIterator& iterator, double p, const GivenGenerator& generator) {
    const at::Tensor& self = iterator.tensor(0);
    TORCH_CHECK(self.scalar_type() != at::kBool, "\"geometric_\" not implemented for 'Bool'");
    // The number of the first success: exponential numbers, rounded up.
    const at::Tensor number = at::empty(self.sizes(), self.options().dtype(at::kFloat));
    self.copy_(number.exponential_(-std::log1p(-p), generator).ceil_().clamp_min_(1));
  }
};

template <class>
struct LogNormalFilling {
  void operator()(at::TensorIterator& iterator, double mean, double std, const GivenGenerator& generator) {
    iterator.tensor(0).normal_(mean, std, generator).exp_();
  }
};

template <class>
struct CauchyFilling {
  void operator()(at::TensorIterator& iterator, double median, double sigma,
                  const GivenGenerator& generator) {
    const double quarter_turns = M_PI / 2;
    const at::Tensor& self = iterator.tensor(0);
    self.uniform_(-quarter_turns, quarter_turns, generator).tan_().mul_(sigma).add_(median);
  }
};

template <class>
struct IntegerFilling {
  static constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

  /** From `base` on, `range` of them; the largest int64 is left out. */
  void operator()(at::TensorIterator& iterator, std::uint64_t range, std::int64_t base,
                  const GivenGenerator& generator) {
    const std::uint64_t most = static_cast<std::uint64_t>(largest) - static_cast<std::uint64_t>(base);
    run(iterator.tensor(0), base,
        static_cast<std::int64_t>(static_cast<std::uint64_t>(base) + std::min(range, most)), generator);
  }
  /** All that the dtype has. */
  void operator()(at::TensorIterator& iterator, const GivenGenerator& generator) {
    run(iterator.tensor(0), std::numeric_limits<std::int64_t>::lowest(), largest, generator);
  }
  static void run(const at::Tensor& self, std::int64_t from, std::int64_t to,
                  const GivenGenerator& generator) {
    fill(self, generator, [&](auto& queue, const auto& out, const auto& state) {
      random_integers(queue, out, from, to, state);
    });
  }
};

at::Tensor& uniform(at::Tensor& self, double from, double to, GivenGenerator generator) {
  return templates::uniform_impl_<UniformFilling, Generator>(self, from, to, generator);
}

at::Tensor& normal(at::Tensor& self, double mean, double std, GivenGenerator generator) {
  return templates::normal_impl_<NormalFilling, Generator>(self, mean, std, generator);
}

at::Tensor& exponential(at::Tensor& self, double lambd, GivenGenerator generator) {
  return templates::exponential_impl_<ExponentialFilling, Generator>(self, lambd, generator);
}

at::Tensor& geometric(at::Tensor& self, double p, GivenGenerator generator) {
  return templates::geometric_impl_<GeometricFilling, Generator>(self, p, generator);
}

at::Tensor& log_normal(at::Tensor& self, double mean, double std, GivenGenerator generator) {
  return templates::log_normal_impl_<LogNormalFilling, Generator>(self, mean, std, generator);
}

at::Tensor& cauchy(at::Tensor& self, double median, double sigma, GivenGenerator generator) {
  return templates::cauchy_impl_<CauchyFilling, Generator>(self, median, sigma, generator);
}

at::Tensor& random_from(at::Tensor& self, std::int64_t from, std::optional<std::int64_t> to,
                        GivenGenerator generator) {
  // The template adds 1 and would not come to an end; no floating dtype goes so far without gaps.
  TORCH_CHECK(to || from != IntegerFilling<Generator>::largest || !self.is_floating_point(),
              "from is out of bounds for ", self.dtype());
  return templates::random_from_to_impl<IntegerFilling, Generator>(self, from, to, generator);
}

at::Tensor& random_to(at::Tensor& self, std::int64_t to, GivenGenerator generator) {
  return random_from(self, 0, to, generator);
}

at::Tensor& random(at::Tensor& self, GivenGenerator generator) {
  IntegerFilling<Generator>::run(self, 0, dlprim::whole_numbers_end(dtype_of(self.scalar_type())), generator);
  return self;
}

/** Whether a condition on values, a tensor of bool, holds everywhere; in a capture there are no values yet.
 */
bool holds_everywhere(const at::Tensor& condition) {
  return condition.numel() == 0 || capturing(condition.device().index()) || condition.all().item<bool>();
}

at::Tensor& bernoulli(at::Tensor& self, double p, GivenGenerator generator) {
  return templates::bernoulli_impl_<BernoulliFilling, Generator>(self, p, generator);
}

at::Tensor& bernoulli_each(at::Tensor& self, const at::Tensor& p, GivenGenerator generator) {
  if (self.numel() == 0) return self;
  TORCH_CHECK(at::isFloatingType(p.scalar_type()), "bernoulli expects floating probabilities, but got ",
              p.scalar_type());
  at::assert_no_internal_overlap(self);
  TORCH_CHECK(holds_everywhere(p.ge(0).logical_and_(p.le(1))),
              "bernoulli expects all elements of p to be in [0, 1]");
  const at::Tensor chance = p.to(self.device(), at::kFloat);
  const at::Tensor number = at::empty(self.sizes(), chance.options()).uniform_(0, 1, generator);
  return self.copy_(number.lt(chance));
}

at::Tensor& bernoulli_out(const at::Tensor& p, GivenGenerator generator, at::Tensor& out) {
  at::native::resize_output(out, p.sizes());
  return bernoulli_each(out, p, generator);
}

at::Tensor& permutation(std::int64_t n, GivenGenerator generator, at::Tensor& out) {
  TORCH_CHECK(n >= 0, "n must be non-negative, got", n);
  at::native::resize_output(out, {n});
  fill(out, generator,
       [](auto& queue, const auto& to, const auto& state) { random_permutation(queue, to, state); });
  return out;
}

at::Tensor& multinomial_out(const at::Tensor& weights, std::int64_t samples, bool replacement,
                            GivenGenerator generator, at::Tensor& out) {
  TORCH_CHECK(weights.dim() == 1 || weights.dim() == 2, "prob_dist must be 1 or 2 dim");
  TORCH_CHECK(at::isFloatingType(weights.scalar_type()),
              "multinomial only supports floating-point dtypes for input, got: ", weights.scalar_type());
  TORCH_CHECK(samples > 0, "cannot sample n_sample <= 0 samples");
  TORCH_CHECK(replacement || samples <= weights.size(-1),
              "cannot sample n_sample > prob_dist.size(-1) samples without replacement");
  const bool is_one_row = weights.dim() == 1;
  at::native::resize_output(out, is_one_row ? std::vector<std::int64_t>{samples}
                                            : std::vector<std::int64_t>{weights.size(0), samples});
  if (out.numel() == 0) return out;
  const at::Tensor rows = (is_one_row ? weights.unsqueeze(0) : weights).contiguous();
  const dlprim::PhiloxState state = draw(generator, weights.device(), out.numel());
  into(is_one_row ? out.unsqueeze(0) : out, [&](const dlprim::Tensor& to) {
    dlprim::multinomial(to.device().queue(), raw(rows), replacement, state, to);
  });
  return out;
}

at::Tensor multinomial(const at::Tensor& weights, std::int64_t samples, bool replacement,
                       GivenGenerator generator) {
  at::Tensor out = at::empty({0}, weights.options().dtype(at::kLong));
  return multinomial_out(weights, samples, replacement, generator, out);
}

// At least one of mean and standard deviation is a tensor.

void require_deviations(const at::Tensor& std) {
  TORCH_CHECK(!std.is_complex(), "normal expects standard deviation to be non-complex");
  TORCH_CHECK(holds_everywhere(std.ge(0)), "normal expects all elements of std >= 0.0");
}

at::Tensor& normal_tensors_out(const at::Tensor& mean, const at::Tensor& std, GivenGenerator generator,
                               at::Tensor& out) {
  require_deviations(std);
  at::native::resize_output(out, at::infer_size(mean.sizes(), std.sizes()));
  return out.normal_(0, 1, generator).mul_(std).add_(mean);
}

at::Tensor& normal_mean_out(const at::Tensor& mean, double std, GivenGenerator generator, at::Tensor& out) {
  return templates::normal_out_impl<NormalFilling, Generator>(out, mean, std, generator);
}

at::Tensor& normal_std_out(double mean, const at::Tensor& std, GivenGenerator generator, at::Tensor& out) {
  require_deviations(std);
  at::native::resize_output(out, std.sizes());
  return out.normal_(0, 1, generator).mul_(std).add_(mean);
}

at::Tensor normal_tensors(const at::Tensor& mean, const at::Tensor& std, GivenGenerator generator) {
  at::Tensor out = at::empty({0}, mean.options());
  return normal_tensors_out(mean, std, generator, out);
}

at::Tensor normal_mean(const at::Tensor& mean, double std, GivenGenerator generator) {
  return templates::normal_impl<NormalFilling, Generator>(mean, std, generator);
}

at::Tensor normal_std(double mean, const at::Tensor& std, GivenGenerator generator) {
  at::Tensor out = at::empty({0}, std.options());
  return normal_std_out(mean, std, generator, out);
}

// Dropout

at::Tensor dropout_backward(const at::Tensor& dy, const at::Tensor& mask, double scale) {
  const at::Tensor kept = dy.mul(mask);
  return c10::isFloatingType(kept.scalar_type()) ? kept.mul_(scale) : kept.mul(scale);
}

std::tuple<at::Tensor, at::Tensor> dropout(const at::Tensor& x, double p, std::optional<bool> train) {
  TORCH_CHECK(x.is_floating_point() || !train.value_or(true),
              "result type Float can't be cast to the desired output type ", x.scalar_type());
  const bool is_on = train.value_or(true);
  at::Tensor mask = at::empty(x.sizes(), x.options().dtype(at::kBool));
  mask.bernoulli_(is_on ? 1 - p : 1.0);
  if (!is_on) return {x.clone(), mask};
  return {dropout_backward(x, mask, p == 1 ? 0 : 1 / (1 - p)), mask};
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  Kernels m(library);
  m.impl("uniform_", &uniform);
  m.impl("normal_", &normal);
  m.impl("bernoulli_.float", &bernoulli);
  m.impl("bernoulli_.Tensor", &bernoulli_each);
  m.impl("bernoulli.out", &bernoulli_out);
  m.impl("exponential_", &exponential);
  m.impl("geometric_", &geometric);
  m.impl("log_normal_", &log_normal);
  m.impl("cauchy_", &cauchy);
  m.impl("random_.from", &random_from);
  m.impl("random_.to", &random_to);
  m.impl("random_", &random);
  m.impl("randperm.generator_out", &permutation);
  m.impl("multinomial", &multinomial);
  m.impl("multinomial.out", &multinomial_out);
  m.impl("normal.Tensor_Tensor", &normal_tensors);
  m.impl("normal.Tensor_Tensor_out", &normal_tensors_out);
  m.impl("normal.Tensor_float", &normal_mean);
  m.impl("normal.Tensor_float_out", &normal_mean_out);
  m.impl("normal.float_Tensor", &normal_std);
  m.impl("normal.float_Tensor_out", &normal_std_out);
  m.impl("native_dropout", &dropout);
  m.impl("native_dropout_backward", &dropout_backward);
}

}  // namespace
}  // namespace torch_ocl
