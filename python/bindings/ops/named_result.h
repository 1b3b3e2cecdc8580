#pragma once

#include <map>
#include <string>

#include "../casters.h"

/**
 * A named tuple of two tensors, as PyTorch returns from some operators, which prints itself as those do:
 *   ocl.return_types.max(
 *   values=tensor(…),
 *   indices=tensor(…))
 */
class NamedPair {
 public:
  NamedPair(const std::string& op, const char* first, const char* second)
      : type_(made(op, first, second).release()) {}

  py::object operator()(const ocl::Tensor& first, const ocl::Tensor& second) const {
    return type_(first, second);
  }

 private:
  static py::object made(const std::string& op, const char* first, const char* second) {
    const py::object type =
        py::module_::import("collections").attr("namedtuple")(op, py::make_tuple(first, second));
    type.attr("__module__") = "ocl.return_types";
    type.attr("__repr__") = py::cpp_function(
        [op, first, second](const py::tuple& self) {
          return "ocl.return_types." + op + "(\n" + first + "=" + py::repr(self[0]).cast<std::string>() +
                 ",\n" + second + "=" + py::repr(self[1]).cast<std::string>() + ")";
        },
        py::name("__repr__"), py::is_method(type));
    return type;
  }

  py::handle type_;  // never given back: it outlives the interpreter
};

/** The values and indices of operator `op`, which selects elements. */
inline py::object values_and_indices(const std::string& op, const ocl::Tensor& values,
                                     const ocl::Tensor& indices) {
  static auto& types = *new std::map<std::string, NamedPair>;  // under Python's lock
  const auto found = types.find(op);
  if (found != types.end()) return found->second(values, indices);
  return types.emplace(op, NamedPair(op, "values", "indices")).first->second(values, indices);
}
