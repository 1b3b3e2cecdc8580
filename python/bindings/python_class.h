#pragma once

#include "number_casters.h"

#include <cstring>

/** \file What bound classes need so that Python derives from them as from classes of its own. */

namespace py = pybind11;

/** The class of the class is Python's `type`, as that of torch.nn.Module: classes with any metaclass (ABCs,
 * protocols) may be derived. pybind11's own would be in conflict with those. */
inline py::metaclass plain_class() {
  return py::metaclass(reinterpret_cast<PyObject*>(&PyType_Type));
}

/** Throws Python's TypeError, which says what is not implemented, for a class with abstract methods. */
inline void refuse_abstract(PyTypeObject* type) {
  if (!(type->tp_flags & Py_TPFLAGS_IS_ABSTRACT)) return;
  PyBaseObject_Type.tp_new(type, py::tuple().ptr(), nullptr);
  throw py::error_already_set();
}

/** object.__class__, which a class may put its own in front of. */
inline const PyGetSetDef& class_property() {
  for (const PyGetSetDef* found = PyBaseObject_Type.tp_getset;; ++found)
    if (std::strcmp(found->name, "__class__") == 0) return *found;
}
inline PyObject* get_class(PyObject* self, void*) {
  return class_property().get(self, nullptr);
}
