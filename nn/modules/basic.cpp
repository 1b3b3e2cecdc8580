#include "nn/modules/basic.h"

#include "autograd/ops/dropout.h"
#include "autograd/ops/pointwise.h"
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
