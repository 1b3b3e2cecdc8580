#pragma once

#include <pybind11/pybind11.h>

#include "autograd/ownership.h"

/** \file What Python's garbage collector needs to free tensors and modules in reference cycles. */

namespace py = pybind11;

/** One reference to `object`, which the tape may drop with Python's lock or without. */
ocl::Foreign foreign(const py::object& object);

/** The object of a foreign reference that lives as long as the caller runs. */
inline py::object object_of(void* foreign) {
  return py::reinterpret_borrow<py::object>(static_cast<PyObject*>(foreign));
}

/** Lets the collector see what hooks and functions of the tape hold on behalf of a tensor. */
void follow_tensor(PyHeapTypeObject* type);
/** The same for the parameters of a module. For every class of modules: none inherits it. */
void follow_module(PyHeapTypeObject* type);
