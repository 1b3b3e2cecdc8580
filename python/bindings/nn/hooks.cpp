#include "hooks.h"

#include <map>

#include "nn/module_scope.h"
#include "nn/stack_guard.h"
#include "state_hooks.h"

namespace {

/** Takes a hook away again; also a context manager. */
struct HookHandle {
  py::weakref module;
  std::string kind;
  std::int64_t id;

  void remove() const {
    const py::object self = module();
    if (!self.is_none()) hooks_named(self, kind).attr("pop")(id, py::none());
  }
};

/** Under this name stands {number: True} for the hooks that are flagged. */
std::string flags_of(const std::string& kind) {
  return kind + (kind == load_state_dict_pre_hooks ? "_without_module" : "_with_kwargs");
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
        hook.is_flagged ? hook.function(self, args, kwargs) : hook.function(self, args);
    if (replaced.is_none()) continue;
    if (!hook.is_flagged) {
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
        hook.is_flagged ? hook.function(self, args, kwargs, result) : hook.function(self, args, result);
    if (!replaced.is_none()) result = replaced;
  }
  return value_of(result);
}

py::tuple none_for_undefined(const ocl::TensorList& gradients) {
  py::tuple result(gradients.size());
  for (std::size_t i = 0; i < gradients.size(); ++i) result[i] = tensor_or_none(gradients[i]);
  return result;
}

ocl::TensorList gradients_of(const py::tuple& values) {
  ocl::TensorList gradients;
  for (const py::handle value : values) {
    dlprim::require<ocl::TypeError>(value.is_none() || py::isinstance<Tensor>(value),
                                    "a backward hook must return Tensors or None, got ",
                                    Py_TYPE(value.ptr())->tp_name);
    gradients.push_back(or_undefined(value.cast<std::optional<Tensor>>()));
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

/** Whether the dict of that name is empty: its hooks are gone, but for C++'s. */
IsIdle is_empty(const Module& module, const char* kind) {
  return [held = &module, kind] {
    const PythonLocked locked;
    return hooks_of(half_of(*held), kind).empty();
  };
}

const std::map<std::string, void (*)(Module&)>& bridges() {
  static const auto& all = *new std::map<std::string, void (*)(Module&)>{
      {forward_hooks,
       [](Module& m) {
         m.register_forward_hook(Module::ForwardHook(&run_forward_hooks), is_empty(m, forward_hooks));
       }},
      {forward_pre_hooks,
       [](Module& m) {
         m.register_forward_pre_hook(Module::ForwardPreHook(&run_pre_hooks), is_empty(m, forward_pre_hooks));
       }},
      {backward_hooks,
       [](Module& m) {
         m.register_full_backward_hook(Module::BackwardHook(&run_backward_hooks),
                                       is_empty(m, backward_hooks));
         m.set_keeper([held = &m] {
           const PythonLocked locked;
           return foreign(half_of(*held));
         });
       }},
      {state_dict_pre_hooks, [](Module& m) { m.register_state_dict_pre_hook(&run_state_dict_pre_hooks); }},
      {state_dict_hooks, [](Module& m) { m.register_state_dict_post_hook(&run_state_dict_hooks); }},
      {load_state_dict_pre_hooks,
       [](Module& m) { m.register_load_state_dict_pre_hook(&run_load_pre_hooks); }},
      {load_state_dict_post_hooks,
       [](Module& m) { m.register_load_state_dict_post_hook(&run_load_post_hooks); }}};
  return all;
}

HookHandle add_hook(const py::object& self, const char* kind, const py::function& hook, bool prepend = false,
                    bool is_flagged = false) {
  auto hooks = hooks_named(self, kind).cast<py::dict>();
  static std::int64_t numbers = 0;
  const py::int_ number(numbers++);
  const py::dict others = prepend ? hooks.attr("copy")().cast<py::dict>() : py::dict();
  if (prepend) hooks.clear();
  hooks[number] = hook;
  hooks.attr("update")(others);
  if (is_flagged) self.attr("__dict__").attr("setdefault")(flags_of(kind), py::dict())[number] = true;
  return {py::weakref(self), kind, numbers - 1};
}

void bind_state_hooks(py::class_<Module>& module) {
  const auto bind = [&](const char* name, const char* kind, const char* documentation) {
    module.def(
        name, [kind](const py::object& self, const py::function& hook) { return add_hook(self, kind, hook); },
        py::arg("hook"), documentation);
  };
  bind("register_state_dict_pre_hook", state_dict_pre_hooks,
       "Calls hook(module, prefix, keep_vars) before a state dict is made.");
  for (const char* name : {"register_state_dict_post_hook", "_register_state_dict_hook"})
    bind(
        name, state_dict_hooks,
        "Calls hook(module, state_dict, prefix, local_metadata) when a state dict holds the module's tensors "
        "and those below, to change it.");
  bind("register_load_state_dict_pre_hook", load_state_dict_pre_hooks,
       "Calls hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, "
       "error_msgs) before a state dict is loaded, to change it.");
  bind("register_load_state_dict_post_hook", load_state_dict_post_hooks,
       "Calls hook(module, incompatible_keys) when a state dict is loaded, to change what counts as missing "
       "or unexpected.");
  module.def(
      "_register_load_state_dict_pre_hook",
      [](const py::object& self, const py::function& hook, bool with_module) {
        return add_hook(self, load_state_dict_pre_hooks, hook, false, !with_module);
      },
      py::arg("hook"), py::arg("with_module") = false);
}

}  // namespace

std::vector<Hook> hooks_of(const py::object& self, const char* kind) {
  std::vector<Hook> hooks;
  const py::dict attributes = self.attr("__dict__");
  if (!attributes.contains(kind)) return hooks;
  const py::object flags = attributes.attr("get")(flags_of(kind), py::dict());
  for (const auto& [number, hook] : attributes[kind].cast<py::dict>())
    hooks.push_back({py::reinterpret_borrow<py::object>(hook), flags.contains(number)});
  return hooks;
}

py::object hooks_named(const py::object& self, const std::string& name) {
  const auto bridge = bridges().find(name);
  if (bridge == bridges().end()) return {};
  const py::dict attributes = self.attr("__dict__");
  if (!attributes.contains(name)) {
    attributes[py::str(name)] = py::dict();
    bridge->second(self.cast<Module&>());
  }
  return attributes[py::str(name)];
}

void follow_hooks(const py::object& self, Module& module) {
  const py::dict attributes = self.attr("__dict__");
  for (const auto& [kind, bridge] : bridges())
    if (attributes.contains(kind)) bridge(module);
}

void clear_hooks(const py::object& self) {
  const py::dict attributes = self.attr("__dict__");
  for (const auto& [kind, bridge] : bridges())
    if (attributes.contains(kind)) attributes[py::str(kind)].attr("clear")();
}

bool has_bound_forward(const py::object& module) {
  const py::object forward = module.attr("forward");
  return PyMethod_Check(forward.ptr()) && PyMethod_GET_SELF(forward.ptr()) == module.ptr() &&
         py::reinterpret_borrow<py::function>(forward).is_cpp_function();
}

void follow_forward(const py::object& self, Module& module) {
  // A half that was made for a class in Python asks the class itself.
  const bool asks_class = dynamic_cast<const py::trampoline_self_life_support*>(&module) != nullptr;
  if (asks_class ? !self.attr("__dict__").contains("forward") : has_bound_forward(self))
    return module.replace_forward({});
  module.replace_forward([held = &module](const Arguments& given) {
    const PythonLocked locked;
    return value_of(half_of(*held).attr("forward")(*positional_of(given), **named_of(given)));
  });
}

py::object call_with_hooks(const py::object& self, const py::args& args, const py::kwargs& kwargs) {
  auto& module = self.cast<Module&>();
  const StackGuard guard(module);
  const ModuleScope entered(module, [&] { return arguments_of(args, kwargs).positional; });
  // Python's own calls: pybind11's would make a name, a tuple and a dict anew.
  static PyObject* const name = PyUnicode_InternFromString("forward");
  const auto owned = [](PyObject* result) {
    if (!result) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(result);
  };
  const py::object forward = owned(PyObject_GetAttr(self.ptr(), name));
  if (!module.has_hooks()) return owned(PyObject_Call(forward.ptr(), args.ptr(), kwargs.ptr()));
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
  bind_state_hooks(module);
}
