#pragma once

#include "number_casters.h"

#include <string>
#include <vector>

namespace py = pybind11;

/** One parameter of a bound function, read from the signature that pybind11 writes of it. */
struct Parameter {
  enum class Kind { positional, keyword_only, all_positional, all_keywords };
  Kind kind;
  std::string name, type, default_value;  // the last empty where there is none
};

/** `(self: ocl._C.Tensor, dim: int | None = None, *, keepdim: bool = False) -> ocl._C.Tensor`, in pieces. */
std::vector<Parameter> parameters_of(const char* signature);

/** The arguments of a call, as Python's vectorcall has them. */
struct GivenArguments {
  PyObject* const* values;
  std::size_t positional;
  PyObject* names;  // of the values after those; may be null
};

/** Why no overload of a function takes these arguments, in one line and without a look at what tensors hold.
 */
std::string argument_error(const py::detail::function_record& overloads, const GivenArguments& given);

/**
 * The names of a call's arguments with PyTorch's names in the place of NumPy's (`axis`, `keepdims`, `x`,
 * `x2`), which PyTorch's functions take too. None where the call has no such name, or the function no such
 * parameter.
 */
py::object without_numpy_names(const py::detail::function_record& overloads, PyObject* names);

/** What an error adds about a value that is refused as a number: of tensors that require gradients what to do
 * instead, of others nothing. */
std::string gradient_advice(PyObject* value);

/** `(self, dim=None, *, keepdim=False)`: the most general overload, as inspect reads it. */
std::string text_signature(const py::detail::function_record& overloads);

/** Makes the name of a class known to argument_error. */
void add_known_class(const std::string& qualified_name, PyTypeObject* type);
