#include "module_binding.h"

namespace {

/** Whether the class has a property of ours under that name, which needs the C++ half. */
bool is_bound_property(const py::handle& type, const py::handle& name) {
  PyObject* found = _PyType_Lookup(reinterpret_cast<PyTypeObject*>(type.ptr()), name.ptr());
  if (!found || !PyObject_TypeCheck(found, &PyProperty_Type)) return false;
  return py::handle(found).attr("fget").cast<py::function>().is_cpp_function();
}

/** An attribute that is set before Module.__init__() has run, which PyTorch takes if it is a plain one. */
void set_early(const py::object& self, const std::string& name, const py::object& value) {
  const auto refuse = [](const char* kind) {
    throw AttributeError(dlprim::concat("cannot assign ", kind, " before Module.__init__() call"));
  };
  if (py::isinstance<Module>(value)) refuse("module");
  if (py::isinstance<Tensor>(value) && value.cast<Tensor>().impl().is_parameter) refuse("parameters");
  if (py::isinstance<Tensor>(value) && py::hasattr(value, "_is_buffer")) refuse("buffer");
  const py::str key(name);
  if (is_bound_property(py::type::of(self), key))
    self.attr("__dict__")[key] = value;
  else if (PyObject_GenericSetAttr(self.ptr(), key.ptr(), value.ptr()) != 0)
    throw py::error_already_set();
}

// Modules and parameters that are assigned become part of the module, as in PyTorch.
void set_attribute(const py::object& self, const std::string& name, const py::object& value) {
  if (!is_constructed(self)) return set_early(self, name, value);
  auto& module = self.cast<Module&>();
  const auto refuse_unless = [&](bool fits, const char* kind, const char* expected) {
    if (!fits)
      throw ocl::TypeError(dlprim::concat("cannot assign '", class_name(value), "' as ", kind, " '", name,
                                          "' (", expected, " expected)"));
  };
  const auto take_over_name = [&] {
    self.attr("__dict__").attr("pop")(name, py::none());
    drop_halves(self);
  };
  const bool is_tensor = py::isinstance<Tensor>(value);
  if (is_tensor && value.cast<Tensor>().impl().is_parameter) {
    module.register_parameter(name, value.cast<Tensor>());
    take_over_name();
  } else if (py::isinstance<Module>(value) && !module.own_parameter(name)) {
    add_child(self, name, value);
  } else if (is_tensor && py::hasattr(value, "_is_buffer")) {  // an nn.Buffer
    module.register_buffer(name, value.cast<Tensor>(), value.attr("persistent").cast<bool>());
    take_over_name();
  } else if (module.own_parameter(name)) {
    refuse_unless(value.is_none(), "parameter", "nn.Parameter or None");
    module.register_parameter(name, {});
  } else if (module.own_buffer(name)) {
    refuse_unless(is_tensor || value.is_none(), "buffer", "Tensor or None");
    module.register_buffer(name, is_tensor ? value.cast<Tensor>() : Tensor(), module.is_persistent(name));
  } else if (module.has_submodule(name)) {
    refuse_unless(value.is_none(), "child module", "nn.Module or None");
    add_child(self, name, value);
  } else {
    hooks_named(self, name);  // C++ calls the hooks in a dict that a program puts in the place of ours too
    if (PyObject_GenericSetAttr(self.ptr(), py::str(name).ptr(), value.ptr()) != 0)
      throw py::error_already_set();
    if (name == "forward") follow_forward(self, module);
  }
}

py::object get_attribute(const py::object& self, const std::string& name) {
  if (!is_constructed(self)) {
    const py::dict attributes = self.attr("__dict__");  // what hides behind a property of ours
    if (attributes.contains(name)) return attributes[py::str(name)];
    throw AttributeError(dlprim::concat("'", class_name(self), "' object has no attribute '", name,
                                        "': Module.__init__() has not run"));
  }
  const auto& module = self.cast<Module&>();
  if (const auto parameter = module.own_parameter(name)) return tensor_or_none(*parameter);
  if (const auto buffer = module.own_buffer(name)) return tensor_or_none(*buffer);
  if (module.has_submodule(name)) return python_half(self, module.own_module(name));
  if (py::object hooks = hooks_named(self, name)) return hooks;
  throw py::attribute_error("'" + module.name() + "' object has no attribute '" + name + "'");
}

void delete_attribute(const py::object& self, const std::string& name) {
  if (!is_constructed(self)) {
    if (PyObject_GenericSetAttr(self.ptr(), py::str(name).ptr(), nullptr) != 0) throw py::error_already_set();
    return;
  }
  auto& module = self.cast<Module&>();
  if (module.own_parameter(name) || module.own_buffer(name) || module.has_submodule(name)) {
    module.unregister(name);
    drop_halves(self);
  } else {
    if (PyObject_GenericSetAttr(self.ptr(), py::str(name).ptr(), nullptr) != 0) throw py::error_already_set();
    if (name == "forward") follow_forward(self, module);
  }
}

/** The entries of _parameters, _buffers or _modules. */
py::dict entries(const py::object& self, const std::string& kind) {
  const auto& module = self.cast<const Module&>();
  py::dict all;
  if (kind == "_modules")
    for (const auto& [name, child] : module.own_modules()) all[py::str(name)] = python_half(self, child);
  else
    for (const auto& [name, tensor] : kind == "_buffers" ? module.own_buffers() : module.own_parameters())
      all[py::str(name)] = tensor_or_none(tensor);
  return all;
}

void set_entry(const py::object& self, const std::string& kind, const std::string& name,
               const py::object& value) {
  if (kind == "_modules") return add_child(self, name, value);
  auto& module = self.cast<Module&>();
  Tensor tensor;
  PythonOption<Tensor>::take(tensor, value, "'" + name + "'");
  if (kind == "_buffers")
    module.register_buffer(name, tensor, module.is_persistent(name));
  else
    module.register_parameter(name, tensor.defined() ? as_parameter(tensor) : tensor);
  drop_halves(self);
}

/** PyTorch's refusal of a name that another attribute has. */
template <class Own>
void require_free(const py::object& self, const std::string& name, const Own& own) {
  if (!(self.cast<const Module&>().*own)(name) && py::hasattr(self, name.c_str()))
    throw py::key_error("attribute '" + name + "' already exists");
}

void bind_registration(ModuleBinding& module) {
  for (const char* method : {"register_module", "add_module"})
    module.def(
        method,
        [](const py::object& self, const std::string& name, const py::object& child) {
          require_free(self, name, &Module::has_submodule);
          add_child(self, name, child);
        },
        py::arg("name"), py::arg("module"));
  module
      .def(
          "register_parameter",
          [](const py::object& self, const std::string& name, const std::optional<Tensor>& param) {
            require_free(self, name, &Module::own_parameter);
            if (param && !param->impl().is_parameter)
              throw ocl::TypeError("cannot assign a Tensor to parameter '" + name +
                                   "' (nn.Parameter or None required)");
            self.cast<Module&>().register_parameter(name, or_undefined(param));
          },
          py::arg("name"), py::arg("param"))
      .def(
          "register_buffer",
          [](const py::object& self, const std::string& name, const std::optional<Tensor>& tensor,
             bool persistent) {
            require_free(self, name, &Module::own_buffer);
            self.cast<Module&>().register_buffer(name, or_undefined(tensor), persistent);
          },
          py::arg("name"), py::arg("tensor"), py::arg("persistent") = true,
          "A buffer that is not persistent stays out of the state dict.")
      .def("__setattr__", &set_attribute)
      .def("__getattr__", &get_attribute)
      .def("__delattr__", &delete_attribute)
      .def("_entries", &entries)
      .def("_set_entry", &set_entry)
      .def("_delete_entry", &delete_attribute);
  for (const char* kind : {"_parameters", "_buffers", "_modules"})
    module.def_property_readonly(kind, [kind](const py::object& self) {
      return py::module_::import("ocl.nn.entries").attr("Entries")(self, kind);
    });
}

}  // namespace

void take_up_attributes(const py::object& self) {
  const py::dict attributes = self.attr("__dict__");
  if (attributes.empty()) return;
  auto& module = self.cast<Module&>();
  for (const py::handle key : py::list(attributes)) {
    const auto name = key.cast<std::string>();
    if (is_bound_property(py::type::of(self), key) || module.own_parameter(name) || module.own_buffer(name) ||
        module.has_submodule(name))
      attributes.attr("pop")(key);
  }
  follow_hooks(self, module);
  follow_forward(self, module);
}

void finish_module(const py::object& self, const py::tuple& args, const py::dict& kwargs) {
  if (self.attr("call_super_init").cast<bool>()) {
    const py::object own = py::type::of<Module>().attr("__base__");  // pybind11's, which has no __init__
    py::module_::import("builtins").attr("super")(own, self).attr("__init__")(*args, **kwargs);
    return;
  }
  if (!kwargs.empty())
    throw ocl::TypeError(dlprim::concat(class_name(self), ".__init__() got an unexpected keyword argument '",
                                        py::str(kwargs.begin()->first).cast<std::string>(), "'"));
  if (!args.empty())
    throw ocl::TypeError(dlprim::concat(class_name(self), ".__init__() takes 1 positional argument but ",
                                        args.size() + 1, " were given"));
}

void bind_module(py::module_& m) {
  // The first line is a signature, as Python reads it of a class whose __new__ is in C.
  ModuleBinding module(m, "Module", "Module(*args, **kwargs)\n--\n\nBase of all modules, as torch.nn.Module.",
                       plain_class(), py::custom_type_setup(&set_up_module));
  py::register_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) std::rethrow_exception(pointer);
    } catch (const RecursionError& e) {
      py::set_error(PyExc_RecursionError, e.what());
    } catch (const AttributeError& e) {
      py::set_error(PyExc_AttributeError, e.what());
    }
  });
  module.attr("call_super_init") = false;
  module.def(
      "__init__",
      [](py::detail::value_and_holder& self, const py::args& args, const py::kwargs& kwargs) {
        construct<Module>(self);
        finish_module(object_in(self), args, kwargs);
      },
      py::detail::is_new_style_constructor());
  def_restoring<Module>(module);
  module
      .def(
          "forward", [](Module& self, const Tensor& x) { return self.forward(x); }, py::arg("input"),
          WithoutLock())
      .def("__call__", &call_with_hooks);
  bind_registration(module);
  bind_walks(module);
  bind_modes(module);
  bind_state(module);
  bind_hooks(m, module);
}
