#include "dispatch.h"

#include <cstring>
#include <set>

#include "method.h"
#include "nn/constructors.h"
#include "signature.h"
#include "tensor_subclass.h"

using py::detail::function_record;

namespace {

using Dispatcher = PyObject* (*)(PyObject*, PyObject* const*, std::size_t, PyObject*);

Dispatcher original = nullptr;
thread_local PyTypeObject* subclass = nullptr;  // of Tensor, met among the arguments of the running call

function_record* record_of(PyObject* self) {
  return py::detail::function_record_ptr_from_PyObject(self);
}

/** The result of a call with an argument of a subclass: tensors that it has made become of that class. */
PyObject* of_subclass(PyObject* result, PyTypeObject* type) {
  if ((PyList_CheckExact(result) || PyTuple_Check(result)) && Py_REFCNT(result) == 1) {
    PyObject** items = PySequence_Fast_ITEMS(result);
    for (Py_ssize_t i = 0; i < Py_SIZE(result); ++i) items[i] = of_subclass(items[i], type);
    return result;
  }
  return is_new_plain_tensor(result) ? with_class(result, type) : result;
}

bool keeps_class(const function_record& function) {
  static const auto& names = *new std::set<std::string>{"as_subclass", "_make_subclass", "__new__"};
  return names.count(function.name) != 0;
}

PyObject* dispatch(PyObject* self, PyObject* const* values, std::size_t flags, PyObject* names) {
  PyTypeObject* outer = std::exchange(subclass, nullptr);
  PyObject* result = original(self, values, flags, names);
  if (result == Py_NotImplemented && names) {
    if (const py::object renamed = without_numpy_names(*record_of(self), names); !renamed.is_none()) {
      Py_DECREF(result);
      PyErr_Clear();  // of a conversion
      result = original(self, values, flags, renamed.ptr());
    }
  }
  PyTypeObject* met = std::exchange(subclass, outer);
  if (result == Py_NotImplemented) {  // what pybind11 says of an operator that does not take the arguments
    Py_DECREF(result);
    const GivenArguments given{values, static_cast<std::size_t>(PyVectorcall_NARGS(flags)), names};
    PyErr_Clear();  // of a conversion
    PyErr_SetString(PyExc_TypeError, argument_error(*record_of(self), given).c_str());
    return nullptr;
  }
  return met && result && !keeps_class(*record_of(self)) ? of_subclass(result, met) : result;
}

/** Like dispatch, for operators: Python asks the other operand when one does not fit. */
PyObject* dispatch_operator(PyObject* self, PyObject* const* values, std::size_t flags, PyObject* names) {
  PyTypeObject* outer = std::exchange(subclass, nullptr);
  PyObject* result = original(self, values, flags, names);
  PyTypeObject* met = std::exchange(subclass, outer);
  return met && result ? of_subclass(result, met) : result;
}

/** Like dispatch, for constructors of modules: Python may call them on any object, any number of times. */
PyObject* dispatch_constructor(PyObject* self, PyObject* const* values, std::size_t flags, PyObject* names) {
  const function_record& constructor = *record_of(self);
  const auto count = static_cast<std::size_t>(PyVectorcall_NARGS(flags));
  if (count == 0 || constructs_first(constructor, values[0])) return dispatch(self, values, flags, names);
  return construct_again(constructor, values, count, names);
}

/** Prepends the signature in the form that Python looks for; __doc__ stays what it was. Documentation that
 * begins with such a signature keeps its own. */
void add_signature(PyMethodDef& definition, const function_record& record) {
  const std::string written = definition.ml_doc ? definition.ml_doc : "";
  const std::size_t own_end = written.find(")\n--\n\n");
  const std::string text =
      own_end != std::string::npos
          ? written.substr(written.rfind(std::string("\n") + definition.ml_name + '(', own_end) + 1)
          : std::string(definition.ml_name) + text_signature(record) + "\n--\n\n" + written;
  std::free(const_cast<char*>(definition.ml_doc));  // this too
  definition.ml_doc = strdup(text.c_str());
}

/** `name`: of a function that pybind11 leaves without one. */
void take_over(PyObject* callable, const char* name = nullptr) {
  if (PyInstanceMethod_Check(callable)) callable = PyInstanceMethod_GET_FUNCTION(callable);
  if (!PyCFunction_Check(callable)) return;
  PyObject* self = PyCFunction_GET_SELF(callable);
  function_record* record = self ? record_of(self) : nullptr;
  if (!record) return;
  PyMethodDef& definition = *reinterpret_cast<PyCFunctionObject*>(callable)->m_ml;
  const auto present = reinterpret_cast<Dispatcher>(reinterpret_cast<void*>(definition.ml_meth));
  if (present == &dispatch || present == &dispatch_operator || present == &dispatch_constructor)
    return;  // it has another name too
  original = present;
  if (name) {
    std::free(record->name);  // this too
    record->name = strdup(name);
    definition.ml_name = record->name;  // which was the same memory
  }
  const Dispatcher ours = is_module_constructor(*record) ? &dispatch_constructor
                          : record->is_operator          ? &dispatch_operator
                                                         : &dispatch;
  definition.ml_meth = reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(ours));
  record->is_operator = true;  // so that pybind11 gives the failure back instead of printing all arguments
  add_signature(definition, *record);
}

void take_over_class(const py::handle type) {
  const auto name = type.attr("__qualname__").cast<std::string>();
  auto* known = reinterpret_cast<PyTypeObject*>(type.ptr());
  add_known_class(name, known);
  add_known_class(type.attr("__module__").cast<std::string>() + "." + name, known);
  for (const auto& [key, member] : py::dict(type.attr("__dict__"))) {
    if (PyObject_TypeCheck(member.ptr(), &PyProperty_Type)) {
      take_over(member.attr("fget").ptr());
      take_over(member.attr("fset").ptr(), py::str(key).cast<std::string>().c_str());
    } else if (PyObject_TypeCheck(member.ptr(), &PyStaticMethod_Type)) {
      take_over(member.attr("__func__").ptr());
    } else {
      take_over(member.ptr());
    }
  }
  make_methods(type);
}

}  // namespace

void note_subclass(PyTypeObject* type) {
  if (!subclass || PyType_IsSubtype(type, subclass)) subclass = type;
}

void replace_dispatcher(const py::module_& module) {
  for (const auto& [name, member] : module.attr("__dict__").cast<py::dict>()) {
    if (PyModule_Check(member.ptr())) {
      replace_dispatcher(member.cast<py::module_>());
    } else if (PyType_Check(member.ptr()) &&
               py::detail::get_type_info(reinterpret_cast<PyTypeObject*>(member.ptr()))) {
      take_over_class(member);
    } else {
      take_over(member.ptr());
    }
  }
}
