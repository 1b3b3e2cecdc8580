#include "constructors.h"

#include <cstring>

#include "hooks.h"
#include "module_class.h"

namespace {

PyTypeObject* module_class() {
  static auto* const type = reinterpret_cast<PyTypeObject*>(py::type::of<Module>().ptr());
  return type;
}

bool is_setstate(const py::detail::function_record& constructor) {
  return std::strcmp(constructor.name, "__setstate__") == 0;
}

/** The result of __getstate__ for a module of that class without anything. */
py::dict empty_state(const py::object& own) {
  py::dict state;
  for (const char* part : {"options", "parameters", "buffers", "modules", "attributes"})
    state[part] = py::dict();
  if (py::hasattr(own, "_blank_options")) state["options"] = own.attr("_blank_options");
  state["training"] = true;
  return state;
}

void run_again(const py::detail::function_record& constructor, const py::object& self, const py::tuple& args,
               const py::dict& kwargs) {
  const auto own = py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(bound_class(self)));
  if (is_setstate(constructor)) {
    own.attr(is_constructed(self) ? "_take_state" : "__setstate__")(self, *args, **kwargs);
    return;
  }
  const py::object base = py::reinterpret_borrow<py::object>(constructor.scope);
  if (!is_constructed(self)) {
    if (!own.attr("__dict__").contains("__setstate__"))
      throw ocl::TypeError(dlprim::concat(own.attr("__name__").cast<std::string>(),
                                          " is the base of other modules, and cannot be made"));
    own.attr("__setstate__")(self, empty_state(own));
  } else {
    clear_hooks(self);
    restore(self, empty_state(own));
  }
  if (base.ptr() == reinterpret_cast<PyObject*>(module_class())) return finish_module(self, args, kwargs);
  base.attr("_take_state")(self, base(*args, **kwargs).attr("__getstate__")());
}

}  // namespace

bool is_module_constructor(const py::detail::function_record& function) {
  return function.is_constructor &&
         PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(function.scope.ptr()), module_class());
}

bool constructs_first(const py::detail::function_record& constructor, PyObject* self) {
  auto* scope = reinterpret_cast<PyTypeObject*>(constructor.scope.ptr());
  if (!PyObject_TypeCheck(self, scope)) return true;  // and says that it cannot
  return bound_class(self) == scope && !is_constructed(self);
}

PyObject* construct_again(const py::detail::function_record& constructor, PyObject* const* values,
                          std::size_t positional, PyObject* names) {
  const auto value = [values](std::size_t i) { return py::reinterpret_borrow<py::object>(values[i]); };
  try {
    py::tuple args(positional - 1);
    for (std::size_t i = 1; i < positional; ++i) args[i - 1] = value(i);
    py::dict kwargs;
    for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); ++i)
      kwargs[PyTuple_GET_ITEM(names, i)] = value(positional + static_cast<std::size_t>(i));
    run_again(constructor, value(0), args, kwargs);
    Py_RETURN_NONE;
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (...) {
    py::detail::try_translate_exceptions();
  }
  return nullptr;
}
