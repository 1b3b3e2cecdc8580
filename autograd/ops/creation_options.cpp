#include "autograd/ops/creation_options.h"

namespace ocl {

Tensor Tensor::new_empty(const DimList& size, const TensorOptions& given) const {
  return empty(size, options().with(given));
}

Tensor Tensor::new_zeros(const DimList& size, const TensorOptions& given) const {
  return zeros(size, options().with(given));
}

Tensor Tensor::new_ones(const DimList& size, const TensorOptions& given) const {
  return ones(size, options().with(given));
}

Tensor Tensor::new_full(const DimList& size, const Scalar& value, const TensorOptions& given) const {
  return full(size, value, options().with(given));
}

}  // namespace ocl
