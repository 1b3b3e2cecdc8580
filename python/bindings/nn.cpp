#include <set>

#include <map>

#include "nn_modules.h"

using ocl::Pair;
using ocl::Tensor;
using namespace ocl::nn;

namespace {

/** Lets C++ call a forward that is written in Python. */
class PythonModule : public Module, public py::trampoline_self_life_support {
 public:
  using Module::Module;
  Tensor forward(const Tensor& x) override { PYBIND11_OVERRIDE(Tensor, Module, forward, x); }
  std::string name() const override {
    py::gil_scoped_acquire locked;
    return py::type::of(py::cast(this)).attr("__name__").cast<std::string>();
  }
  std::string extra_repr() const override { PYBIND11_OVERRIDE(std::string, Module, extra_repr); }
};

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

/** Adds a submodule. C++ holds its C++ half alone; the parent's _modules hold the Python half with what a
 * subclass adds. */
void add_child(const py::object& self, const std::string& name, const py::object& child) {
  constructed(self).register_module(name, child.cast<std::shared_ptr<Module>>());
  const py::dict attributes = self.attr("__dict__");
  attributes.attr("pop")(name, py::none());  // a plain attribute of that name would hide the submodule
  if (!attributes.contains("_modules")) attributes["_modules"] = py::dict();
  attributes["_modules"][py::str(name)] = child;
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
    add_child(self, name, value);
  } else if (is_tensor && value.cast<Tensor>().impl().is_parameter) {
    module.register_parameter(name, value.cast<Tensor>());
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
  if (const auto child = module.own_module(name)) return py::cast(child);
  throw py::attribute_error("'" + module.name() + "' object has no attribute '" + name + "'");
}

py::object call(const py::object& self, const py::args& args, const py::kwargs& kwargs) {
  py::object result = self.attr("forward")(*args, **kwargs);
  const auto& module = self.cast<const Module&>();
  if (!module.forward_hooks().empty() && !args.empty() && py::isinstance<Tensor>(result) &&
      py::isinstance<Tensor>(args[0]))
    for (const Module::ForwardHook& hook : module.forward_hooks())
      if (const Tensor replaced = hook(module, args[0].cast<Tensor>(), result.cast<Tensor>());
          replaced.defined())
        result = py::cast(replaced);
  return result;
}

py::dict as_dict(const ocl::StateDict& state) {
  py::dict result;
  for (const auto& [name, tensor] : state) result[py::str(name)] = tensor;
  return result;
}

// Arrays are converted on the host to what the module has under their name: its device may lack their dtype.
ocl::StateDict state_from(const Module& module, const py::dict& state) {
  std::map<std::string, Tensor> own;
  for (const ocl::StateDict& entries : {module.named_parameters(), module.named_buffers()})
    own.insert(entries.begin(), entries.end());
  ocl::StateDict result;
  for (const auto& [key, value] : state) {
    const std::string name = key.cast<std::string>();
    const auto target = own.find(name);
    if (py::isinstance<Tensor>(value))
      result.emplace_back(name, value.cast<Tensor>());
    else if (target == own.end())  // a counter, which is int64, or a name that the module will refuse
      result.emplace_back(
          name, tensor_of(py::reinterpret_borrow<py::object>(value), ocl::DType::int64, std::nullopt));
    else
      result.emplace_back(name, tensor_of(py::reinterpret_borrow<py::object>(value), target->second.dtype(),
                                          target->second.device()));
  }
  return result;
}

py::object moved(const py::object& self, const py::object& target, const std::optional<ocl::DType>& dtype) {
  auto& module = self.cast<Module&>();
  if (py::isinstance<ocl::DType>(target))
    module.to(target.cast<ocl::DType>());
  else if (!target.is_none())
    module.to(device_of(target));
  if (dtype) module.to(*dtype);
  return self;
}

template <class Entries>
py::list pairs(const Entries& entries) {
  py::list result;
  for (const auto& [name, value] : entries) result.append(py::make_tuple(name, value));
  return result;
}

using ModuleSet = std::set<const Module*>;

/** The module and those below it, each once. */
void add_modules(const std::string& prefix, const std::shared_ptr<Module>& module, ModuleSet& seen,
                 py::list& result) {
  if (!seen.insert(module.get()).second) return;
  result.append(py::make_tuple(prefix, module));
  for (const auto& [name, child] : module->named_children())
    add_modules(prefix.empty() ? name : prefix + "." + name, child, seen, result);
}

py::list named_modules(const std::shared_ptr<Module>& module) {
  ModuleSet seen;
  py::list result;
  add_modules("", module, seen, result);
  return result;
}

// Not C++'s own apply and repr: these reach what Python subclasses override.
void apply(const py::object& self, const py::function& function) {
  for (const auto& [name, child] : self.cast<const Module&>().named_children())
    apply(py::cast(child), function);
  function(self);
}

std::string repr(const py::object& self) {
  std::vector<std::pair<std::string, std::string>> children;
  for (const auto& [name, child] : self.cast<const Module&>().named_children())
    children.emplace_back(name, py::repr(py::cast(child)));
  return module_repr(py::type::of(self).attr("__name__").cast<std::string>(),
                     self.attr("extra_repr")().cast<std::string>(), children);
}

void bind_module(py::module_& m) {
  py::class_<Module, PythonModule, py::smart_holder>(m, "Module", py::dynamic_attr(),
                                                     "Base of all modules, as torch.nn.Module.")
      .def(py::init<>())
      .def(
          "forward", [](Module& self, const Tensor& x) { return self.forward(x); }, py::arg("input"),
          WithoutLock())
      .def("__call__", &call)
      .def("__setattr__", &set_attribute)
      .def("__getattr__", &get_attribute)
      .def("__repr__", &repr)
      .def("extra_repr", &Module::extra_repr)
      .def(
          "register_parameter",
          [](Module& self, const std::string& name, const std::optional<Tensor>& t) {
            self.register_parameter(name, t.value_or(Tensor()));
          },
          py::arg("name"), py::arg("param"))
      .def(
          "register_buffer",
          [](Module& self, const std::string& name, const std::optional<Tensor>& t) {
            self.register_buffer(name, t.value_or(Tensor()));
          },
          py::arg("name"), py::arg("tensor"))
      .def(
          "register_module",
          [](const py::object& self, const std::string& name, const py::object& module) {
            add_child(self, name, module);
          },
          py::arg("name"), py::arg("module"))
      .def(
          "add_module",
          [](const py::object& self, const std::string& name, const py::object& module) {
            add_child(self, name, module);
          },
          py::arg("name"), py::arg("module"))
      .def(
          "register_forward_hook",
          [](Module& self,
             const std::function<py::object(const py::object&, const py::object&, const Tensor&)>& hook) {
            self.register_forward_hook([hook](const Module& module, const Tensor& x, const Tensor& y) {
              py::gil_scoped_acquire locked;
              const py::object replaced =
                  hook(py::cast(&module, py::return_value_policy::reference), py::make_tuple(x), y);
              return replaced.is_none() ? Tensor() : replaced.cast<Tensor>();
            });
          },
          py::arg("hook"))
      .def("parameters", [](const Module& self) { return py::iter(py::cast(self.parameters())); })
      .def("named_parameters", [](const Module& self) { return py::iter(pairs(self.named_parameters())); })
      .def("named_buffers", [](const Module& self) { return py::iter(pairs(self.named_buffers())); })
      .def("buffers",
           [](const Module& self) {
             py::list result;
             for (const auto& [name, tensor] : self.named_buffers()) result.append(tensor);
             return py::iter(result);
           })
      .def("named_children", [](const Module& self) { return py::iter(pairs(self.named_children())); })
      .def("children",
           [](const Module& self) {
             py::list result;
             for (const auto& [name, child] : self.named_children()) result.append(child);
             return py::iter(result);
           })
      .def("named_modules", [](const std::shared_ptr<Module>& self) { return py::iter(named_modules(self)); })
      .def("modules",
           [](const std::shared_ptr<Module>& self) {
             py::list result;
             for (const py::handle entry : named_modules(self)) result.append(entry.cast<py::tuple>()[1]);
             return py::iter(result);
           })
      .def(
          "apply",
          [](const py::object& self, const py::function& function) {
            apply(self, function);
            return self;
          },
          py::arg("fn"))
      .def_property_readonly("training", &Module::is_training)
      .def(
          "train",
          [](const py::object& self, bool mode) {
            self.cast<Module&>().train(mode);
            return self;
          },
          py::arg("mode") = true)
      .def("eval",
           [](const py::object& self) {
             self.cast<Module&>().eval();
             return self;
           })
      .def("to", &moved, py::arg("target") = py::none(), py::arg("dtype") = py::none())
      .def("zero_grad", &Module::zero_grad, py::arg("set_to_none") = true)
      .def(
          "requires_grad_",
          [](const py::object& self, bool on) {
            self.cast<Module&>().requires_grad_(on);
            return self;
          },
          py::arg("requires_grad") = true)
      .def("state_dict", [](const Module& self) { return as_dict(self.state_dict()); })
      .def(
          "load_state_dict",
          [](Module& self, const py::dict& state, bool strict) {
            self.load_state_dict(state_from(self, state), strict);
          },
          py::arg("state_dict"), py::arg("strict") = true,
          "Takes anything array-like: our tensors, NumPy arrays, PyTorch's.");
}

void bind_layers(py::module_& m) {
  ModuleClass<Conv2d>(m, "Conv2d", "2D convolution, [N, in, H, W] -> [N, out, OH, OW].")
      .def(py::init<std::int64_t, std::int64_t, Pair, Pair, Pair, Pair, int, bool>(), py::arg("in_channels"),
           py::arg("out_channels"), py::arg("kernel_size"), py::arg("stride") = Pair(1),
           py::arg("padding") = Pair(0), py::arg("dilation") = Pair(1), py::arg("groups") = 1,
           py::arg("bias") = true);
  ModuleClass<Linear>(m, "Linear", "[..., in_features] -> [..., out_features].")
      .def(py::init<std::int64_t, std::int64_t, bool>(), py::arg("in_features"), py::arg("out_features"),
           py::arg("bias") = true);
  ModuleClass<MaxPool2d>(m, "MaxPool2d")
      .def(py::init<Pair, std::optional<Pair>, Pair, Pair, bool>(), py::arg("kernel_size"),
           py::arg("stride") = py::none(), py::arg("padding") = Pair(0), py::arg("dilation") = Pair(1),
           py::arg("ceil_mode") = false);
  ModuleClass<AvgPool2d>(m, "AvgPool2d")
      .def(py::init<Pair, std::optional<Pair>, Pair, bool, bool>(), py::arg("kernel_size"),
           py::arg("stride") = py::none(), py::arg("padding") = Pair(0), py::arg("ceil_mode") = false,
           py::arg("count_include_pad") = true);
  ModuleClass<AdaptiveAvgPool2d>(m, "AdaptiveAvgPool2d").def(py::init<Pair>(), py::arg("output_size"));
  ModuleClass<Dropout>(m, "Dropout").def(py::init<double>(), py::arg("p") = 0.5);
  ModuleClass<Flatten>(m, "Flatten")
      .def(py::init<std::int64_t, std::int64_t>(), py::arg("start_dim") = 1, py::arg("end_dim") = -1);
  ModuleClass<Identity>(m, "Identity").def(py::init<>());
  ModuleClass<GELU>(m, "GELU").def(py::init<std::string>(), py::arg("approximate") = "none");
  ModuleClass<Softmax>(m, "Softmax").def(py::init<std::int64_t>(), py::arg("dim"));
  ModuleClass<Softmin>(m, "Softmin").def(py::init<std::int64_t>(), py::arg("dim"));
  ModuleClass<LogSoftmax>(m, "LogSoftmax").def(py::init<std::int64_t>(), py::arg("dim"));
#define ACTIVATION(Class, function) ModuleClass<Class>(m, #Class).def(py::init<>());
#define ACTIVATION_P(Class, function, p, p0) \
  ModuleClass<Class>(m, #Class).def(py::init<double>(), py::arg(#p) = p0);
#define ACTIVATION_PQ(Class, function, p, p0, q, q0) \
  ModuleClass<Class>(m, #Class).def(py::init<double, double>(), py::arg(#p) = p0, py::arg(#q) = q0);
#include "nn/modules/activations.def"
}

void bind_containers(py::module_& m) {
  ModuleClass<Sequential>(m, "Sequential", "Each module's output is the next one's input.")
      .def(py::init([](const py::args& modules) {
             auto sequential = std::make_shared<Sequential>();
             for (const py::handle module : modules) {
               if (py::isinstance<py::dict>(module)) {
                 for (const auto& [name, child] : module.cast<py::dict>())
                   sequential->register_module(name.cast<std::string>(),
                                               child.cast<std::shared_ptr<Module>>());
               } else {
                 sequential->append(module.cast<std::shared_ptr<Module>>());
               }
             }
             return sequential;
           }),
           py::keep_alive<1, 2>())
      .def(
          "forward",
          [](const py::object& self, py::object input) {
            for (const auto& [name, child] : self.cast<const Sequential&>().named_children())
              input = py::cast(child)(input);
            return input;
          },
          py::arg("input"))
      .def(
          "append",
          [](const py::object& self, const py::object& module) {
            add_child(self, std::to_string(self.cast<const Sequential&>().size()), module);
            return self;
          },
          py::arg("module"))
      .def("__len__", &Sequential::size)
      .def("__getitem__", &Sequential::at)
      .def("__iter__", [](const Sequential& self) {
        py::list result;
        for (const auto& [name, child] : self.named_children()) result.append(child);
        return py::iter(result);
      });
}

void bind_init(py::module_& parent) {
  py::module_ m = parent.def_submodule("_init", "Filling of parameters, in place.");
  m.def(
      "uniform_", [](Tensor t, double a, double b) { return init::uniform_(t, a, b); }, py::arg("tensor"),
      py::arg("a") = 0.0, py::arg("b") = 1.0);
  m.def(
      "normal_", [](Tensor t, double mean, double std) { return init::normal_(t, mean, std); },
      py::arg("tensor"), py::arg("mean") = 0.0, py::arg("std") = 1.0);
  m.def(
      "constant_", [](Tensor t, double val) { return init::constant_(t, val); }, py::arg("tensor"),
      py::arg("val"));
  m.def(
      "zeros_", [](Tensor t) { return init::zeros_(t); }, py::arg("tensor"));
  m.def(
      "ones_", [](Tensor t) { return init::ones_(t); }, py::arg("tensor"));
  m.def(
      "xavier_uniform_", [](Tensor t, double gain) { return init::xavier_uniform_(t, gain); },
      py::arg("tensor"), py::arg("gain") = 1.0);
  m.def(
      "xavier_normal_", [](Tensor t, double gain) { return init::xavier_normal_(t, gain); },
      py::arg("tensor"), py::arg("gain") = 1.0);
  const auto kaiming = [&](const char* name, Tensor& (*function)(Tensor&, double, bool, const std::string&)) {
    m.def(
        name,
        [function](Tensor t, double a, const std::string& mode, const std::string& nonlinearity) {
          dlprim::require(mode == "fan_in" || mode == "fan_out", "Mode ", mode,
                          " not supported, please use one of fan_in, fan_out");
          return function(t, a, mode == "fan_out", nonlinearity);
        },
        py::arg("tensor"), py::arg("a") = 0.0, py::arg("mode") = "fan_in",
        py::arg("nonlinearity") = "leaky_relu");
  };
  kaiming("kaiming_uniform_", &init::kaiming_uniform_);
  kaiming("kaiming_normal_", &init::kaiming_normal_);
}

}  // namespace

void bind_nn(py::module_& parent) {
  py::module_ m = parent.def_submodule("_nn", "Modules.");
  m.def(
      "Parameter",
      [](const Tensor& data, bool requires_grad) { return parameter(data.detach(), requires_grad); },
      py::arg("data"), py::arg("requires_grad") = true,
      "A tensor that a module registers when it is assigned to one.");
  bind_module(m);
  bind_layers(m);
  bind_containers(m);
  bind_norm_modules(m);
  bind_loss_modules(m);
  bind_attention_modules(m);
  bind_init(m);
}
