#include "model_class.h"

#include <algorithm>

std::shared_ptr<Module> module_from(const py::object& made) {
  if (!py::isinstance<Module>(made))
    throw ocl::TypeError("a function that makes layers gave no module but " + class_name(made));
  return made.cast<std::shared_ptr<Module>>();
}

py::object layer_function(const py::handle& value, const std::string& name) {
  if (py::isinstance<py::str>(value)) {
    const py::module_ nn = py::module_::import("ocl.nn");
    if (!py::hasattr(nn, value))
      throw ocl::ValueError(dlprim::concat(name, ": there is no ocl.nn.", value.cast<std::string>()));
    return nn.attr(value);
  }
  if (!PyCallable_Check(value.ptr())) refuse_option(name, "a callable, a name in ocl.nn or None", value);
  return py::reinterpret_borrow<py::object>(value);
}

std::shared_ptr<py::object> held_function(py::object function) {
  return {new py::object(std::move(function)), [](py::object* held) {
            const PythonLocked locked;
            delete held;
          }};
}

void PythonOption<NormLayer>::take(NormLayer& option, const py::handle& value, const std::string& name) {
  option = {};
  if (value.is_none()) return;
  option.make = [function = held_function(layer_function(value, name))](std::int64_t channels) {
    const PythonLocked locked;
    return module_from((*function)(channels));
  };
}

void PythonOption<ActivationLayer>::take(ActivationLayer& option, const py::handle& value,
                                         const std::string& name) {
  option = {};
  if (value.is_none()) return;
  option.make = [function = held_function(layer_function(value, name))](std::optional<bool> inplace) {
    const PythonLocked locked;
    return module_from(inplace ? (*function)(py::arg("inplace") = *inplace) : (*function)());
  };
}

py::object take_arguments(const std::string& net, const OptionNames& names, const OptionFields& fields,
                          const py::kwargs& given) {
  py::object weights = py::none();
  for (const auto& [key, value] : given) {
    const auto name = key.cast<std::string>();
    const auto found = std::find(names.names.begin(), names.names.end(), name);
    if (found != names.names.end())
      fields[found - names.names.begin()].take(value, dlprim::concat(net, "(): argument '", name, "'"));
    else if (name == "weights")
      weights = py::reinterpret_borrow<py::object>(value);
    else if (name != "progress")
      throw ocl::TypeError(dlprim::concat(net, "() got an unexpected keyword argument '", name, "'"));
  }
  return weights;
}

ocl::StateDict weights_in(const std::string& net, const std::string& name, const py::object& path) {
  const py::module_ os = py::module_::import("os");
  const bool is_path = py::isinstance<py::str>(path) || py::hasattr(path, "__fspath__");
  if (!is_path || !os.attr("path").attr("exists")(path).cast<bool>())
    throw ocl::ValueError(dlprim::concat(net, "(): ", name,
                                         " must be None or the path of a file of weights (.pth, ",
                                         ".safetensors), for none are downloaded; got ", shown(path),
                                         ". torchvision gives them where PyTorch is: torch.save("
                                         "torchvision.models.NET(weights=\"DEFAULT\").state_dict(), path)"));
  const py::object loaded = py::module_::import("ocl").attr("load")(path);
  ocl::StateDict state;
  bool is_state = py::isinstance<py::dict>(loaded);
  if (is_state)
    for (const auto& [key, value] : loaded.cast<py::dict>()) {
      is_state = is_state && py::isinstance<py::str>(key) && py::isinstance<Tensor>(value);
      if (is_state) state.emplace_back(key.cast<std::string>(), value.cast<Tensor>());
    }
  if (!is_state)
    throw ocl::ValueError(dlprim::concat(net, "(): ", shown(path), " holds no state dict of tensors"));
  return with_current_names(std::move(state));
}

void load_weights(const std::string& net, const py::object& module, const py::object& weights) {
  py::dict state;
  for (const auto& [name, tensor] : weights_in(net, "weights", weights)) state[py::str(name)] = tensor;
  module.attr("load_state_dict")(state);
}

void PythonOption<BackboneWeights>::take(BackboneWeights& option, const py::handle& value,
                                         const std::string& name) {
  const std::size_t call = name.find('(');
  option.state = value.is_none() ? ocl::StateDict()
                                 : weights_in(name.substr(0, call), "weights_backbone",
                                              py::reinterpret_borrow<py::object>(value));
}

std::string net_documentation(const std::string& net, const std::string& of, const ConstructorSignature& s,
                              const std::string& documentation) {
  std::string plain = net + "(*, weights=None, progress=True",
              typed = net + "(*, weights: str | os.PathLike | None = None, progress: bool = True";
  for (std::size_t i = 0; i < s.names.size(); ++i) {
    if (s.defaults[i].empty()) continue;
    plain += dlprim::concat(", ", s.names[i], "=", s.defaults[i]);
    typed += dlprim::concat(", ", s.names[i], ": ", s.types[i], " = ", s.defaults[i]);
  }
  return dlprim::concat(plain, ")\n--\n\n", typed, ") -> ", of, "\n\n", documentation,
                        "\n\nThe arguments are ", of,
                        "'s. weights: the path of a file to load (.pth, .safetensors); progress is of no "
                        "effect.");
}
