#pragma once

#include "number_casters.h"

#include "autograd/tape/ownership.h"

/** \file What Python's garbage collector needs to free tensors and modules in reference cycles. */

namespace py = pybind11;

/** One reference to `object`, which the tape may drop with Python's lock or without. */
ocl::Foreign foreign(const py::object& object);

/** The object of a foreign reference that lives as long as the caller runs. */
inline py::object object_of(void* foreign) {
  return py::reinterpret_borrow<py::object>(static_cast<PyObject*>(foreign));
}

/**
 * Whether pybind11 has given an object of one of its types room for its C++ half. It has not while it looks
 * up the bases of a class for the first object of it, which calls the collector now and then.
 */
bool is_laid_out(PyObject* self);

/** Whether Python's collector walks over objects on this thread, so that none may go. */
bool is_collector_walking();

/** Visits the foreign objects that live by this tensor alone: what an object that owns it traverses. */
int visit_owned(const ocl::Tensor& tensor, visitproc visit, void* arg);
/** Lets go of them, once the collector has found the tensor's object unreachable. */
void drop_owned(const ocl::Tensor& tensor);

/** Lets the collector see what hooks of a node hold. */
void follow_node(PyTypeObject* type);

/** Lets the collector see what the parameters of a module hold. For every class of modules: none inherits it.
 */
void follow_module(PyTypeObject* type);
