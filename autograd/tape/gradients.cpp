#include "autograd/tape/gradients.h"

#include "autograd/ops/reduce.h"
#include "autograd/ops/views.h"
#include "autograd/tensor/creation.h"

namespace ocl {

using dlprim::require;

bool GradientKind::fits(const Tensor& gradient) const {
  return gradient.shape() == shape_ && gradient.dtype() == dtype_ && gradient.device() == device_;
}

Tensor GradientKind::or_zeros(const Tensor& gradient) const {
  return gradient.defined() ? gradient : zeros(shape_.vector(), dtype_, device_);
}

void GradientKind::require_same(const Tensor& gradient, const char* whose) const {
  require<AutogradError>(fits(gradient), whose, " the gradient: expected shape ", shape_, " and dtype ",
                         name(dtype_), " on ", device_->name(), ", got ", gradient.shape(), " and ",
                         name(gradient.dtype()), " on ", gradient.device()->name());
}

Tensor GradientKind::fitted(const Tensor& gradient, const std::string& name, std::size_t index) const {
  if (fits(gradient)) return gradient;
  const Dims& shape = gradient.shape();
  require<AutogradError>(
      shape.size() >= shape_.size() &&
          std::equal(shape_.begin(), shape_.end(), shape.end() - shape_.size(),
                     [](std::int64_t wanted, std::int64_t given) { return wanted == given || wanted == 1; }),
      "Function ", name, " returned an invalid gradient at index ", index, " - got ", shape,
      " but expected shape compatible with ", shape_);
  Tensor result = gradient;
  if (result.device() != device_) {
    require<AutogradError>(result.dim() == 0, "Function ", name, " returned an invalid gradient at index ",
                           index, " - expected device ", device_->name(), " but got ",
                           result.device()->name());
    result = to(result, device_);
  }
  return to(sum_to_shape(result, shape_), dtype_);
}

}  // namespace ocl
