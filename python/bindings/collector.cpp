#include "collector.h"

#include "nn/module.h"
#include "python_lock.h"

namespace {

thread_local bool is_traversing = false;  // the collector walks, and no object may go meanwhile

/** The C++ half of a module's object; null while it is made or once it is gone. */
const ocl::nn::Module* module_of(PyObject* self) {
  if (!is_laid_out(self)) return nullptr;
  const py::detail::value_and_holder value =
      reinterpret_cast<py::detail::instance*>(self)->get_value_and_holder();
  return value.holder_constructed() ? value.value_ptr<ocl::nn::Module>() : nullptr;
}

void add(ocl::Ownership& ownership, const ocl::Tensor& tensor) {
  ownership.add(tensor);
}
void add(ocl::Ownership& ownership, const ocl::nn::Module& module) {
  module.add_owned(ownership);
}

void add(ocl::Ownership& ownership, const std::shared_ptr<ocl::Node>& node) {
  ownership.add(node, 2);
}

template <class T>
int visit_owned_by(const T& owner, visitproc visit, void* arg) {
  is_traversing = true;
  int result = 0;
  {
    ocl::Ownership ownership;
    add(ownership, owner);
    for (void* object : ownership.foreign_objects())
      if (result == 0) result = visit(static_cast<PyObject*>(object), arg);
  }
  is_traversing = false;
  return result;
}

template <class T>
void drop_owned_by(const T& owner) {
  ocl::Ownership ownership;
  add(ownership, owner);
  for (ocl::Node* node : ownership.nodes()) node->drop_foreign();
}

// From Python 3.13 on an object's attributes may lie beside its dict, where only Python's own functions find
// them.
#if PY_VERSION_HEX >= 0x030D0000
int visit_attributes(PyObject* self, visitproc visit, void* arg) {
  return PyObject_VisitManagedDict(self, visit, arg);
}
void clear_attributes(PyObject* self) {
  PyObject_ClearManagedDict(self);
}
#else
int visit_attributes(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(*_PyObject_GetDictPtr(self));
  return 0;
}
void clear_attributes(PyObject* self) {
  Py_CLEAR(*_PyObject_GetDictPtr(self));
}
#endif

int traverse_module(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (const int stopped = visit_attributes(self, visit, arg)) return stopped;
  const ocl::nn::Module* module = module_of(self);
  return module ? visit_owned_by(*module, visit, arg) : 0;
}

int clear_module(PyObject* self) {
  clear_attributes(self);  // submodules may lose their Python halves
  if (const ocl::nn::Module* module = module_of(self)) drop_owned_by(*module);
  return 0;
}

/** The node of an object; null while it is made or once it is gone. */
std::shared_ptr<ocl::Node> node_of(PyObject* self) {
  if (!is_laid_out(self)) return nullptr;
  const py::detail::value_and_holder value =
      reinterpret_cast<py::detail::instance*>(self)->get_value_and_holder();
  return value.holder_constructed() ? value.holder<std::shared_ptr<ocl::Node>>() : nullptr;
}

int traverse_node(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  const std::shared_ptr<ocl::Node> node = node_of(self);
  return node ? visit_owned_by(node, visit, arg) : 0;
}

int clear_node(PyObject* self) {
  if (const std::shared_ptr<ocl::Node> node = node_of(self)) drop_owned_by(node);
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

bool is_laid_out(PyObject* self) {
  const auto* instance = reinterpret_cast<const py::detail::instance*>(self);
  return instance->simple_layout || instance->nonsimple.status;
}

bool is_collector_walking() {
  return is_traversing;
}

int visit_owned(const ocl::Tensor& tensor, visitproc visit, void* arg) {
  return visit_owned_by(tensor, visit, arg);
}

void drop_owned(const ocl::Tensor& tensor) {
  drop_owned_by(tensor);
}

void follow_node(PyTypeObject* type) {
  type->tp_flags |= Py_TPFLAGS_HAVE_GC;
  type->tp_traverse = &traverse_node;
  type->tp_clear = &clear_node;
}

void follow_module(PyTypeObject* type) {
  type->tp_traverse = &traverse_module;
  type->tp_clear = &clear_module;
}
