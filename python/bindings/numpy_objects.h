#pragma once

#include "python_lock.h"

/** \file NumPy's arrays and numbers. Whoever asks what an object is does not import NumPy: it takes as long
 * as all of `import ocl`, and pybind11's own first use of it would let the lock go where the interpreter may
 * end meanwhile. */

/** Does nothing once NumPy is there. */
void import_numpy();
/** NumPy, imported if it is not there. */
py::module_ numpy();

/** Whether it is an array. */
bool is_numpy_array(PyObject* object);

/** Whether it is one of NumPy's scalars. */
bool is_numpy_scalar(py::handle object);

/** An array, where an argument may be something else. */
class NumpyArray : public py::array {
  PYBIND11_OBJECT(NumpyArray, py::array, is_numpy_array)
};

template <>
struct pybind11::detail::handle_type_name<NumpyArray> : pybind11::detail::handle_type_name<py::array> {};
