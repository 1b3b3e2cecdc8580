#pragma once

#include <ATen/ATen.h>
#include <torch/library.h>

#include <initializer_list>
#include <optional>
#include <utility>

#include "aten/kernels.h"

/** \file Function transforms of PyTorch (vmap, forward mode, gradients of gradients) around whole kernels. */

namespace torch_ocl {

/** A tensor, or none, as schemas have both. */
class MaybeGiven {
 public:
  MaybeGiven(const at::Tensor& tensor) : tensor_(tensor) {}                                        // NOLINT
  MaybeGiven(const std::optional<at::Tensor>& tensor) : tensor_(tensor.value_or(at::Tensor())) {}  // NOLINT
  const at::Tensor& operator*() const { return tensor_; }

 private:
  at::Tensor tensor_;
};

/** Whether any of them has a tangent of forward mode, as a kernel in front of derivatives sees it. */
bool any_has_tangent(std::initializer_list<MaybeGiven> tensors);
bool any_requires_grad(std::initializer_list<MaybeGiven> tensors);

/** Whether forward mode or a transform of torch.func looks at it, at any level of nested ones. */
bool is_transformed(const at::Tensor& tensor);
bool are_transformed(at::TensorList tensors);
/** Whether more than torch.func's gradients does: these call the derivatives of operators, as autograd does.
 */
bool is_mapped_or_in_forward_mode(const at::Tensor& tensor);

/** PyTorch's own derivative of an operator. */
void with_derivative_of_torch(const c10::OperatorHandle& op, torch::jit::Stack* stack);

/** Registers, in front of PyTorch's derivatives of operators, functions that give nothing where those do. */
class Derivatives {
 public:
  explicit Derivatives(torch::Library& library) : library_(library) {}

  template <class Result, class... Arguments>
  void impl(const char* name, std::optional<Result> (*compose)(Arguments...)) {
    const c10::OperatorHandle op = Kernels::operator_of(name);
    library_.impl(name, [op, compose](Arguments... arguments) -> Result {
      if (std::optional<Result> made = compose(arguments...)) return *std::move(made);
      return c10::impl::BoxedKernelWrapper<Result(Arguments...)>::call(
          c10::BoxedKernel::makeFromFunction<&with_derivative_of_torch>(), op, c10::DispatchKeySet(),
          std::forward<Arguments>(arguments)...);
    });
  }

 private:
  torch::Library& library_;
};

}  // namespace torch_ocl
