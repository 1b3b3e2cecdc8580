#include <map>

#include "module_binding.h"
#include "state_hooks.h"

namespace {

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

/** A value that is no tensor and no array counts as nothing. */
Tensor as_tensor_if_possible(const py::handle& value) {
  try {
    return tensor_of(py::reinterpret_borrow<py::object>(value), std::nullopt, std::nullopt);
  } catch (const ocl::Error&) {
  } catch (const py::error_already_set&) {
  }
  return {};
}

// Arrays are converted on the host to what the module has under their name: its device may lack their dtype.
ocl::StateDict state_from(const Module& module, const py::dict& given) {
  const bool rewrites = module.rewrites_state_dicts();
  std::map<std::string, Tensor> own;
  for (const ocl::StateDict& held :
       {module.named_parameters("", true, false), module.named_buffers("", true, false)})
    own.insert(held.begin(), held.end());
  // A copy: converting a value may run Python code.
  const auto state = py::reinterpret_steal<py::dict>(PyDict_Copy(given.ptr()));
  ocl::StateDict result;
  for (const auto& [key, value] : state) {
    if (!py::isinstance<py::str>(key))
      throw ocl::TypeError("load_state_dict: expected names as keys, got " + shown(key));
    const auto name = key.cast<std::string>();
    const auto target = own.find(name);
    if (py::isinstance<Tensor>(value))
      result.emplace_back(name, value.cast<Tensor>());
    else if (target != own.end())
      result.emplace_back(name, converted(name, value, target->second));
    else  // the name is all that counts, unless a hook gives the value another
      result.emplace_back(name, rewrites ? as_tensor_if_possible(value) : Tensor());
  }
  return result;
}

/** The state that a copy or a pickle of a module keeps. */
py::dict state_of(const py::object& self) {
  const auto& module = self.cast<const Module&>();
  py::dict buffers, attributes = self.attr("__dict__").attr("copy")();
  for (const auto& [name, tensor] : module.own_buffers())
    buffers[py::str(name)] = py::make_tuple(tensor_or_none(tensor), module.is_persistent(name));
  attributes.attr("pop")("_python_halves", py::none());
  py::dict state;
  state["options"] = py::hasattr(self, "_options") ? self.attr("_options")() : py::dict();
  state["training"] = module.is_training();
  state["parameters"] = self.attr("_entries")("_parameters");
  state["buffers"] = buffers;
  state["modules"] = self.attr("_entries")("_modules");
  state["attributes"] = attributes;
  return state;
}

}  // namespace

void bind_state(ModuleBinding& module) {
  module.def("__getstate__", &state_of)
      .def(
          "state_dict",
          [](const Module& self, const std::optional<py::dict>& destination, const std::string& prefix,
             bool keep_vars) {
            const py::dict state = destination.value_or(py::dict());
            state.attr("update")(python_state(self.state_dict(prefix, keep_vars)));
            return state;
          },
          py::kw_only(), py::arg("destination") = py::none(), py::arg("prefix") = "",
          py::arg("keep_vars") = false,
          "Parameters and buffers by dotted name after prefix, sharing memory with the module and, unless "
          "keep_vars, free of the tape.")
      .def(
          "load_state_dict",
          [](Module& self, const py::dict& state, bool strict, bool assign) {
            return python_keys(self.load_state_dict(state_from(self, state), strict, assign));
          },
          py::arg("state_dict"), py::arg("strict") = true, py::arg("assign") = false,
          "Takes anything array-like: our tensors, NumPy arrays, PyTorch's.");
}

void restore(const py::object& self, const py::dict& state) {
  auto& module = self.cast<Module&>();
  for (const ocl::StateDict& own : {module.own_parameters(), module.own_buffers()})
    for (const auto& [name, tensor] : own) module.unregister(name);
  for (const auto& [name, child] : module.own_modules()) module.unregister(name);
  self.attr("__dict__").attr("update")(state["attributes"]);
  follow_hooks(self, module);
  follow_forward(self, module);
  for (const auto& [name, value] : state["parameters"].cast<py::dict>())
    module.register_parameter(name.cast<std::string>(), or_undefined(value.cast<std::optional<Tensor>>()));
  for (const auto& [name, value] : state["buffers"].cast<py::dict>()) {
    const auto both = value.cast<py::tuple>();
    module.register_buffer(name.cast<std::string>(), or_undefined(both[0].cast<std::optional<Tensor>>()),
                           both[1].cast<bool>());
  }
  for (const auto& [name, child] : state["modules"].cast<py::dict>())
    add_child(self, name.cast<std::string>(), py::reinterpret_borrow<py::object>(child));
  module.set_training(state["training"].cast<bool>());
}
