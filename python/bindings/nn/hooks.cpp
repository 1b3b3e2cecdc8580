#include "hooks.h"

#include "nn/backward_watch.h"

namespace {

// Hooks stand in the module's __dict__, in the order in which they are called: {number: (hook, with_kwargs)}.
constexpr const char* forward_hooks = "_forward_hooks";
constexpr const char* forward_pre_hooks = "_forward_pre_hooks";
constexpr const char* backward_hooks = "_backward_hooks";

/** Takes a hook away again; also a context manager. */
struct HookHandle {
  py::dict hooks;
  std::int64_t number;

  void remove() const { hooks.attr("pop")(number, py::none()); }
};

struct Hook {
  py::object function;
  bool with_kwargs;
};

/** The hooks of one kind; a list of their own, since a hook may remove itself. */
std::vector<Hook> hooks_of(const py::object& self, const char* kind) {
  std::vector<Hook> hooks;
  const py::dict attributes = self.attr("__dict__");
  if (!attributes.contains(kind)) return hooks;
  for (const auto& [number, entry] : attributes[kind].cast<py::dict>()) {
    const auto pair = entry.cast<py::tuple>();
    hooks.push_back({pair[0], pair[1].cast<bool>()});
  }
  return hooks;
}

HookHandle add_hook(const py::object& self, const char* kind, const py::function& hook, bool prepend,
                    bool with_kwargs) {
  const py::dict attributes = self.attr("__dict__");
  if (!attributes.contains(kind)) attributes[kind] = py::dict();
  auto hooks = attributes[kind].cast<py::dict>();
  static std::int64_t numbers = 0;
  const std::int64_t number = numbers++;
  const py::dict others = prepend ? hooks.attr("copy")().cast<py::dict>() : py::dict();
  if (prepend) hooks.clear();
  hooks[py::int_(number)] = py::make_tuple(hook, with_kwargs);
  hooks.attr("update")(others);
  return {hooks, number};
}

py::tuple as_tuple(const py::object& values) {
  return py::isinstance<py::tuple>(values) ? values.cast<py::tuple>() : py::make_tuple(values);
}

void run_pre_hooks(const py::object& self, py::args& args, py::kwargs& kwargs) {
  for (const Hook& hook : hooks_of(self, forward_pre_hooks)) {
    const py::object replaced =
        hook.with_kwargs ? hook.function(self, args, kwargs) : hook.function(self, args);
    if (replaced.is_none()) continue;
    if (!hook.with_kwargs) {
      args = py::args(as_tuple(replaced));
      continue;
    }
    const py::tuple both = as_tuple(replaced);
    dlprim::require(both.size() == 2,
                    "forward pre-hook must return None or a tuple of (new_args, new_kwargs), got ",
                    py::repr(replaced).cast<std::string>());
    args = py::args(both[0]);
    kwargs = py::kwargs(both[1]);
  }
}

/** Tensors among the arguments or the results of a call, and where they stand. */
struct TensorsAmong {
  explicit TensorsAmong(const py::tuple& all) : values(all) {
    for (const py::handle value : values)
      if (py::isinstance<Tensor>(value)) tensors.push_back(value.cast<Tensor>());
  }
  /** The values, with others in place of the tensors. */
  py::tuple with(const ocl::TensorList& others) const {
    py::list result;
    auto next = others.begin();
    for (const py::handle value : values)
      result.append(py::isinstance<Tensor>(value) ? py::cast(*next++)
                                                  : py::reinterpret_borrow<py::object>(value));
    return py::tuple(result);
  }

  py::tuple values;
  ocl::TensorList tensors;
};

/** Which values of a tuple are tensors. */
std::vector<bool> tensor_places(const py::tuple& values) {
  std::vector<bool> places;
  for (const py::handle value : values) places.push_back(py::isinstance<Tensor>(value));
  return places;
}

/** Gradients where the tensors stand, None elsewhere. */
py::tuple spread(const ocl::TensorList& gradients, const std::vector<bool>& places) {
  py::list result;
  auto next = gradients.begin();
  for (const bool is_tensor : places) {
    const Tensor g = is_tensor && next != gradients.end() ? *next++ : Tensor();
    result.append(g.defined() ? py::cast(g) : py::none());
  }
  return py::tuple(result);
}

ocl::TensorList gathered(const py::tuple& gradients, const std::vector<bool>& places) {
  dlprim::require(gradients.size() == places.size(), "a backward hook must return ", places.size(),
                  " gradients of inputs, got ", gradients.size());
  ocl::TensorList result;
  for (std::size_t i = 0; i < places.size(); ++i)
    if (places[i]) {
      const py::object gradient = gradients[i];
      dlprim::require<ocl::TypeError>(gradient.is_none() || py::isinstance<Tensor>(gradient),
                                      "a backward hook must return Tensors or None, got ",
                                      py::repr(gradient).cast<std::string>());
      result.push_back(gradient.is_none() ? Tensor() : gradient.cast<Tensor>());
    }
  return result;
}

/** The backward hooks of `self`, which the tape holds, as one. */
BackwardWatch::Hook joined_backward_hooks(const py::object& self, const std::vector<bool>& inputs,
                                          const std::shared_ptr<std::vector<bool>>& outputs) {
  return [inputs, outputs, held = self.ptr()](const ocl::TensorList& grad_input,
                                              const ocl::TensorList& grad_output) {
    const PythonLocked locked;
    const py::object module = object_of(held);
    py::tuple current = spread(grad_input, inputs);
    for (const Hook& hook : hooks_of(module, backward_hooks)) {
      const py::object replaced = hook.function(module, current, spread(grad_output, *outputs));
      if (!replaced.is_none()) current = as_tuple(replaced);
    }
    return gathered(current, inputs);
  };
}

py::object forward(const py::object& self, const py::args& args, const py::kwargs& kwargs) {
  if (hooks_of(self, backward_hooks).empty()) return self.attr("forward")(*args, **kwargs);
  const auto output_places = std::make_shared<std::vector<bool>>();
  BackwardWatch watch(joined_backward_hooks(self, tensor_places(args), output_places),
                      [held = self.ptr()] { return foreign(object_of(held)); });
  const TensorsAmong inputs(args);
  const py::object result = self.attr("forward")(*inputs.with(watch.inputs(inputs.tensors)), **kwargs);
  const bool is_tensor = py::isinstance<Tensor>(result);
  if (!is_tensor && !py::isinstance<py::tuple>(result)) return result;
  const TensorsAmong outputs(as_tuple(result));
  *output_places = tensor_places(outputs.values);
  py::tuple watched = outputs.with(watch.outputs(outputs.tensors));
  if (is_tensor) return watched[0];
  return watched;
}

}  // namespace

py::object call_with_hooks(const py::object& self, py::args args, py::kwargs kwargs) {
  const PythonLocked calls_python;
  run_pre_hooks(self, args, kwargs);
  py::object result = forward(self, args, kwargs);
  for (const Hook& hook : hooks_of(self, forward_hooks)) {
    const py::object replaced =
        hook.with_kwargs ? hook.function(self, args, kwargs, result) : hook.function(self, args, result);
    if (!replaced.is_none()) result = replaced;
  }
  return result;
}

void bind_hooks(py::module_& m, py::object module_class) {
  py::class_<HookHandle>(m, "RemovableHandle", "Takes a hook away again; also a context manager.")
      .def("remove", &HookHandle::remove)
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
