#pragma once

#include "../casters.h"
#include "nn/nn.h"

/** `value` as a T. Throws TypeError that names the setting or the part of a state dict that it is. */
template <class T>
T as(const py::handle& value, const std::string& what) {
  try {
    // pybind11 would make a dict of anything that dict() takes.
    if (!std::is_base_of_v<py::object, T> || py::isinstance<T>(value)) return value.cast<T>();
  } catch (const py::cast_error&) {
  }
  throw ocl::TypeError(dlprim::concat("'", what, "' cannot be ", py::repr(value).cast<std::string>()));
}

void bind_schedules(py::module_& m);
