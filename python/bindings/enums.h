#pragma once

#include "casters.h"

/**
 * Has the values of an enum be no numbers. pybind11 gives them __int__ and __index__. A function that takes a
 * size would take a dtype for one, and zeros(3, ocl.float32) would have the shape [3, 0].
 */
template <class Enum>
void without_numbers(py::enum_<Enum>& type) {
  const auto redefine = [&](const char* name, const auto& function) {
    type.attr(name) = py::cpp_function(function, py::name(name), py::is_method(type));
  };
  const auto are_equal = [](Enum a, const py::object& b) {
    return py::isinstance<Enum>(b) && a == b.cast<Enum>();
  };
  redefine("__eq__", are_equal);
  redefine("__ne__", [are_equal](Enum a, const py::object& b) { return !are_equal(a, b); });
  redefine("__hash__", [](Enum value) { return static_cast<int>(value); });
  redefine("__getstate__", [](Enum value) { return static_cast<int>(value); });
  for (const char* name : {"__int__", "__index__"})
    if (PyObject_DelAttrString(type.ptr(), name) != 0) throw py::error_already_set();
}
