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

/** Sets the type of objects with attributes of the user's up: room for __dict__, and a __class__ that is
 * written by `set_class`. The dict is none that Python manages: such a one's contents no other than Python
 * can visit everywhere, and classes in Python would have one of another kind. */
template <setter set_class>
void set_up_attributes(PyTypeObject* type) {
  static PyGetSetDef members[] = {
      {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
      {"__class__", &get_class, set_class, nullptr, nullptr},
      {nullptr, nullptr, nullptr, nullptr, nullptr}};
  type->tp_flags |= Py_TPFLAGS_HAVE_GC;
  type->tp_dictoffset = type->tp_basicsize;
  type->tp_basicsize += static_cast<Py_ssize_t>(sizeof(PyObject*));
  type->tp_getset = members;
}
