#pragma once

#include <ATen/core/IListRef.h>
#include <ATen/core/List.h>
#include <torch/library.h>

#include <cstring>
#include <utility>

#include "aten/fallback.h"
#include "dlprim/core/call_state.h"
#include "runtime/errors.h"
#include "tensors.h"

/** \file How kernels are registered: what they are not made for goes to the CPU before it reaches them. */

namespace torch_ocl {

// Whether an argument is one that dlprim computes with.

template <class Other>
constexpr bool is_for_kernels(const Other&) {
  return true;
}
inline bool is_for_kernels(c10::ScalarType type) {
  return has_kernels(type);
}
inline bool is_for_kernels(const std::optional<c10::ScalarType>& type) {
  return !type || has_kernels(*type);
}
inline bool is_for_kernels(const c10::Scalar& number) {
  return !number.isComplex();
}
inline bool is_for_kernels(const std::optional<c10::Scalar>& number) {
  return !number || is_for_kernels(*number);
}
inline bool is_for_kernels(const at::Tensor& tensor) {
  return !tensor.defined() || (has_kernels(tensor.scalar_type()) && tensor.layout() == c10::kStrided);
}
inline bool is_for_kernels(const std::optional<at::Tensor>& tensor) {
  return !tensor || is_for_kernels(*tensor);
}
/** For an argument of a boxed call; dtypes are not told from other numbers there. */
bool is_for_kernels(const c10::IValue& value);

template <class List>
bool are_for_kernels(const List& list) {
  for (const auto& one : list)
    if (!is_for_kernels(one)) return false;
  return true;
}
inline bool is_for_kernels(at::TensorList list) {
  return are_for_kernels(list);
}
inline bool is_for_kernels(const at::ITensorListRef& list) {
  return are_for_kernels(list);
}
inline bool is_for_kernels(const c10::List<std::optional<at::Tensor>>& list) {
  for (std::size_t i = 0; i < list.size(); ++i)
    if (!is_for_kernels(list.get(i))) return false;
  return true;
}

/** The operator that a thread is in: errors name it, also those of kernels that only a later wait sees. */
class Inside {
 public:
  explicit Inside(const char* operation) : outer_(std::exchange(dlprim::call_state.operation, operation)) {}
  ~Inside() { dlprim::call_state.operation = outer_; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  const char* outer_;
};

/** Registers kernels of dtypes that dlprim has: with an argument of another dtype, a sparse tensor or a
 * complex number the call runs on the CPU, as that of an operator without a kernel. */
class Kernels {
 public:
  explicit Kernels(torch::Library& library) : library_(library) {}

  /** The operator of aten of that name, "add" or "add.out". */
  static c10::OperatorHandle operator_of(const std::string& name);

  template <class Result, class... Arguments>
  void impl(const char* name, Result (*kernel)(Arguments...)) {
    const c10::OperatorHandle op = operator_of(name);
    // A schema's name lives as long as the process: "aten::scatter".
    const char* operation = op.schema().name().c_str() + std::strlen("aten::");
    library_.impl(name, [op, operation, kernel](Arguments... arguments) -> Result {
      const Inside inside(operation);
      if ((is_for_kernels(arguments) && ...))
        return with_errors_of_torch(
            [&]() -> Result { return kernel(std::forward<Arguments>(arguments)...); });
      return c10::impl::BoxedKernelWrapper<Result(Arguments...)>::call(
          c10::BoxedKernel::makeFromFunction<&on_the_cpu>(), op, c10::DispatchKeySet(),
          std::forward<Arguments>(arguments)...);
    });
  }

 private:
  torch::Library& library_;
};

}  // namespace torch_ocl
