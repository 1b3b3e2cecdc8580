#pragma once

#include <string>

#include "../casters.h"
#include "autograd/ops/operators.h"

/**
 * Binds operators under their names, with the documentation of their rows (autograd/ops/operators.def). A
 * name without a row does not bind: the module then fails to load, and says which. Python's lock is let go
 * while an operator runs, so the bound functions must not touch Python objects.
 */
class OperatorBinder {
 public:
  OperatorBinder(py::module_& module, py::class_<ocl::Tensor>& tensor) : module_(module), tensor_(tensor) {}

  py::module_& module() const { return module_; }
  py::class_<ocl::Tensor>& tensor() const { return tensor_; }
  static const char* doc(const char* name) { return ocl::operator_row(name).documentation.c_str(); }

  /** ocl.NAME(arguments...) */
  template <class Function, class... Arguments>
  void free(const char* name, Function&& function, const Arguments&... arguments) const {
    module_.def(name, std::forward<Function>(function), arguments..., WithoutLock(), doc(name));
  }
  /** ocl.NAME(input, arguments...) */
  template <class Function, class... Arguments>
  void function(const char* name, Function&& function, const Arguments&... arguments) const {
    free(name, std::forward<Function>(function), py::arg("input"), arguments...);
  }
  /** Tensor.NAME(arguments...) */
  template <class Function, class... Arguments>
  void method(const char* name, Function&& function, const Arguments&... arguments) const {
    tensor_.def(name, std::forward<Function>(function), arguments..., WithoutLock(), doc(name));
  }
  template <class Function, class... Arguments>
  void both(const char* name, const Function& function, const Arguments&... arguments) const {
    this->function(name, function, arguments...);
    method(name, function, arguments...);
  }

 private:
  py::module_& module_;
  py::class_<ocl::Tensor>& tensor_;
};

using OptionalTensor = std::optional<ocl::Tensor>;

/** The tensor, or an undefined one for None. */
inline ocl::Tensor or_none(const OptionalTensor& tensor) {
  return tensor.value_or(ocl::Tensor());
}

using OptionalFormat = std::optional<ocl::MemoryFormat>;

/** The format, or that of the tensor at hand for None. */
inline ocl::MemoryFormat kept_or(const OptionalFormat& format) {
  return format.value_or(ocl::MemoryFormat::preserve);
}

// One function a family, each in the file of its name.
void bind_creation(const OperatorBinder& bind);
void bind_random(const OperatorBinder& bind);
void bind_views(const OperatorBinder& bind);
void bind_inplace(const OperatorBinder& bind);
void bind_compare(const OperatorBinder& bind);
void bind_pointwise(const OperatorBinder& bind);
void bind_activation(const OperatorBinder& bind);
void bind_reduce(const OperatorBinder& bind);
void bind_scan(const OperatorBinder& bind);
void bind_linalg(const OperatorBinder& bind);
void bind_conv(const OperatorBinder& bind);
void bind_pool(const OperatorBinder& bind);
void bind_resample(const OperatorBinder& bind);
void bind_norm(const OperatorBinder& bind);
void bind_softmax(const OperatorBinder& bind);
void bind_loss(const OperatorBinder& bind);
void bind_attention(const OperatorBinder& bind);
void bind_rnn(const OperatorBinder& bind);
void bind_index(const OperatorBinder& bind);
void bind_sort(const OperatorBinder& bind);
void bind_box(const OperatorBinder& bind);
