#include "nn/modules/basic.h"

#include <cmath>

#include "autograd/ops/dropout.h"
#include "autograd/ops/inplace.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/random.h"
#include "autograd/ops/views.h"
#include "autograd/tape/tape.h"
#include "autograd/tensor/creation.h"

namespace ocl::nn {

using dlprim::require;

namespace {

void check_probability(const char* what, const Scalar& p) {
  require(p.real() >= 0 && p.real() <= 1, what, " probability has to be between 0 and 1, but got ", p.real());
}

}  // namespace

Tensor Flatten::forward(const Tensor& x) {
  const FlattenOptions o = options();
  return flatten(x, o.start_dim(), o.end_dim());
}

Tensor Unflatten::forward(const Tensor& x) {
  const UnflattenOptions o = options();
  return unflatten(x, o.dim(), o.unflattened_size());
}

Dropout::Dropout(const DropoutOptions& o) : Layer(o) {
  check_probability("dropout", o.p());
}

Tensor Dropout::forward(const Tensor& x) {
  const DropoutOptions o = options();
  check_probability("dropout", o.p());
  if (!o.inplace() || !is_training()) return dropout(x, o.p().real(), is_training());
  Tensor y = x;
  return dropout_(y, o.p().real(), true);
}

Dropout2d::Dropout2d(const DropoutOptions& o) : Layer(o) {
  check_probability("dropout", o.p());
}

Tensor Dropout2d::forward(const Tensor& x) {
  const DropoutOptions o = options();
  check_probability("dropout", o.p());
  const Tensor result = dropout2d(x, o.p().real(), is_training());
  if (!o.inplace() || !is_training() || o.p().real() == 0) return result;
  Tensor y = x;
  return y.copy_(result);
}

namespace {

constexpr double selu_limit = -1.7580993408473766;  // where SELU of minus infinity ends

/** `x` with parts of `shape` dropped to SELU's limit. */
Tensor alpha_dropped(const Tensor& x, const DropoutOptions& o, const Shape& shape, bool training) {
  check_probability("dropout", o.p());
  const double p = o.p().real();
  if (!training || p == 0 || x.numel() == 0) return x;
  Tensor result;
  if (p == 1) {
    result = x * 0;
  } else {
    const double scale = 1 / std::sqrt((selu_limit * selu_limit * p + 1) * (1 - p));
    const Tensor kept = empty(shape, x.dtype(), x.device()).bernoulli_(1 - p);
    result = x * (kept * scale) + (1 - kept) * (selu_limit * scale) - selu_limit * scale * p;
  }
  return o.inplace() ? Tensor(x).copy_(result) : result;
}

}  // namespace

Dropout3d::Dropout3d(const DropoutOptions& o) : Layer(o) {
  check_probability("dropout", o.p());
}

Tensor Dropout3d::forward(const Tensor& x) {
  const DropoutOptions o = options();
  check_probability("dropout", o.p());
  require(x.dim() == 4 || x.dim() == 5, "Dropout3d: expected a tensor of 4 or 5 dimensions, got shape ",
          x.sizes());
  if (!is_training() || o.p().real() == 0) return x;
  std::vector<std::int64_t> channels(x.sizes().begin(), x.sizes().end() - 3);
  channels.insert(channels.end(), 3, 1);
  const Tensor result = x * dropout(ones(channels, x.dtype(), x.device()), o.p().real(), true);
  return o.inplace() ? Tensor(x).copy_(result) : result;
}

AlphaDropout::AlphaDropout(const DropoutOptions& o) : Layer(o) {
  check_probability("dropout", o.p());
}

Tensor AlphaDropout::forward(const Tensor& x) {
  return alpha_dropped(x, options(), x.sizes().vector(), is_training());
}

FeatureAlphaDropout::FeatureAlphaDropout(const DropoutOptions& o) : Layer(o) {
  check_probability("dropout", o.p());
}

Tensor FeatureAlphaDropout::forward(const Tensor& x) {
  require(!is_training() || x.dim() >= 2,
          "FeatureAlphaDropout: expected a tensor of at least 2 dimensions, got shape ", x.sizes());
  Shape channels = x.sizes().vector();
  for (std::size_t dim = 2; dim < channels.size(); ++dim) channels[dim] = 1;
  return alpha_dropped(x, options(), channels, is_training());
}

StochasticDepth::StochasticDepth(const StochasticDepthOptions& o) : Layer(o) {
  check_probability("drop", o.p());
  require(o.mode() == "batch" || o.mode() == "row", "mode has to be either 'batch' or 'row', but got ",
          o.mode());
}

Tensor StochasticDepth::forward(const Tensor& x) {
  const StochasticDepthOptions o = options();
  if (!is_training() || o.p().real() == 0) return x;
  check_probability("drop", o.p());
  require(x.dim() > 0, "StochasticDepth: expected a batch of samples, got a tensor of shape []");
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(x.dim()), 1);
  if (o.mode() == "row") sizes[0] = x.size(0);
  return x * dropout(ones(sizes, x.dtype(), x.device()), o.p().real(), true);
}

std::string StochasticDepth::extra_repr() const {
  const StochasticDepthOptions o = options();
  return "p=" + repr_of(o.p()) + ", mode=" + o.mode();
}

}  // namespace ocl::nn
