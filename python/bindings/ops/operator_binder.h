#pragma once

#include <string>

#include "../casters.h"
#include "autograd/ops/operators.h"
#include "row_function.h"

/** An operator in place gives the tensor itself: x.add_(1) is x. */
constexpr auto itself = py::return_value_policy::reference;

/**
 * Binds operators under their names: those whose rows (autograd/ops/operators.def) say all of it with `row`,
 * what Python takes beyond with the others, which give them the documentation of their rows. A name without a
 * row does not bind: the module then fails to load, and says which. Python's lock is let go while an operator
 * runs, so the bound functions must not touch Python objects.
 */
class OperatorBinder {
 public:
  OperatorBinder(py::module_& module, py::class_<ocl::Tensor>& tensor) : module_(module), tensor_(tensor) {}

  py::module_& module() const { return module_; }
  py::class_<ocl::Tensor>& tensor() const { return tensor_; }
  static const char* doc(const char* name) { return ocl::operator_row(name).documentation.c_str(); }

  /** The fields of the row. `parameters`: its text. */
  template <class Function>
  void row(const char* name, const char* parameters, ocl::Face face, Function* function) const {
    RowDescription description{name, doc(name), ocl::operator_parameters(parameters), module_, false};
    if (face == ocl::Face::function || face == ocl::Face::both)
      module_.add_object(name, RowFunction(description, function), true);
    if (face != ocl::Face::method && face != ocl::Face::both) return;
    description.scope = tensor_;
    description.is_method = true;
    py::detail::add_class_method(tensor_, name, RowFunction(description, function));
  }

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

/** Sizes given one by one, as one tuple, or by the name `size`. */
inline ocl::Shape shape_of(const py::args& sizes, const std::optional<ocl::Shape>& size) {
  dlprim::require<ocl::TypeError>(!size || sizes.empty(), "got sizes twice: by their place, and as size");
  return size ? *size : shape_of(sizes);
}

/** Tensors given one by one, or as a list alone. */
inline ocl::TensorList listed_or_one_by_one(const py::args& tensors) {
  const bool listed = tensors.size() == 1 && !py::isinstance<ocl::Tensor>(tensors[0]) &&
                      py::isinstance<py::iterable>(tensors[0]);
  return listed ? tensors_of(tensors[0]) : tensors_of(tensors);
}

/** The class Generator, which rows name. */
void bind_generator(py::module_& m);

// Functions that Python has beyond the rows: one function a family, each in the file of its name.
void bind_creation(const OperatorBinder& bind);
void bind_random(const OperatorBinder& bind);
void bind_views(const OperatorBinder& bind);
void bind_inplace(const OperatorBinder& bind);
void bind_pointwise(const OperatorBinder& bind);
void bind_reduce(const OperatorBinder& bind);
void bind_linalg(const OperatorBinder& bind);
void bind_pool(const OperatorBinder& bind);
void bind_resample(const OperatorBinder& bind);
void bind_norm(const OperatorBinder& bind);
void bind_loss(const OperatorBinder& bind);
void bind_attention(const OperatorBinder& bind);
void bind_rnn(const OperatorBinder& bind);
void bind_index(const OperatorBinder& bind);
void bind_sort(const OperatorBinder& bind);
void bind_count(const OperatorBinder& bind);
