#pragma once

#include "number_casters.h"

/** \file What stands in a bound class for each of its functions. */

namespace py = pybind11;

/**
 * Puts a `method` in the place of every function of a bound class. pybind11 puts Python's instancemethod
 * there, which has no hash and gives the bare function where a class is asked for it. A method is what
 * Python's own method descriptors are: it has a hash, binds wherever it stands, and is pickled by name.
 */
void make_methods(const py::handle& type);
