#include "method.h"

#include <structmember.h>

#include <cstddef>

namespace {

struct Method {
  PyObject_HEAD vectorcallfunc call;
  PyObject* function;  // bound by pybind11
  PyObject* owner;     // the class
  PyObject* attributes;
  PyObject* weak_references;
};

Method& method_in(PyObject* self) {
  return *reinterpret_cast<Method*>(self);
}

PyObject* call(PyObject* self, PyObject* const* values, std::size_t flags, PyObject* names) {
  return PyObject_Vectorcall(method_in(self).function, values, flags, names);
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(method_in(self).function);
  Py_VISIT(method_in(self).owner);
  Py_VISIT(method_in(self).attributes);
  return 0;
}

int clear(PyObject* self) {
  Py_CLEAR(method_in(self).function);
  Py_CLEAR(method_in(self).owner);
  Py_CLEAR(method_in(self).attributes);
  return 0;
}

void dealloc(PyObject* self) {
  PyObject_GC_UnTrack(self);
  if (method_in(self).weak_references) PyObject_ClearWeakRefs(self);
  clear(self);
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

// Where pybind11 looks for an overriding function, it expects a bound method.
PyObject* bind(PyObject* self, PyObject* object, PyObject*) {
  return object ? PyMethod_New(method_in(self).function, object) : Py_NewRef(self);
}

PyObject* repr(PyObject* self) {
  const auto name = py::reinterpret_steal<py::object>(PyObject_GetAttrString(self, "__qualname__"));
  return name ? PyUnicode_FromFormat("<method '%U'>", name.ptr()) : nullptr;
}

PyObject* of_function(PyObject* self, void* name) {
  return PyObject_GetAttrString(method_in(self).function, static_cast<const char*>(name));
}

PyObject* qualified_name(PyObject* self, void*) {
  const Method& method = method_in(self);
  const auto owner = py::reinterpret_steal<py::object>(PyObject_GetAttrString(method.owner, "__qualname__"));
  const auto own = py::reinterpret_steal<py::object>(PyObject_GetAttrString(method.function, "__name__"));
  return owner && own ? PyUnicode_FromFormat("%U.%U", owner.ptr(), own.ptr()) : nullptr;
}

PyObject* annotations(PyObject*, void*) {
  return PyDict_New();  // types are in the documentation alone
}

PyObject* reduce(PyObject* self, PyObject*) {
  const auto builtins = py::reinterpret_steal<py::object>(PyImport_ImportModule("builtins"));
  const auto getattr = py::reinterpret_steal<py::object>(
      builtins ? PyObject_GetAttrString(builtins.ptr(), "getattr") : nullptr);
  const auto name = py::reinterpret_steal<py::object>(
      getattr ? PyObject_GetAttrString(method_in(self).function, "__name__") : nullptr);
  return name ? Py_BuildValue("O(OO)", getattr.ptr(), method_in(self).owner, name.ptr()) : nullptr;
}

PyGetSetDef forwarded(const char* name) {
  return {name, of_function, nullptr, nullptr, const_cast<char*>(name)};
}

PyTypeObject* make_method_type() {
  static PyGetSetDef properties[] = {
      {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
      forwarded("__name__"),
      forwarded("__doc__"),
      forwarded("__text_signature__"),
      {"__qualname__", qualified_name, nullptr, nullptr, nullptr},
      {"__annotations__", annotations, nullptr, nullptr, nullptr},
      {nullptr, nullptr, nullptr, nullptr, nullptr}};
  static PyMemberDef members[] = {
      {"__vectorcalloffset__", T_PYSSIZET, offsetof(Method, call), READONLY, nullptr},
      {"__dictoffset__", T_PYSSIZET, offsetof(Method, attributes), READONLY, nullptr},
      {"__weaklistoffset__", T_PYSSIZET, offsetof(Method, weak_references), READONLY, nullptr},
      {"__objclass__", T_OBJECT, offsetof(Method, owner), READONLY, nullptr},
      {"__func__", T_OBJECT, offsetof(Method, function), READONLY, nullptr},
      {nullptr, 0, 0, 0, nullptr}};
  static PyMethodDef methods[] = {{"__reduce__", reduce, METH_NOARGS, nullptr},
                                  {nullptr, nullptr, 0, nullptr}};
  PyType_Slot slots[] = {{Py_tp_call, reinterpret_cast<void*>(&PyVectorcall_Call)},
                         {Py_tp_traverse, reinterpret_cast<void*>(&traverse)},
                         {Py_tp_clear, reinterpret_cast<void*>(&clear)},
                         {Py_tp_dealloc, reinterpret_cast<void*>(&dealloc)},
                         {Py_tp_descr_get, reinterpret_cast<void*>(&bind)},
                         {Py_tp_repr, reinterpret_cast<void*>(&repr)},
                         {Py_tp_getset, properties},
                         {Py_tp_members, members},
                         {Py_tp_methods, methods},
                         {0, nullptr}};
  PyType_Spec spec = {
      "ocl._C.method", static_cast<int>(sizeof(Method)), 0,
      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_HAVE_VECTORCALL,
      slots};
  PyObject* type = PyType_FromSpec(&spec);
  if (!type) throw py::error_already_set();
  return reinterpret_cast<PyTypeObject*>(type);
}

py::object method_of(const py::handle& function, const py::handle& owner) {
  static PyTypeObject* const type = make_method_type();
  auto made = py::reinterpret_steal<py::object>(type->tp_alloc(type, 0));
  if (!made) throw py::error_already_set();
  Method& method = method_in(made.ptr());
  method.call = &call;
  method.function = Py_NewRef(function.ptr());
  method.owner = Py_NewRef(owner.ptr());
  return made;
}

}  // namespace

void make_methods(const py::handle& type) {
  const auto members = type.attr("__dict__").attr("copy")().cast<py::dict>();
  for (const auto& [key, member] : members)
    if (PyInstanceMethod_Check(member.ptr()))
      py::setattr(type, key, method_of(PyInstanceMethod_GET_FUNCTION(member.ptr()), type));
}
