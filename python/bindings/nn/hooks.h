#pragma once

#include "module_class.h"

/** The module called from Python: hooks of both languages around the object's own forward. */
py::object call_with_hooks(const py::object& self, const py::args& args, const py::kwargs& kwargs);
/** The dict of that name ("_forward_hooks") with hooks that Python registered, made if it is none yet; an
 * empty object where no hooks have that name. */
py::object hooks_named(const py::object& self, const std::string& name);
/** Makes C++ call the hooks that stand in the object's dicts already. */
void follow_hooks(const py::object& self, Module& module);
void bind_hooks(py::module_& m, py::object module_class);
