#pragma once

#include "module_class.h"

/** self.forward(*args, **kwargs) between the hooks that Python code registered on `self`. */
py::object call_with_hooks(const py::object& self, py::args args, py::kwargs kwargs);

/** register_forward_hook and its kin, and the handles that they return. */
void bind_hooks(py::module_& m, py::object module_class);
