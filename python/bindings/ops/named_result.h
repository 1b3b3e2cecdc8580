#pragma once

#include "../casters.h"

/** The named tuple (values, indices) that PyTorch returns from operators that select elements. */
inline py::object values_and_indices(const ocl::Tensor& values, const ocl::Tensor& indices) {
  static const py::handle type =
      py::module_::import("collections")
          .attr("namedtuple")("values_and_indices", py::make_tuple("values", "indices"))
          .release();
  return type(values, indices);
}
