#include "module_type.h"

#include <algorithm>

#include "../collector.h"
#include "hooks.h"

namespace {

/**
 * Leaves one of the bound classes that a class has among its bases, the one that is derived from all others:
 * pybind11 would give objects a half of each. Throws TypeError where there is none.
 */
PyTypeObject* leave_one_half(PyTypeObject* type) {
  auto& bases = const_cast<std::vector<py::detail::type_info*>&>(py::detail::all_type_info(type));
  const auto most_derived = std::find_if(bases.begin(), bases.end(), [&](const auto* one) {
    return std::all_of(bases.begin(), bases.end(),
                       [&](const auto* other) { return PyType_IsSubtype(one->type, other->type) != 0; });
  });
  if (most_derived == bases.end())
    throw ocl::TypeError(dlprim::concat(type->tp_name, ": an object cannot be a ", bases.at(0)->type->tp_name,
                                        " and a ", bases.at(1)->type->tp_name, " at once"));
  if (bases.size() > 1) bases = {*most_derived};
  return bases.front()->type;
}

/** Calls `act`, which throws; gives `failed`, with Python's error set, where it does. */
template <class Result, class Act>
Result guarded(Result failed, const Act& act) {
  try {
    return act();
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const ocl::Error& error) {
    py::set_error(PyExc_TypeError, error.what());
  }
  return failed;
}

PyObject* new_module(PyTypeObject* type, PyObject*, PyObject*) {
  return guarded<PyObject*>(nullptr, [type] {
    refuse_abstract(type);
    leave_one_half(type);
    return py::detail::make_new_instance(type);
  });
}

int set_class(PyObject* self, PyObject* given, void*) {
  return guarded(-1, [self, given] {
    auto* type = reinterpret_cast<PyTypeObject*>(given);
    const auto object = py::reinterpret_borrow<py::object>(self);
    PyTypeObject* const module = py::detail::get_type_info(typeid(Module), true)->type;
    if (given && PyType_Check(given) && PyType_IsSubtype(type, module) &&
        leave_one_half(type) != bound_class(object))
      throw ocl::TypeError(dlprim::concat("__class__ assignment: a ", bound_class(object)->tp_name,
                                          " cannot become a ", type->tp_name));
    if (class_property().set(self, given, nullptr) != 0) return -1;
    if (is_constructed(object)) follow_forward(object, object.cast<Module&>());
    return 0;
  });
}

}  // namespace

void set_up_module(PyHeapTypeObject* heap_type) {
  PyTypeObject* type = &heap_type->ht_type;
  set_up_attributes<&set_class>(type);
  // Once, in Module: a class with a __new__ of its own would hide the signature of its __init__ from
  // Python 3.11.2.
  if (type->tp_base->tp_new != &new_module) type->tp_new = &new_module;
  follow_module(type);
}
