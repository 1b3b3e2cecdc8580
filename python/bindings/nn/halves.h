#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../casters.h"
#include "nn/module.h"

/** \file Modules in two halves. C++ holds the C++ halves of submodules alone; the Python halves, with what a
 * subclass or a user has added to them, stand in the parent's __dict__, {address of the C++ half: Python
 * half} under _python_halves, where Python's collector sees every reference to them. */

using NamedObjects = std::vector<std::pair<std::string, py::object>>;

/** "Linear" */
std::string class_name(const py::handle& object);

/** The module of an object whose __init__ has run. Throws TypeError: pybind11 gives out raw memory before. */
ocl::nn::Module& constructed(const py::object& self);

/** The Python half of a submodule. */
py::object python_half(const py::object& parent, const std::shared_ptr<ocl::nn::Module>& child);
/** The Python halves of the submodules by name. */
NamedObjects children_of(const py::object& module);

/** The C++ half of what is to become a submodule of `self`, which keeps the Python half from now on; null for
 * None. Throws TypeError for what is no module. */
std::shared_ptr<ocl::nn::Module> adopted(const py::object& self, const py::object& child);
/** Registers a submodule, or None, under a name. */
void add_child(const py::object& self, const std::string& name, const py::object& child);
/** Drops the Python halves of what is no submodule any more. */
void drop_halves(const py::object& self);

/** The Python half of a module that C++ calls: the one there is, or a view of the module. */
py::object half_of(const ocl::nn::Module& module);

/** A deepcopy of what Python made of this C++ half, in C++'s hands with its Python half. */
std::shared_ptr<ocl::nn::Module> deep_copy(const ocl::nn::Module& module);
