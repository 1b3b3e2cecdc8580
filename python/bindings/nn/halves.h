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

namespace pybind11::detail {

/** Modules from Python: those alone whose __init__ has run, for pybind11 would hand out raw memory. */
template <class M>
class type_caster<M, enable_if_t<std::is_base_of_v<ocl::nn::Module, M>>> : public type_caster_base<M> {
 public:
  bool load(handle source, bool convert);
};

}  // namespace pybind11::detail

/** The class that pybind11 knows of which the object's C++ half is, or will be. */
PyTypeObject* bound_class(const py::handle& module);
/** Whether the __init__ of a module has run. */
bool is_constructed(const py::handle& module);
/** Throws AttributeError for a module whose __init__ has not run. */
void require_constructed(const py::handle& object);

template <class M>
bool py::detail::type_caster<M, py::detail::enable_if_t<std::is_base_of_v<ocl::nn::Module, M>>>::load(
    handle source, bool convert) {
  require_constructed(source);
  return type_caster_base<M>::load(source, convert);
}

using NamedObjects = std::vector<std::pair<std::string, py::object>>;

/** "Linear" */
std::string class_name(const py::handle& object);

/** The Python half of a submodule; None for null. */
py::object python_half(const py::object& parent, const std::shared_ptr<ocl::nn::Module>& child);
/** The Python halves of the submodules by name, None where a name is kept for later. */
NamedObjects entries_of(const py::object& module);
/** The children without the Nones. */
NamedObjects children_of(const py::object& module);
/** The children, each once, as PyTorch lists them. */
NamedObjects distinct_children(const py::object& module);

/** Their text. */
std::vector<std::pair<std::string, std::string>> texts_of(const NamedObjects& modules);

/** Calls `take` with the C++ half of what it is to make a submodule of `self`, null for None, and keeps the
 * Python half. Throws TypeError for what is no module. */
void adopt(const py::object& self, const py::object& child,
           const std::function<void(const std::shared_ptr<ocl::nn::Module>&)>& take);
/** Registers a submodule, or None, under a name. */
void add_child(const py::object& self, const std::string& name, const py::object& child);
/** Drops the Python halves of what is no submodule any more. */
void drop_halves(const py::object& self);

/** The Python half of a module that C++ calls: the one there is, or a view of the module. */
py::object half_of(const ocl::nn::Module& module);

/** A deepcopy of what Python made of this C++ half, in C++'s hands with its Python half. */
std::shared_ptr<ocl::nn::Module> deep_copy(const ocl::nn::Module& module);
