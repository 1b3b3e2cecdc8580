#include <map>
#include <set>
#include <sstream>

#include "hooks.h"
#include "module_class.h"

namespace {

std::string class_name(const py::handle& object) {
  return py::type::of(object).attr("__name__").cast<std::string>();
}

py::object none_or(const Tensor& tensor) {
  return tensor.defined() ? py::cast(tensor) : py::none();
}

bool is_constructed(const py::object& self) {
  return reinterpret_cast<py::detail::instance*>(self.ptr())->get_value_and_holder().holder_constructed();
}

// pybind11 gives out raw memory for an object whose __init__ has not run.
Module& constructed(const py::object& self) {
  if (!is_constructed(self))
    throw ocl::TypeError(
        "a module was used before Module.__init__() had run; begin __init__ with super().__init__()");
  return self.cast<Module&>();
}

/** The Python halves of the submodules by name, where Python's collector sees them. */
py::dict python_halves(const py::object& self) {
  return self.attr("__dict__").attr("setdefault")("_python_halves", py::dict());
}

// Modules and parameters that are assigned become part of the module, as in PyTorch.
void set_attribute(const py::object& self, const std::string& name, const py::object& value) {
  Module& module = constructed(self);
  const auto refuse_unless = [&](bool fits, const char* kind, const char* expected) {
    if (!fits)
      throw ocl::TypeError(dlprim::concat("cannot assign '",
                                          py::type::of(value).attr("__name__").cast<std::string>(), "' as ",
                                          kind, " '", name, "' (", expected, " expected)"));
  };
  const bool is_tensor = py::isinstance<Tensor>(value);
  if (py::isinstance<Module>(value)) {
    add_child(self, module, name, value);
  } else if (is_tensor && value.cast<Tensor>().impl().is_parameter) {
    module.register_parameter(name, value.cast<Tensor>());
    self.attr("__dict__").attr("pop")(name, py::none());
  } else if (is_tensor && py::hasattr(value, "_is_buffer")) {  // an nn.Buffer
    module.register_buffer(name, value.cast<Tensor>(), value.attr("persistent").cast<bool>());
    self.attr("__dict__").attr("pop")(name, py::none());
  } else if (module.own_parameter(name)) {
    refuse_unless(value.is_none(), "parameter", "nn.Parameter or None");
    module.register_parameter(name, {});
  } else if (module.own_buffer(name)) {
    refuse_unless(is_tensor || value.is_none(), "buffer", "Tensor or None");
    module.register_buffer(name, is_tensor ? value.cast<Tensor>() : Tensor());
  } else {
    refuse_unless(!module.own_module(name), "child module", "nn.Module");
    if (PyObject_GenericSetAttr(self.ptr(), py::str(name).ptr(), value.ptr()) != 0)
      throw py::error_already_set();
  }
}

py::object get_attribute(const py::object& self, const std::string& name) {
  const Module& module = constructed(self);
  if (const auto parameter = module.own_parameter(name)) return none_or(*parameter);
  if (const auto buffer = module.own_buffer(name)) return none_or(*buffer);
  if (const auto child = module.own_module(name)) return python_half(self, name, child);
  if (py::object hooks = hooks_named(self, name)) return hooks;
  throw py::attribute_error("'" + module.name() + "' object has no attribute '" + name + "'");
}

void delete_attribute(const py::object& self, const std::string& name) {
  Module& module = constructed(self);
  if (module.own_parameter(name) || module.own_buffer(name) || module.own_module(name)) {
    module.unregister(name);
    python_halves(self).attr("pop")(name, py::none());
  } else if (PyObject_GenericSetAttr(self.ptr(), py::str(name).ptr(), nullptr) != 0) {
    throw py::error_already_set();
  }
}

py::dict as_dict(const ocl::StateDict& state) {
  py::dict result;
  for (const auto& [name, tensor] : state) result[py::str(name)] = tensor;
  return result;
}

/** An array-like as what the module holds under `name`; the errors say which it was. */
Tensor converted(const std::string& name, const py::handle& value, const Tensor& held) {
  const auto refuse = [&](const std::string& reason) {
    throw ocl::TypeError(
        dlprim::concat("load_state_dict: \"", name, "\" cannot be converted to a tensor: ", reason));
  };
  try {
    return tensor_of(py::reinterpret_borrow<py::object>(value), held.dtype(), held.device());
  } catch (const ocl::TypeError& error) {
    refuse(error.what());
  } catch (const ocl::ValueError& error) {
    refuse(error.what());
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_ValueError) && !error.matches(PyExc_TypeError)) throw;
    refuse(py::str(error.value()).cast<std::string>());
  }
  return {};
}

// Arrays are converted on the host to what the module has under their name: its device may lack their dtype.
ocl::StateDict state_from(const Module& module, const py::dict& given) {
  const ocl::StateDict held = module.state_dict();
  const std::map<std::string, Tensor> own(held.begin(), held.end());
  // A copy: converting a value may run Python code.
  const auto state = py::reinterpret_steal<py::dict>(PyDict_Copy(given.ptr()));
  ocl::StateDict result;
  for (const auto& [key, value] : state) {
    if (!py::isinstance<py::str>(key))
      throw ocl::TypeError("load_state_dict: expected names as keys, got " +
                           py::repr(key).cast<std::string>());
    const auto name = key.cast<std::string>();
    const auto target = own.find(name);
    if (py::isinstance<Tensor>(value))
      result.emplace_back(name, value.cast<Tensor>());
    else  // of a name that the module does not have, the name is all that counts
      result.emplace_back(name, target == own.end() ? Tensor() : converted(name, value, target->second));
  }
  return result;
}

/** Module.to: a device, a dtype, both, or a tensor that has them. */
py::object moved(const py::object& self, const py::args& targets, const py::object& device,
                 const std::optional<ocl::DType>& dtype, bool) {
  auto& module = self.cast<Module&>();
  const auto move = [&](const py::handle target) {
    if (py::isinstance<ocl::DType>(target)) {
      module.to(target.cast<ocl::DType>());
    } else if (py::isinstance<Tensor>(target)) {
      const auto like = target.cast<Tensor>();
      module.to(like.device());
      if (is_floating(like.dtype())) module.to(like.dtype());
    } else if (!target.is_none() && !PyBool_Check(target.ptr())) {
      module.to(device_of(target));
    }
  };
  for (const py::handle target : targets) move(target);
  move(device);
  if (dtype) module.to(*dtype);
  return self;
}

template <class Entries>
py::iterator pairs(const Entries& entries) {
  py::list result;
  for (const auto& [name, value] : entries) result.append(py::make_tuple(name, value));
  return py::iter(result);
}

template <class Entries>
py::iterator values(const Entries& entries) {
  py::list result;
  for (const auto& [name, value] : entries) result.append(value);
  return py::iter(result);
}

template <class Entries>
py::dict snapshot(const Entries& entries) {
  py::dict result;
  for (const auto& [name, value] : entries) result[py::str(name)] = value;
  return result;
}

/** self and the modules below it, as Module::named_modules. */
NamedObjects named_modules(const py::object& self, const std::string& prefix, bool remove_duplicate) {
  if (!remove_duplicate) self.cast<const Module&>().require_no_cycle();
  std::set<PyObject*> seen;
  NamedObjects all, stack{{prefix, self}};
  while (!stack.empty()) {
    const auto [path, module] = std::move(stack.back());
    stack.pop_back();
    if (!seen.insert(module.ptr()).second && remove_duplicate) continue;
    all.emplace_back(path, module);
    NamedObjects children = children_of(module);
    for (auto child = children.rbegin(); child != children.rend(); ++child)
      stack.emplace_back(path.empty() ? child->first : path + "." + child->first, child->second);
  }
  return all;
}

/** The children, each once, as PyTorch lists them. */
NamedObjects distinct_children(const py::object& self) {
  std::set<PyObject*> seen;
  NamedObjects children;
  for (const auto& child : children_of(self))
    if (seen.insert(child.second.ptr()).second) children.push_back(child);
  return children;
}

/** A level of a walk. The outermost refuses modules that contain themselves; a nest too deep for the stack
 * raises RecursionError where Python would. */
class Level {
 public:
  explicit Level(const py::object& module) {
    if (depth == 0) module.cast<const Module&>().require_no_cycle();
    if (Py_EnterRecursiveCall(" in a walk over modules")) throw py::error_already_set();
    ++depth;
  }
  ~Level() {
    --depth;
    Py_LeaveRecursiveCall();
  }
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;

 private:
  inline static thread_local int depth = 0;
};

// Not C++'s own walks and repr: these reach what Python subclasses override.
void apply(const py::object& self, const py::function& function) {
  const Level level(self);
  for (const auto& [name, child] : children_of(self)) apply(child, function);
  function(self);
}

py::object train(const py::object& self, bool mode) {
  const Level level(self);
  self.cast<Module&>().set_training(mode);
  for (const auto& [name, child] : children_of(self)) child.attr("train")(mode);
  return self;
}

std::string repr(const py::object& self) {
  const Level level(self);
  std::vector<std::pair<std::string, std::string>> children;
  for (const auto& [name, child] : children_of(self)) children.emplace_back(name, py::repr(child));
  return module_repr(class_name(self), self.attr("extra_repr")().cast<std::string>(), children);
}

/** What stands under a dotted name; AttributeError as PyTorch's where nothing does. */
py::object submodule(const py::object& self, const std::string& target) {
  py::object module = self;
  std::istringstream path(target);
  for (std::string name; std::getline(path, name, '.');) {
    const auto child = module.cast<const Module&>().own_module(name);
    if (!child) throw py::attribute_error(class_name(module) + " has no attribute `" + name + "`");
    module = python_half(module, name, child);
  }
  return module;
}

template <class Find>
Tensor tensor_under(const py::object& self, const std::string& target, const char* kind, const Find& find) {
  const std::size_t dot = target.rfind('.');
  const py::object module = submodule(self, dot == std::string::npos ? "" : target.substr(0, dot));
  const std::string name = target.substr(dot + 1);  // npos + 1 is 0
  const std::optional<Tensor> found = find(module.cast<const Module&>(), name);
  if (!found) throw py::attribute_error(class_name(module) + " has no " + kind + " `" + name + "`");
  return *found;
}

/** What a copy or a pickle of a module keeps. */
py::dict state_of(const py::object& self) {
  const Module& module = constructed(self);
  py::dict parameters, buffers, children, attributes = self.attr("__dict__").attr("copy")();
  for (const auto& [name, tensor] : module.own_parameters())
    parameters[py::str(name)] = python_option(tensor);
  for (const auto& [name, tensor] : module.own_buffers())
    buffers[py::str(name)] = py::make_tuple(python_option(tensor), module.is_persistent(name));
  for (const auto& [name, child] : children_of(self)) children[py::str(name)] = child;
  attributes.attr("pop")("_python_halves", py::none());
  py::dict state;
  state["options"] = py::hasattr(self, "_options") ? self.attr("_options")() : py::dict();
  state["training"] = module.is_training();
  state["parameters"] = parameters;
  state["buffers"] = buffers;
  state["modules"] = children;
  state["attributes"] = attributes;
  return state;
}

using ModuleBinding = py::class_<Module, PythonModule<Module>, py::smart_holder>;

void bind_registration(ModuleBinding& module) {
  const auto add = [](const py::object& self, const std::string& name, const py::object& child) {
    add_child(self, constructed(self), name, child);
  };
  module
      .def(
          "register_parameter",
          [](Module& self, const std::string& name, const std::optional<Tensor>& t) {
            self.register_parameter(name, or_undefined(t));
          },
          py::arg("name"), py::arg("param"))
      .def(
          "register_buffer",
          [](Module& self, const std::string& name, const std::optional<Tensor>& t, bool persistent) {
            self.register_buffer(name, or_undefined(t), persistent);
          },
          py::arg("name"), py::arg("tensor"), py::arg("persistent") = true,
          "A buffer that is not persistent stays out of the state dict.")
      .def("register_module", add, py::arg("name"), py::arg("module"))
      .def("add_module", add, py::arg("name"), py::arg("module"))
      .def("__setattr__", &set_attribute)
      .def("__getattr__", &get_attribute)
      .def("__delattr__", &delete_attribute);
}

void bind_walks(ModuleBinding& module) {
  module
      .def(
          "parameters",
          [](const Module& self, bool recurse) { return py::iter(py::cast(self.parameters(recurse))); },
          py::arg("recurse") = true)
      .def(
          "named_parameters",
          [](const Module& self, const std::string& prefix, bool recurse, bool remove_duplicate) {
            return pairs(self.named_parameters(prefix, recurse, remove_duplicate));
          },
          py::arg("prefix") = "", py::arg("recurse") = true, py::arg("remove_duplicate") = true)
      .def(
          "buffers",
          [](const Module& self, bool recurse) { return py::iter(py::cast(self.buffers(recurse))); },
          py::arg("recurse") = true)
      .def(
          "named_buffers",
          [](const Module& self, const std::string& prefix, bool recurse, bool remove_duplicate) {
            return pairs(self.named_buffers(prefix, recurse, remove_duplicate));
          },
          py::arg("prefix") = "", py::arg("recurse") = true, py::arg("remove_duplicate") = true)
      .def("named_children", [](const py::object& self) { return pairs(distinct_children(self)); })
      .def("children", [](const py::object& self) { return values(distinct_children(self)); })
      .def(
          "named_modules",
          [](const py::object& self, const py::object&, const std::string& prefix, bool remove_duplicate) {
            return pairs(named_modules(self, prefix, remove_duplicate));
          },
          py::arg("memo") = py::none(), py::arg("prefix") = "", py::arg("remove_duplicate") = true)
      .def("modules", [](const py::object& self) { return values(named_modules(self, "", true)); })
      .def_property_readonly("_modules", [](const py::object& self) { return snapshot(children_of(self)); })
      .def_property_readonly(
          "_parameters", [](const Module& self) { return snapshot(self.named_parameters("", false, false)); })
      .def_property_readonly(
          "_buffers", [](const Module& self) { return snapshot(self.named_buffers("", false, false)); })
      .def("get_submodule", &submodule, py::arg("target"), "What stands under a dotted name.")
      .def(
          "get_parameter",
          [](const py::object& self, const std::string& target) {
            return tensor_under(self, target, "parameter", std::mem_fn(&Module::own_parameter));
          },
          py::arg("target"))
      .def(
          "get_buffer",
          [](const py::object& self, const std::string& target) {
            return tensor_under(self, target, "buffer", std::mem_fn(&Module::own_buffer));
          },
          py::arg("target"))
      .def(
          "apply",
          [](const py::object& self, const py::function& function) {
            apply(self, function);
            return self;
          },
          py::arg("fn"));
}

void bind_modes(ModuleBinding& module) {
  module.def_property("training", &Module::is_training, &Module::set_training)
      .def("train", &train, py::arg("mode") = true)
      .def("eval", [](const py::object& self) { return self.attr("train")(false); })
      .def("to", &moved, py::kw_only(), py::arg("device") = py::none(), py::arg("dtype") = py::none(),
           py::arg("non_blocking") = false,
           "Moves parameters and buffers to a device, a floating dtype, both, or those of a tensor.")
      .def("zero_grad", &Module::zero_grad, py::arg("set_to_none") = true)
      .def(
          "requires_grad_",
          [](const py::object& self, bool on) {
            self.cast<Module&>().requires_grad_(on);
            return self;
          },
          py::arg("requires_grad") = true);
  const auto convert = [&](const char* name, ocl::DType dtype) {
    module.def(name, [dtype](const py::object& self) {
      self.cast<Module&>().to(dtype);
      return self;
    });
  };
  convert("float", ocl::DType::float32);
  convert("double", ocl::DType::float64);
  convert("half", ocl::DType::float16);
  convert("bfloat16", ocl::DType::bfloat16);
}

void bind_state(ModuleBinding& module) {
  module
      .def(
          "state_dict",
          [](const Module& self, const std::string& prefix) { return as_dict(self.state_dict(prefix)); },
          py::kw_only(), py::arg("prefix") = "")
      .def(
          "load_state_dict",
          [](Module& self, const py::dict& state, bool strict, bool assign) {
            return self.load_state_dict(state_from(self, state), strict, assign);
          },
          py::arg("state_dict"), py::arg("strict") = true, py::arg("assign") = false,
          "Takes anything array-like: our tensors, NumPy arrays, PyTorch's.");
}

}  // namespace

void add_child(const py::object& self, Module& module, const std::string& name, const py::object& child) {
  if (!py::isinstance<Module>(child)) throw ocl::TypeError(class_name(child) + " is not a Module subclass");
  constructed(child);
  module.register_module(name, py::potentially_slicing_weak_ptr<Module>(child).lock());
  self.attr("__dict__")
      .attr("pop")(name, py::none());  // a plain attribute of that name would hide the submodule
  python_halves(self)[py::str(name)] = child;
}

void restore(const py::object& self, Module& module, const py::dict& state) {
  for (const ocl::StateDict& own : {module.own_parameters(), module.own_buffers()})
    for (const auto& [name, tensor] : own) module.unregister(name);
  for (const auto& [name, child] : module.named_children()) module.unregister(name);
  self.attr("__dict__").attr("update")(state["attributes"]);
  follow_hooks(self, module);
  const auto tensor_or_none = [](const py::handle& value) {
    return value.is_none() ? Tensor() : value.cast<Tensor>();
  };
  for (const auto& [name, value] : state["parameters"].cast<py::dict>())
    module.register_parameter(name.cast<std::string>(), tensor_or_none(value));
  for (const auto& [name, value] : state["buffers"].cast<py::dict>()) {
    const auto both = value.cast<py::tuple>();
    module.register_buffer(name.cast<std::string>(), tensor_or_none(both[0]), both[1].cast<bool>());
  }
  for (const auto& [name, child] : state["modules"].cast<py::dict>())
    add_child(self, module, name.cast<std::string>(), py::reinterpret_borrow<py::object>(child));
  module.set_training(state["training"].cast<bool>());
}

py::object python_half(const py::object& parent, const std::string& name,
                       const std::shared_ptr<Module>& child) {
  const py::dict halves = python_halves(parent);
  const py::str key(name);
  if (halves.contains(key)) {
    py::object half = halves[key];
    if (&half.cast<const Module&>() == child.get()) return half;
  }
  py::object half = py::cast(child);
  halves[key] = half;
  return half;
}

NamedObjects children_of(const py::object& module) {
  NamedObjects children;
  for (const auto& [name, child] : module.cast<const Module&>().named_children())
    children.emplace_back(name, python_half(module, name, child));
  return children;
}

void bind_module(py::module_& m) {
  py::class_<IncompatibleKeys>(
      m, "IncompatibleKeys", "Names that a state dict lacked, and names in it that the module does not have.")
      .def_readonly("missing_keys", &IncompatibleKeys::missing_keys)
      .def_readonly("unexpected_keys", &IncompatibleKeys::unexpected_keys)
      .def("__iter__",
           [](const IncompatibleKeys& keys) {
             return py::iter(py::make_tuple(keys.missing_keys, keys.unexpected_keys));
           })
      .def("__repr__", [](const IncompatibleKeys& keys) {
        if (keys.missing_keys.empty() && keys.unexpected_keys.empty())
          return std::string("<All keys matched successfully>");
        return "_IncompatibleKeys(missing_keys=" + py::repr(py::cast(keys.missing_keys)).cast<std::string>() +
               ", unexpected_keys=" + py::repr(py::cast(keys.unexpected_keys)).cast<std::string>() + ")";
      });
  ModuleBinding module(m, "Module", py::dynamic_attr(), "Base of all modules, as torch.nn.Module.",
                       py::custom_type_setup(&follow_module));
  py::register_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) std::rethrow_exception(pointer);
    } catch (const RecursionError& e) {
      py::set_error(PyExc_RecursionError, e.what());
    }
  });
  def_plain_construction<Module>(module);
  module.def("__getstate__", &state_of)
      .def(
          "forward", [](Module& self, const Tensor& x) { return self.forward(x); }, py::arg("input"),
          WithoutLock())
      .def("__call__",
           [](const py::object& self, const py::args& args, const py::kwargs& kwargs) {
             constructed(self);
             return call_with_hooks(self, args, kwargs);
           })
      .def("__repr__", &repr)
      .def("extra_repr", &Module::extra_repr);
  bind_registration(module);
  bind_walks(module);
  bind_modes(module);
  bind_state(module);
  bind_hooks(m, module);
}
