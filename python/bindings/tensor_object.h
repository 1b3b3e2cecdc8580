#pragma once

#include "number_casters.h"

#include "autograd/tensor/tensor.h"

/**
 * \file One Python object a tensor, as in PyTorch: `m.weight is m.weight`, and attributes, weak references
 * and subclasses hold for the tensor's life.
 *
 * The object holds a handle of its tensor, and the tensor knows the object as its peer
 * (autograd/tensor/peer.h). When Python drops the last reference while C++ still holds the tensor, the object
 * is kept instead of freed: the tensor owns it, and its handle only borrows the tensor, which would hold
 * itself otherwise. Asked for again, it becomes the tensor's owner. When the last C++ owner of a kept
 * object's tensor goes, the object takes the tensor over and goes itself.
 */

namespace py = pybind11;

/** The object that stands for a tensor, made if there is none; None for an undefined tensor. A new reference.
 */
PyObject* python_object(const ocl::Tensor& tensor);

/** The tensor that an object stands for; null if it stands for none. Throws TypeError where a subclass has
 * not made one yet. */
ocl::Tensor* tensor_in(PyObject* object);

/** A new object of `type`, Tensor or a class derived from it, for a tensor that has none. */
py::object new_object(PyTypeObject* type, const ocl::Tensor& tensor);

/** Sets up the class of tensors, whose class is Python's `type`: any metaclass may be that of a subclass. */
void set_up_tensor(PyHeapTypeObject* type);
/** Makes `type` the class of tensors, from here on. */
void set_tensor_type(const py::object& type);
/** Makes `type`, a subclass, the class of parameters. */
void set_parameter_type(const py::object& type);
