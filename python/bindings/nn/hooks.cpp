#include "hooks.h"

#include "nn/stack_guard.h"

namespace {

// Hooks stand in the module's __dict__, {number: hook} in the order in which they are called, where Python's
// collector sees them and programs look for them. C++ reaches them through one hook of its own for each dict.
constexpr const char* forward_hooks = "_forward_hooks";
constexpr const char* forward_pre_hooks = "_forward_pre_hooks";
constexpr const char* backward_hooks = "_backward_hooks";

/** Takes a hook away again; also a context manager. */
struct HookHandle {
  py::dict hooks;
  std::int64_t id;

  void remove() const { hooks.attr("pop")(id, py::none()); }
};

struct Hook {
  py::object function;
  bool with_kwargs;
};

/** Under this name stands {number: True} for the hooks that take keyword arguments too. */
std::string with_kwargs_of(const std::string& kind) {
  return kind + "_with_kwargs";
}

/** The Python half of a module that C++ calls: the one there is, or a view of the module. */
py::object half_of(Module& module) {
  return py::cast(&module, py::return_value_policy::reference);
}

/** The hooks of one kind; a list of their own, since a hook may remove itself. */
std::vector<Hook> hooks_of(const py::object& self, const char* kind) {
  std::vector<Hook> hooks;
  const py::dict attributes = self.attr("__dict__");
  if (!attributes.contains(kind)) return hooks;
  const py::object flags = attributes.attr("get")(with_kwargs_of(kind), py::dict());
  for (const auto& [number, hook] : attributes[kind].cast<py::dict>())
    hooks.push_back({py::reinterpret_borrow<py::object>(hook), flags.contains(number)});
  return hooks;
}

py::tuple as_tuple(const py::object& values) {
  return py::isinstance<py::tuple>(values) ? values.cast<py::tuple>() : py::make_tuple(values);
}

std::optional<Arguments> run_pre_hooks(Module& module, const Arguments& arguments) {
  const PythonLocked locked;
  const py::object self = half_of(module);
  const std::vector<Hook> hooks = hooks_of(self, forward_pre_hooks);
  if (hooks.empty()) return std::nullopt;
  py::tuple args = positional_of(arguments);
  py::dict kwargs = named_of(arguments);
  for (const Hook& hook : hooks) {
    const py::object replaced =
        hook.with_kwargs ? hook.function(self, args, kwargs) : hook.function(self, args);
    if (replaced.is_none()) continue;
    if (!hook.with_kwargs) {
      args = as_tuple(replaced);
      continue;
    }
    const py::tuple both = as_tuple(replaced);
    dlprim::require<ocl::AutogradError>(
        both.size() == 2, "forward pre-hook must return None or a tuple of (new_args, new_kwargs), got ",
        Py_TYPE(replaced.ptr())->tp_name);
    args = as_tuple(both[0]);
    kwargs = both[1].cast<py::dict>();
  }
  return arguments_of(args, kwargs);
}

Value run_forward_hooks(Module& module, const Arguments& arguments, const Value& output) {
  const PythonLocked locked;
  const py::object self = half_of(module);
  const std::vector<Hook> hooks = hooks_of(self, forward_hooks);
  if (hooks.empty()) return {};
  const py::tuple args = positional_of(arguments);
  const py::dict kwargs = named_of(arguments);
  py::object result = python_of(output);
  for (const Hook& hook : hooks) {
    const py::object replaced =
        hook.with_kwargs ? hook.function(self, args, kwargs, result) : hook.function(self, args, result);
    if (!replaced.is_none()) result = replaced;
  }
  return value_of(result);
}

py::tuple none_for_undefined(const ocl::TensorList& gradients) {
  py::tuple result(gradients.size());
  for (std::size_t i = 0; i < gradients.size(); ++i) result[i] = python_option(gradients[i]);
  return result;
}

ocl::TensorList gradients_of(const py::tuple& values) {
  ocl::TensorList gradients;
  for (const py::handle value : values) {
    dlprim::require<ocl::TypeError>(value.is_none() || py::isinstance<Tensor>(value),
                                    "a backward hook must return Tensors or None, got ",
                                    Py_TYPE(value.ptr())->tp_name);
    gradients.push_back(value.is_none() ? Tensor() : value.cast<Tensor>());
  }
  return gradients;
}

std::optional<ocl::TensorList> run_backward_hooks(Module& module, const ocl::TensorList& grad_input,
                                                  const ocl::TensorList& grad_output) {
  const PythonLocked locked;
  const py::object self = half_of(module);
  std::optional<ocl::TensorList> replaced;
  for (const Hook& hook : hooks_of(self, backward_hooks)) {
    const py::object returned = hook.function(self, none_for_undefined(replaced.value_or(grad_input)),
                                              none_for_undefined(grad_output));
    if (!returned.is_none()) replaced = gradients_of(as_tuple(returned));
  }
  return replaced;
}

void bridge(Module& module, const std::string& kind) {
  if (kind == forward_hooks) module.register_forward_hook(Module::ForwardHook(&run_forward_hooks));
  if (kind == forward_pre_hooks) module.register_forward_pre_hook(Module::ForwardPreHook(&run_pre_hooks));
  if (kind != backward_hooks) return;
  module.register_full_backward_hook(Module::BackwardHook(&run_backward_hooks));
  module.set_keeper([held = &module] {
    const PythonLocked locked;
    return foreign(half_of(*held));
  });
}

HookHandle add_hook(const py::object& self, const char* kind, const py::function& hook, bool prepend,
                    bool with_kwargs) {
  auto hooks = hooks_named(self, kind).cast<py::dict>();
  static std::int64_t numbers = 0;
  const py::int_ number(numbers++);
  const py::dict others = prepend ? hooks.attr("copy")().cast<py::dict>() : py::dict();
  if (prepend) hooks.clear();
  hooks[number] = hook;
  hooks.attr("update")(others);
  if (with_kwargs) self.attr("__dict__").attr("setdefault")(with_kwargs_of(kind), py::dict())[number] = true;
  return {hooks, numbers - 1};
}

}  // namespace

py::object hooks_named(const py::object& self, const std::string& name) {
  if (name != forward_hooks && name != forward_pre_hooks && name != backward_hooks) return {};
  const py::dict attributes = self.attr("__dict__");
  if (!attributes.contains(name)) {
    attributes[py::str(name)] = py::dict();
    bridge(self.cast<Module&>(), name);
  }
  return attributes[py::str(name)];
}

void follow_hooks(const py::object& self, Module& module) {
  const py::dict attributes = self.attr("__dict__");
  for (const char* kind : {forward_hooks, forward_pre_hooks, backward_hooks})
    if (attributes.contains(kind)) bridge(module, kind);
}

py::object call_with_hooks(const py::object& self, const py::args& args, const py::kwargs& kwargs) {
  auto& module = self.cast<Module&>();
  const StackGuard guard(module);
  const py::object forward = self.attr("forward");
  if (!module.has_hooks()) return forward(*args, **kwargs);
  const PythonLocked calls_python;
  return python_of(module.with_hooks(arguments_of(args, kwargs), [&](const Arguments& given) {
    return value_of(forward(*positional_of(given), **named_of(given)));
  }));
}

void bind_hooks(py::module_& m, py::object module_class) {
  py::class_<HookHandle>(m, "RemovableHandle", "Takes a hook away again; also a context manager.")
      .def("remove", &HookHandle::remove)
      .def_readonly("id", &HookHandle::id)
      .def("__enter__", [](const py::object& self) { return self; })
      .def("__exit__", [](const HookHandle& self, const py::args&) { self.remove(); });
  auto module = py::reinterpret_borrow<py::class_<Module>>(module_class);
  module
      .def(
          "register_forward_hook",
          [](const py::object& self, const py::function& hook, bool prepend, bool with_kwargs) {
            return add_hook(self, forward_hooks, hook, prepend, with_kwargs);
          },
          py::arg("hook"), py::kw_only(), py::arg("prepend") = false, py::arg("with_kwargs") = false,
          "Calls hook(module, args, output) after every forward; what it returns, unless None, replaces the "
          "output.")
      .def(
          "register_forward_pre_hook",
          [](const py::object& self, const py::function& hook, bool prepend, bool with_kwargs) {
            return add_hook(self, forward_pre_hooks, hook, prepend, with_kwargs);
          },
          py::arg("hook"), py::kw_only(), py::arg("prepend") = false, py::arg("with_kwargs") = false,
          "Calls hook(module, args) before every forward; what it returns, unless None, replaces the "
          "arguments.")
      .def(
          "register_full_backward_hook",
          [](const py::object& self, const py::function& hook, bool prepend) {
            return add_hook(self, backward_hooks, hook, prepend, false);
          },
          py::arg("hook"), py::arg("prepend") = false,
          "Calls hook(module, grad_input, grad_output) in every backward; what it returns, unless None, "
          "replaces grad_input. Of outputs, a tensor or a tuple of them is watched.");
}
