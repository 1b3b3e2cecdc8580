#pragma once

#include "module_class.h"

/** A submodule to be: in C++ while the constructor runs, where its caller holds the Python half. */
template <>
struct PythonOption<std::shared_ptr<Module>> {
  static py::object give(const std::shared_ptr<Module>& module) { return py::cast(module); }
  static void take(std::shared_ptr<Module>& option, const py::handle& value, const std::string& name) {
    if (!value.is_none() && !py::isinstance<Module>(value)) refuse_option(name, type(), value);
    option = value.is_none() ? nullptr : py::potentially_slicing_weak_ptr<Module>(value).lock();
  }
  static std::string type() { return "ocl._C._nn.Module | None"; }
};

/** Registers what a constructor was given as a submodule, with its Python half; whether it was given any. */
inline bool take_child(const py::object& self, const char* name, const py::handle& given) {
  if (!given || given.is_none()) return false;
  add_child(self, name, py::reinterpret_borrow<py::object>(given));
  return true;
}
