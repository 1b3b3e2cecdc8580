#include "nn/modules/basic.h"

#include "autograd/creation.h"
#include "autograd/ops/dropout.h"
#include "autograd/ops/pointwise.h"
#include "autograd/tape.h"

namespace ocl::nn {

using dlprim::require;

Tensor Unflatten::forward(const Tensor& x) {
  const int d = dlprim::wrap_dim(dim, x.dim(), "unflatten");
  std::vector<std::int64_t> sizes = x.shape().vector();
  std::int64_t product = 1, rest = -1;
  for (std::size_t i = 0; i < unflattened_size.size(); ++i) {
    if (unflattened_size[i] == -1)
      rest = static_cast<std::int64_t>(i);
    else
      product *= unflattened_size[i];
  }
  std::vector<std::int64_t> split = unflattened_size;
  if (rest >= 0 && product > 0) split[static_cast<std::size_t>(rest)] = x.shape()[d] / product;
  if (rest >= 0) product *= split[static_cast<std::size_t>(rest)];
  require(product == x.shape()[d], "unflatten: Provided sizes ", dlprim::Dims(unflattened_size),
          " don't multiply up to the size of dim ", d, " (", x.shape()[d], ") in the input tensor");
  sizes.erase(sizes.begin() + d);
  sizes.insert(sizes.begin() + d, split.begin(), split.end());
  return reshape(x, sizes);
}

std::string Unflatten::extra_repr() const {
  std::string sizes;
  for (const std::int64_t size : unflattened_size)
    sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
  if (unflattened_size.size() == 1) sizes += ',';
  return dlprim::concat("dim=", dim, ", unflattened_size=(", sizes, ')');
}

Dropout::Dropout(const Scalar& probability, bool is_inplace) : p(probability), inplace(is_inplace) {
  require(p.real() >= 0 && p.real() <= 1, "dropout probability has to be between 0 and 1, but got ",
          p.real());
}

Tensor Dropout::forward(const Tensor& x) {
  if (!inplace || !is_training()) return dropout(x, p.real(), is_training());
  Tensor y = x;
  return dropout_(y, p.real(), true);
}

Tensor Dropout2d::forward(const Tensor& x) {
  const Tensor result = dropout2d(x, p.real(), is_training());
  if (!inplace || !is_training()) return result;
  Tensor y = x;
  return y.copy_(result);
}

StochasticDepth::StochasticDepth(const Scalar& probability, std::string drop_mode)
    : p(probability), mode(std::move(drop_mode)) {
  require(p.real() >= 0 && p.real() <= 1, "drop probability has to be between 0 and 1, but got ", p.real());
  require(mode == "batch" || mode == "row", "mode has to be either 'batch' or 'row', but got ", mode);
}

Tensor StochasticDepth::forward(const Tensor& x) {
  if (!is_training() || p.real() == 0) return x;
  require(x.dim() > 0, "StochasticDepth: expected a batch of samples, got a tensor of shape []");
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(x.dim()), 1);
  if (mode == "row") sizes[0] = x.size(0);
  return x * dropout(ones(sizes, x.dtype(), x.device()), p.real(), true);
}

}  // namespace ocl::nn
