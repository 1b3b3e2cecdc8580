#include "aten/transforms.h"

#include <ATen/functorch/BatchedTensorImpl.h>
#include <ATen/functorch/TensorWrapper.h>

#include <algorithm>

namespace torch_ocl {
namespace {

bool has_tangent(const at::Tensor& tensor) {
  return tensor.defined() && tensor._fw_grad(/*level=*/0).defined();
}

}  // namespace

bool any_has_tangent(std::initializer_list<MaybeGiven> tensors) {
  return std::any_of(tensors.begin(), tensors.end(), [](const MaybeGiven& t) { return has_tangent(*t); });
}

bool any_requires_grad(std::initializer_list<MaybeGiven> tensors) {
  return std::any_of(tensors.begin(), tensors.end(),
                     [](const MaybeGiven& t) { return (*t).defined() && (*t).requires_grad(); });
}

bool is_mapped_or_in_forward_mode(const at::Tensor& tensor) {
  if (!tensor.defined()) return false;
  if (has_tangent(tensor) || at::functorch::isBatchedTensor(tensor)) return true;
  const auto* wrapper = at::functorch::maybeGetTensorWrapper(tensor);
  return wrapper && is_mapped_or_in_forward_mode(wrapper->value());
}

bool is_transformed(const at::Tensor& tensor) {
  return is_mapped_or_in_forward_mode(tensor) ||
         (tensor.defined() && at::functorch::maybeGetTensorWrapper(tensor));
}

bool are_transformed(at::TensorList tensors) {
  return std::any_of(tensors.begin(), tensors.end(), is_transformed);
}

void with_derivative_of_torch(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  op.callBoxedForDispatchKey(c10::DispatchKey::Autograd, *stack);
}

}  // namespace torch_ocl
