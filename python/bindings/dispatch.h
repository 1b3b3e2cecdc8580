#pragma once

#include "number_casters.h"

namespace py = pybind11;

/**
 * Puts a function of ours before pybind11's dispatcher, for all functions bound in `module` so far. It
 *   - names the wrong argument in one line, where pybind11 would print (and so download) every one of them;
 *   - gives results of functions of a Tensor subclass that class, as PyTorch does.
 * And it gives the functions signatures that inspect reads.
 */
void replace_dispatcher(const py::module_& module);
