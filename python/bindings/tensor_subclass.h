#pragma once

#include "number_casters.h"

/** \file Classes that Python derives from Tensor: results of functions of their objects are of the class too.
 */

/** Tells the call that runs in this thread that an object of a subclass is among its arguments. */
void note_subclass(PyTypeObject* type);

/** Whether an object is a plain Tensor that nothing but the caller has seen. */
bool is_new_plain_tensor(PyObject* object);
/** A new object of `type` for the tensor of such an object, which goes. */
PyObject* with_class(PyObject* object, PyTypeObject* type);
