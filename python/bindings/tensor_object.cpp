#include "tensor_object.h"

#include <structmember.h>

#include "autograd/tape/tape.h"
#include "collector.h"
#include "python_class.h"
#include "python_lock.h"
#include "tensor_subclass.h"

using ocl::Tensor;
using ocl::TensorImpl;

namespace {

PyTypeObject* tensor_type = nullptr;
PyTypeObject* parameter_type = nullptr;
py::detail::type_info* tensor_info = nullptr;

/** The place of the handle; null inside until the object is made. */
Tensor*& handle_of(PyObject* self) {
  auto* instance = reinterpret_cast<py::detail::instance*>(self);
  if (instance->simple_layout) return reinterpret_cast<Tensor*&>(instance->simple_value_holder[0]);
  return instance->get_value_and_holder(tensor_info).value_ptr<Tensor>();
}

PyObject*& dict_of(PyObject* self) {
  return *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(self) + tensor_type->tp_dictoffset);
}

bool is_borrowed(const Tensor& handle) {
  return handle.impl_pointer().use_count() == 0;
}

/** A handle that does not count. */
Tensor borrowed(TensorImpl& impl) {
  return Tensor(std::shared_ptr<TensorImpl>(std::shared_ptr<void>(), &impl));
}

/** Whether C++ holds the tensor of an object that owns it: the object is kept when Python lets it go. */
bool lives_in_cpp(const Tensor* handle) {
  return handle && handle->impl_pointer().use_count() > 1;
}

/** Makes an object the owner of its tensor, which gives up its reference to the object: the caller's now. */
void take_over(Tensor& handle) {
  TensorImpl& impl = handle.impl();
  std::shared_ptr<TensorImpl> owner = impl.weak_from_this().lock();
  if (owner)
    owner->peer.set_owned(false);
  else
    owner = impl.successor();
  handle = Tensor(std::move(owner));
}

int drop_later(void* object) {
  Py_DECREF(static_cast<PyObject*>(object));
  return 0;
}

/** Peer::let_go. */
void let_go(TensorImpl& dying) {
  if (!Py_IsInitialized()) return;  // a tensor that outlives Python
  if (is_collector_walking()) {
    void* object = dying.peer.object();
    take_over(*handle_of(static_cast<PyObject*>(object)));
    Py_AddPendingCall(&drop_later, object);
    return;
  }
  const PythonLocked locked;
  if (!dying.peer.is_owned()) return;  // a weak reference was faster
  auto* object = static_cast<PyObject*>(dying.peer.object());
  take_over(*handle_of(object));
  Py_DECREF(object);
}

/** Brings an object without references back to life if C++ holds its tensor. */
bool keep(PyObject* self) {
  Tensor* handle = handle_of(self);
  if (!lives_in_cpp(handle)) return false;
  Py_INCREF(self);
  TensorImpl& impl = handle->impl();
  const Tensor owner = std::exchange(*handle, borrowed(impl));
  impl.peer.set_owned(true);
  return true;  // the object may be gone already, if no other owner was left
}

bool is_made_in_python(const PyTypeObject* type) {
  return type != tensor_type && PyType_IsSubtype(const_cast<PyTypeObject*>(type), tensor_type);
}

/** Calls `act` with the place of every object in the __slots__ of a class and its bases; ends early where it
 * gives something else than 0. */
template <class Act>
int for_each_slot(PyObject* self, const Act& act) {
  for (PyTypeObject* type = Py_TYPE(self); is_made_in_python(type); type = type->tp_base) {
    const PyMemberDef* member = type->tp_members;
    for (Py_ssize_t left = Py_SIZE(type); left > 0; --left, ++member)
      if (member->type == T_OBJECT_EX && !(member->flags & READONLY))
        if (const int result =
                act(*reinterpret_cast<PyObject**>(reinterpret_cast<char*>(self) + member->offset)))
          return result;
  }
  return 0;
}

void clear_slots(PyObject* self) {
  for_each_slot(self, [](PyObject*& slot) {
    Py_CLEAR(slot);
    return 0;
  });
}

void dealloc(PyObject* self) {
  if (keep(self)) return;
  if (Py_TYPE(self)->tp_finalize) {
    if (PyObject_CallFinalizerFromDealloc(self) != 0 || keep(self)) return;
  }
  if (const Tensor* handle = handle_of(self); handle && handle->defined())
    if (handle->impl().peer.object() == self) handle->impl().peer.set(nullptr);
  auto* instance = reinterpret_cast<py::detail::instance*>(self);
  PyObject_GC_UnTrack(self);
  Py_TRASHCAN_BEGIN(self, dealloc);
  if (instance->weakrefs) PyObject_ClearWeakRefs(self);
  clear_slots(self);
  if (instance->simple_layout && !instance->has_patients) {  // what pybind11 would do after looking around
    delete handle_of(self);
    Py_CLEAR(dict_of(self));
    PyTypeObject* type = Py_TYPE(self);
    type->tp_free(self);
    Py_DECREF(type);
  } else {
    py::detail::pybind11_object_dealloc(self);
  }
  Py_TRASHCAN_END;
}

// An object that will be kept is left alone, with all that it refers to: to the collector it looks as if
// something that it does not know held those, as is the case. An object that its tensor owns is visited by
// those who hold the tensor.
int traverse(PyObject* self, visitproc visit, void* arg) {
  if (!is_laid_out(self)) return 0;
  const Tensor* handle = handle_of(self);
  if (lives_in_cpp(handle)) return 0;
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(dict_of(self));
  const auto visit_slot = [&](PyObject* slot) {
    Py_VISIT(slot);
    return 0;
  };
  if (const int result = for_each_slot(self, visit_slot)) return result;
  return handle && handle->defined() && !is_borrowed(*handle) ? visit_owned(*handle, visit, arg) : 0;
}

int clear(PyObject* self) {
  if (!is_laid_out(self)) return 0;
  const Tensor* handle = handle_of(self);
  if (lives_in_cpp(handle)) return 0;
  Py_CLEAR(dict_of(self));
  clear_slots(self);
  if (handle && handle->defined() && !is_borrowed(*handle)) drop_owned(*handle);
  return 0;
}

// Python gives classes that are written in it functions of its own, which would empty an object before it can
// be kept. A class gets ours, with those that it is derived from, before it has an object: where one is made,
// or given the class.
void set_life(PyTypeObject* type) {
  type->tp_dealloc = &dealloc;
  type->tp_traverse = &traverse;
  type->tp_clear = &clear;
}

void set_life_of_subclass(PyTypeObject* type) {
  for (; is_made_in_python(type) && type->tp_dealloc != &dealloc; type = type->tp_base) set_life(type);
}

int set_class(PyObject* self, PyObject* type, void*) {
  if (type && PyType_Check(type)) set_life_of_subclass(reinterpret_cast<PyTypeObject*>(type));
  return class_property().set(self, type, nullptr);
}

}  // namespace

py::object new_object(PyTypeObject* type, const Tensor& tensor) {
  const bool is_ours = type == tensor_type || type == parameter_type;
  if (type != tensor_type && PyType_IsSubtype(type, parameter_type) && parameter_type != tensor_type)
    tensor.impl().is_parameter = true;
  refuse_abstract(type);
  set_life_of_subclass(type);
  // Like pybind11's own, but without an entry in its table of objects: the tensor knows its object.
  auto object = py::reinterpret_steal<py::object>(type->tp_alloc(type, 0));
  if (!object) throw py::error_already_set();
  auto* instance = reinterpret_cast<py::detail::instance*>(object.ptr());
  if (is_ours)
    instance->simple_layout = instance->owned = true;
  else
    instance->allocate_layout();
  py::detail::value_and_holder value = instance->get_value_and_holder(is_ours ? nullptr : tensor_info);
  value.value_ptr() = new Tensor(tensor);
  new (std::addressof(value.holder<std::unique_ptr<Tensor>>()))
      std::unique_ptr<Tensor>(value.value_ptr<Tensor>());
  value.set_holder_constructed();
  tensor.impl().peer.set(object.ptr());
  return object;
}

PyObject* python_object(const Tensor& tensor) {
  if (!tensor.defined()) Py_RETURN_NONE;
  TensorImpl& impl = tensor.impl();
  auto* object = static_cast<PyObject*>(impl.peer.object());
  if (!object) return new_object(impl.is_parameter ? parameter_type : tensor_type, tensor).release().ptr();
  if (!impl.peer.is_owned()) return Py_NewRef(object);
  impl.peer.set_owned(false);
  *handle_of(object) = tensor;
  return object;
}

bool is_new_plain_tensor(PyObject* object) {
  if (Py_TYPE(object) != tensor_type || Py_REFCNT(object) != 1) return false;
  const Tensor* handle = handle_of(object);
  return handle && handle->impl_pointer().use_count() == 1;
}

PyObject* with_class(PyObject* object, PyTypeObject* type) {
  const Tensor tensor = std::exchange(*handle_of(object), Tensor());
  Py_DECREF(object);
  return new_object(type, tensor).release().ptr();
}

Tensor* tensor_in(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  if (type != tensor_type) {
    if (!PyType_IsSubtype(type, tensor_type)) return nullptr;
    if (!PyType_IsSubtype(type, parameter_type)) note_subclass(type);  // of a parameter, results are tensors
  }
  Tensor* handle = handle_of(object);
  if (!handle)
    throw ocl::TypeError(std::string(Py_TYPE(object)->tp_name) +
                         ": a tensor was used before Tensor.__new__() had made it");
  if (is_borrowed(*handle) && handle->defined()) {  // it was reached through a weak reference
    take_over(*handle);
    Py_DECREF(object);
  }
  return handle;
}

bool loses_gradient_as_number(PyObject* object) {
  if (PyFloat_Check(object) || PyLong_Check(object) || !PyType_IsSubtype(Py_TYPE(object), tensor_type))
    return false;
  const Tensor* handle = handle_of(object);
  return handle && handle->defined() && handle->requires_grad();
}

void set_up_tensor(PyHeapTypeObject* heap_type) {
  PyTypeObject* type = &heap_type->ht_type;
  set_up_attributes<&set_class>(type);
  type->tp_init = PyBaseObject_Type.tp_init;  // __new__ makes the tensor, as in PyTorch
  set_life(type);
}

void set_tensor_type(const py::object& type) {
  tensor_type = parameter_type = reinterpret_cast<PyTypeObject*>(type.ptr());
  tensor_info = py::detail::get_type_info(tensor_type);
  ocl::Peer::let_go = &let_go;
}

void set_parameter_type(const py::object& type) {
  parameter_type = reinterpret_cast<PyTypeObject*>(type.inc_ref().ptr());
}
