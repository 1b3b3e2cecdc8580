#pragma once

#include "../number_casters.h"

namespace py = pybind11;

/** \file Constructors of modules that Python calls as it may call any: again, or that of a base alone
 * (`nn.Module.__init__(self)` in a class derived from Linear). pybind11's run once, on their own class. */

/** Whether a function is __init__ or __setstate__ of a class of modules. */
bool is_module_constructor(const py::detail::function_record& function);

/** Whether the constructor makes the C++ half of this object, which has none yet. */
bool constructs_first(const py::detail::function_record& constructor, PyObject* self);

/**
 * The parts in which constructors differ. The object has a C++ half of its own class from here on, which
 * takes what the constructor makes in the place of what it had: of a base, a module without parameters,
 * buffers and submodules but the base's. Null, with Python's error set, where it fails. The arguments are
 * those of a vectorcall, the object first.
 */
PyObject* construct_again(const py::detail::function_record& constructor, PyObject* const* values,
                          std::size_t positional, PyObject* names);
