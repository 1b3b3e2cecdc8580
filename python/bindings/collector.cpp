#include "collector.h"

#include "nn/module.h"
#include "python_lock.h"

namespace {

thread_local bool is_traversing = false;  // the collector walks, and no object may go meanwhile

/** The C++ half of an object, of T or of a class whose first base is T; null while it is made or once it is
 * gone. */
template <class T>
const T* value_of(PyObject* self) {
  const auto* instance = reinterpret_cast<py::detail::instance*>(self);
  const py::detail::value_and_holder value =
      const_cast<py::detail::instance*>(instance)->get_value_and_holder();
  return value.holder_constructed() ? value.value_ptr<T>() : nullptr;
}

void add(ocl::Ownership& ownership, const ocl::Tensor& tensor) {
  ownership.add(tensor);
}
void add(ocl::Ownership& ownership, const ocl::nn::Module& module) {
  module.add_owned(ownership);
}

template <class T>
int traverse_owned(PyObject* self, visitproc visit, void* arg) {
  const T* value = value_of<T>(self);
  if (!value) return 0;
  is_traversing = true;
  int result = 0;
  {
    ocl::Ownership ownership;
    add(ownership, *value);
    for (const ocl::Node* node : ownership.nodes())
      for (void* object : node->foreign_objects())
        if (result == 0) result = visit(static_cast<PyObject*>(object), arg);
  }
  is_traversing = false;
  return result;
}

template <class T>
void clear_owned(PyObject* self) {
  const T* value = value_of<T>(self);
  if (!value) return;
  ocl::Ownership ownership;
  add(ownership, *value);
  for (ocl::Node* node : ownership.nodes()) node->drop_foreign();
}

int traverse_tensor(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  return traverse_owned<ocl::Tensor>(self, visit, arg);
}

int clear_tensor(PyObject* self) {
  clear_owned<ocl::Tensor>(self);
  return 0;
}

int traverse_module(PyObject* self, visitproc visit, void* arg);

/**
 * Whether a class written in Python, which visits the dict of its objects if it thinks that its base has
 * none, has visited it already. A dict that is met twice looks as if something else held it too: in
 * Python 3.11, where pybind11's types do not say that they have one, no module in a cycle would ever be
 * freed.
 */
bool dict_is_visited(PyObject* self) {
  const PyTypeObject* bound = Py_TYPE(self);
  while (bound->tp_traverse != &traverse_module) bound = bound->tp_base;
  return Py_TYPE(self)->tp_dictoffset != bound->tp_dictoffset;
}

int traverse_module(PyObject* self, visitproc visit, void* arg) {
  if (!dict_is_visited(self)) {
    if (const int result = py::detail::pybind11_traverse(self, visit, arg)) return result;
  } else {
    Py_VISIT(Py_TYPE(self));
  }
  return traverse_owned<ocl::nn::Module>(self, visit, arg);
}

int clear_module(PyObject* self) {
  py::detail::pybind11_clear(self);  // submodules may lose their Python halves
  clear_owned<ocl::nn::Module>(self);
  return 0;
}

int drop_later(void* object) {
  Py_DECREF(static_cast<PyObject*>(object));
  return 0;
}

}  // namespace

ocl::Foreign foreign(const py::object& object) {
  return {object.inc_ref().ptr(), [](void* held) {
            if (!Py_IsInitialized()) return;  // a tensor that outlives Python
            if (is_traversing) {
              Py_AddPendingCall(&drop_later, held);
              return;
            }
            const PythonLocked locked;
            Py_DECREF(static_cast<PyObject*>(held));
          }};
}

void follow_tensor(PyHeapTypeObject* type) {
  type->ht_type.tp_flags |= Py_TPFLAGS_HAVE_GC;
  type->ht_type.tp_traverse = &traverse_tensor;
  type->ht_type.tp_clear = &clear_tensor;
}

void follow_module(PyHeapTypeObject* type) {
  type->ht_type.tp_traverse = &traverse_module;
  type->ht_type.tp_clear = &clear_module;
}
