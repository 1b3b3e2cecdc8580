#pragma once

#include <string>

#include "../casters.h"

/** A named tuple of two tensors, as PyTorch returns from some operators. */
class NamedPair {
 public:
  NamedPair(const char* first, const char* second)
      : type_(py::module_::import("collections")
                  .attr("namedtuple")(std::string(first) + "_and_" + second, py::make_tuple(first, second))
                  .release()) {}

  py::object operator()(const ocl::Tensor& first, const ocl::Tensor& second) const {
    return type_(first, second);
  }

 private:
  py::handle type_;  // never given back: it outlives the interpreter
};

/** The values and indices of operators that select elements. */
inline py::object values_and_indices(const ocl::Tensor& values, const ocl::Tensor& indices) {
  static const NamedPair type("values", "indices");
  return type(values, indices);
}
