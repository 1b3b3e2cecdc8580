#pragma once

#include "autograd/tensor/tensor.h"

namespace ocl {

/** The properties that a gradient must have: the shape, dtype and device of the tensor that it is the
 * gradient of. */
class GradientKind {
 public:
  explicit GradientKind(const dlprim::Tensor& tensor)
      : shape_(tensor.shape), dtype_(tensor.dtype), device_(tensor.device()) {}
  explicit GradientKind(const Tensor& tensor) : GradientKind(tensor.data()) {}

  bool fits(const Tensor& gradient) const;
  /** `gradient`, or zeros in place of one that is undefined: of an output that the loss did not use. */
  Tensor or_zeros(const Tensor& gradient) const;
  /** Throws AutogradError unless `gradient` fits; `whose` begins the message ("a hook has changed"). */
  void require_same(const Tensor& gradient, const char* whose) const;
  /**
   * Gradient `index` of the function `name`, made to fit as PyTorch does: summed over broadcast
   * dimensions and converted, a scalar moved. Throws AutogradError where that cannot be done.
   */
  Tensor fitted(const Tensor& gradient, const std::string& name, std::size_t index) const;

 private:
  Dims shape_;
  DType dtype_;
  Device device_;
};

}  // namespace ocl
