#include "optim.h"

#include <cmath>
#include <set>

using ocl::Tensor;
using namespace ocl::optim;

namespace {

constexpr double largest_whole_double = 9007199254740992;  // above it not every integer is one
// A step in another thread holds the optimizer's lock: Python's is let go while this one waits for it.

ParameterGroup copy_of(const ParameterGroup& group) {
  const PythonUnlocked unlocked;
  const std::lock_guard locked(*group.mutex);
  return group;
}

std::vector<ParameterGroup> groups_of(const Optimizer& optimizer) {
  const PythonUnlocked unlocked;
  return optimizer.snapshot();
}

// Adam's betas are one option in Python and two in C++.
py::object get_option(const ParameterGroup& group, const std::string& name) {
  if (name == "params") return py::cast(group.parameters);
  if (name == "betas" && group.options.count("beta1"))
    return py::make_tuple(group.number("beta1"), group.number("beta2"));
  const auto found = group.options.find(name);
  if (found == group.options.end()) throw py::key_error(name);
  return py::cast(found->second);
}

void set_option(Options& options, const std::string& name, const py::object& value) {
  if (name == "betas") {
    const auto betas = as<std::pair<double, double>>(value, name);
    options.insert_or_assign("beta1", ocl::Scalar(betas.first));
    options.insert_or_assign("beta2", ocl::Scalar(betas.second));
    return;
  }
  options.insert_or_assign(name, as<ocl::Scalar>(value, name));
}

/** Whether a group has or may be given that option: a schedule's are there only where one was made. */
bool is_option(const ParameterGroup& group, const std::string& name) {
  static const std::set<std::string> of_schedules{"initial_lr", "max_lr", "min_lr", "max_momentum",
                                                  "base_momentum"};
  return group.options.count(name) || of_schedules.count(name) ||
         (name == "betas" && group.options.count("beta1"));
}

void set_options(ParameterGroup& group, const Options& options) {
  const PythonUnlocked unlocked;
  const std::lock_guard locked(*group.mutex);
  for (const auto& [name, value] : options) group.options.insert_or_assign(name, value);
}

struct Group {
  ocl::TensorList parameters;
  Options options;
};

ocl::TensorList tensors_of(const py::object& iterable) {
  if (py::isinstance<Tensor>(iterable)) return {iterable.cast<Tensor>()};
  ocl::TensorList tensors;
  for (const py::handle item : iterable) {
    py::object entry = py::reinterpret_borrow<py::object>(item);
    // Pairs of a name and a tensor are what named_parameters() gives.
    if (py::isinstance<py::tuple>(entry) && py::len(entry) == 2) entry = entry.cast<py::tuple>()[1];
    if (!py::isinstance<Tensor>(entry))
      throw ocl::TypeError("optimizer can only optimize Tensors, got " +
                           py::type::of(entry).attr("__name__").cast<std::string>());
    tensors.push_back(entry.cast<Tensor>());
  }
  return tensors;
}

Group group_of(const py::dict& description) {
  Group group;
  for (const auto& [key, value] : description) {
    const py::object held = py::reinterpret_borrow<py::object>(value);
    if (key.cast<std::string>() == "params")
      group.parameters = tensors_of(held);
    else
      set_option(group.options, key.cast<std::string>(), held);
  }
  return group;
}

/** Tensors, or dicts with "params" and settings of their own. */
std::vector<Group> groups_of(const py::object& params) {
  const py::list items(params);
  if (!items.empty() && py::isinstance<py::dict>(items[0])) {
    std::vector<Group> groups;
    for (const py::handle item : items) groups.push_back(group_of(item.cast<py::dict>()));
    return groups;
  }
  return {{tensors_of(items), {}}};
}

template <class Construct>
auto constructed(const py::object& params, const Construct& construct) {
  const std::vector<Group> groups = groups_of(params);
  dlprim::require(!groups.empty(), "optimizer got an empty parameter list");
  auto optimizer = construct(groups[0].parameters);
  for (const auto& [name, value] : groups[0].options) {
    dlprim::require(optimizer->param_groups()[0].options.count(name) != 0, "optimizer has no option '", name,
                    "'");
    optimizer->param_groups()[0].options.at(name) = value;
  }
  for (std::size_t i = 1; i < groups.size(); ++i)
    optimizer->add_param_group(groups[i].parameters, groups[i].options);
  return optimizer;
}

/** torch's layout: {"state": {index: {...}}, "param_groups": [{..., "params": [index, ...]}]}. */
py::dict state_dict(const Optimizer& optimizer) {
  py::dict state;
  py::list groups;
  int index = 0;
  for (const ParameterGroup& group : groups_of(optimizer)) {
    py::dict settings;
    for (const auto& [name, value] : group.options)
      if (name != "beta1" && name != "beta2") settings[py::str(name)] = value;
    if (group.options.count("beta1")) settings["betas"] = get_option(group, "betas");
    py::list indices;
    const std::vector<std::string> names = optimizer.state_names(group);
    for (const ParameterState& kept : group.state) {
      if (kept.step > 0) {
        py::dict entry;
        entry["step"] = kept.step;
        for (std::size_t k = 0; k < kept.tensors.size(); ++k) entry[py::str(names[k])] = kept.tensors[k];
        state[py::int_(index)] = entry;
      }
      indices.append(index++);
    }
    settings["params"] = indices;
    groups.append(settings);
  }
  py::dict result;
  result["state"] = state;
  result["param_groups"] = groups;
  return result;
}

std::int64_t step_count(const py::object& step) {
  const auto count = py::float_(step).cast<double>();
  dlprim::require(count >= 0 && count <= largest_whole_double && count == std::floor(count),
                  "loaded state dict has a parameter that has taken ", count, " steps");
  return static_cast<std::int64_t>(count);
}

ParameterState state_from(const py::dict& entry, std::size_t index, const Tensor& parameter,
                          const std::vector<std::string>& names) {
  ParameterState state;
  // torch's SGD counts no steps: that there is a momentum buffer says that one was taken.
  state.step = entry.contains("step") ? step_count(entry["step"]) : 1;
  for (const std::string& name : names) {
    dlprim::require(entry.contains(name.c_str()), "loaded state dict has no '", name, "' for parameter ",
                    index);
    state.tensors.push_back(tensor_of(entry[name.c_str()], parameter.dtype(), parameter.device()));
  }
  return state;
}

/** A copy of `group` with what a state dict has for it. */
ParameterGroup loaded_group(const Optimizer& optimizer, const ParameterGroup& group, const py::dict& settings,
                            const py::dict& state) {
  ParameterGroup loaded = group;
  for (const auto& [key, value] : settings) {
    const auto option = as<std::string>(key, "param_groups");
    if (is_option(group, option))
      set_option(loaded.options, option, py::reinterpret_borrow<py::object>(value));
  }
  const py::list indices(settings["params"]);
  dlprim::require(
      indices.size() == group.parameters.size(),
      "loaded state dict contains a parameter group that doesn't match the size of optimizer's group");
  const std::vector<std::string> names = optimizer.state_names(loaded);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const py::object index = indices[i];
    loaded.state[i] = {};
    if (state.contains(index))
      loaded.state[i] = state_from(as<py::dict>(state[index], "state"), i, group.parameters[i], names);
  }
  return loaded;
}

void load_state_dict(Optimizer& optimizer, const py::dict& dict) {
  const auto state = as<py::dict>(dict["state"], "state");
  const py::list groups(dict["param_groups"]);
  const std::vector<ParameterGroup> held = groups_of(optimizer);
  dlprim::require(groups.size() == held.size(),
                  "loaded state dict has a different number of parameter groups");
  std::vector<ParameterGroup> loaded;
  for (std::size_t g = 0; g < groups.size(); ++g)
    loaded.push_back(loaded_group(optimizer, held[g], as<py::dict>(groups[g], "param_groups"), state));
  const PythonUnlocked unlocked;
  optimizer.load_param_groups(std::move(loaded));
}

py::list option_names(const ParameterGroup& group) {
  py::list names;
  names.append("params");
  for (const auto& [name, value] : group.options)
    if (name != "beta1" && name != "beta2") names.append(name);
  if (group.options.count("beta1")) names.append("betas");
  return names;
}

std::string repr(const Optimizer& optimizer) {
  std::string text = optimizer.name() + " (";
  int number = 0;
  for (const ParameterGroup& group : groups_of(optimizer)) {
    text += "\nParameter Group " + std::to_string(number++) + "\n";
    py::list names = option_names(group);
    names.attr("sort")();
    for (const py::handle name : names)
      if (const auto option = name.cast<std::string>(); option != "params")
        text += "    " + option + ": " + py::str(get_option(group, option)).cast<std::string>() + "\n";
  }
  return text + ")";
}

}  // namespace

void bind_optim(py::module_& parent) {
  py::module_ m = parent.def_submodule("_optim", "Optimizers.");
  py::class_<ParameterGroup>(m, "ParameterGroup",
                             "Settings of some parameters, read and written by name like a dict.")
      .def("__getitem__", [](const ParameterGroup& group,
                             const std::string& name) { return get_option(copy_of(group), name); })
      .def("__setitem__",
           [](ParameterGroup& group, const std::string& name, const py::object& value) {
             if (!is_option(copy_of(group), name)) throw py::key_error(name);
             Options changed;
             set_option(changed, name, value);
             set_options(group, changed);
           })
      .def("keys", [](const ParameterGroup& group) { return option_names(copy_of(group)); })
      .def("__iter__", [](const ParameterGroup& group) { return py::iter(option_names(copy_of(group))); })
      .def("items",
           [](const ParameterGroup& shared) {
             const ParameterGroup group = copy_of(shared);
             py::list items;
             for (const py::handle name : option_names(group))
               items.append(py::make_tuple(name, get_option(group, name.cast<std::string>())));
             return items;
           })
      .def(
          "get",
          [](const py::object& group, const py::object& name, const py::object& missing) {
            return group.contains(name) ? group[name] : missing;
          },
          py::arg("key"), py::arg("default") = py::none())
      .def("__contains__", [](const ParameterGroup& shared, const std::string& name) {
        const ParameterGroup group = copy_of(shared);
        return name == "params" || group.options.count(name) ||
               (name == "betas" && group.options.count("beta1"));
      });
  py::class_<Optimizer>(m, "Optimizer")
      .def(
          "step",
          [](Optimizer& self, const py::object& closure) {
            py::object loss = py::none();
            if (!closure.is_none()) {
              const ocl::GradMode recording(true);
              const PythonLocked calls_python;
              loss = closure();
            }
            const PythonUnlocked unlocked;
            self.step();
            return loss;
          },
          py::arg("closure") = py::none(),
          "Updates every parameter that has a gradient; does not wait. A closure is called first; its result "
          "is returned.")
      .def("__repr__", &repr)
      .def("zero_grad", &Optimizer::zero_grad, py::arg("set_to_none") = true, WithoutLock())
      .def(
          "add_param_group",
          [](Optimizer& self, const py::dict& description) {
            const Group group = group_of(description);
            const PythonUnlocked unlocked;
            self.add_param_group(group.parameters, group.options);
          },
          py::arg("param_group"))
      .def_property_readonly(
          "param_groups",
          [](const py::object& self) {
            auto& optimizer = self.cast<Optimizer&>();
            std::vector<ParameterGroup*> pointers;
            {
              const PythonUnlocked unlocked;
              const std::lock_guard locked(optimizer.mutex());
              for (ParameterGroup& group : optimizer.param_groups()) pointers.push_back(&group);
            }
            py::list groups;
            for (ParameterGroup* group : pointers)
              groups.append(py::cast(*group, py::return_value_policy::reference_internal, self));
            return groups;
          })
      .def("state_dict", &state_dict)
      .def("load_state_dict", &load_state_dict, py::arg("state_dict"));
  py::class_<SGD, Optimizer>(m, "SGD", "Gradient descent with momentum.")
      .def(py::init([](const py::object& params, double lr, double momentum, double dampening,
                       double weight_decay, bool nesterov, bool maximize) {
             return constructed(params, [&](const ocl::TensorList& p) {
               return std::make_unique<SGD>(p, lr, momentum, dampening, weight_decay, nesterov, maximize);
             });
           }),
           py::arg("params"), py::arg("lr") = 1e-3, py::arg("momentum") = 0.0, py::arg("dampening") = 0.0,
           py::arg("weight_decay") = 0.0, py::arg("nesterov") = false, py::kw_only(),
           py::arg("maximize") = false);
  const auto bind_adam = [&](auto& bound, double default_decay) {
    using A = typename std::remove_reference_t<decltype(bound)>::type;
    bound.def(py::init([](const py::object& params, double lr, std::pair<double, double> betas, double eps,
                          double weight_decay, bool amsgrad, bool maximize) {
                return constructed(params, [&](const ocl::TensorList& p) {
                  return std::make_unique<A>(p, lr, betas.first, betas.second, eps, weight_decay, amsgrad,
                                             maximize);
                });
              }),
              py::arg("params"), py::arg("lr") = 1e-3, py::arg("betas") = std::pair(0.9, 0.999),
              py::arg("eps") = 1e-8, py::arg("weight_decay") = default_decay, py::arg("amsgrad") = false,
              py::kw_only(), py::arg("maximize") = false);
  };
  py::class_<Adam, Optimizer> adam(m, "Adam", "Kingma and Ba 2015.");
  bind_adam(adam, 0.0);
  py::class_<AdamW, Adam> adamw(m, "AdamW", "Adam with decoupled weight decay.");
  bind_adam(adamw, 1e-2);
  py::class_<RMSprop, Optimizer>(m, "RMSprop", "The gradient over a running root of its squares.")
      .def(py::init([](const py::object& params, double lr, double alpha, double eps, double weight_decay,
                       double momentum, bool centered, bool maximize) {
             return constructed(params, [&](const ocl::TensorList& p) {
               return std::make_unique<RMSprop>(p, lr, alpha, eps, weight_decay, momentum, centered,
                                                maximize);
             });
           }),
           py::arg("params"), py::arg("lr") = 1e-2, py::arg("alpha") = 0.99, py::arg("eps") = 1e-8,
           py::arg("weight_decay") = 0.0, py::arg("momentum") = 0.0, py::arg("centered") = false,
           py::kw_only(), py::arg("maximize") = false);
  py::class_<Adagrad, Optimizer>(m, "Adagrad", "The gradient over the root of the sum of its squares.")
      .def(py::init([](const py::object& params, double lr, double lr_decay, double weight_decay,
                       double initial_accumulator_value, double eps, bool maximize) {
             return constructed(params, [&](const ocl::TensorList& p) {
               return std::make_unique<Adagrad>(p, lr, lr_decay, weight_decay, initial_accumulator_value, eps,
                                                maximize);
             });
           }),
           py::arg("params"), py::arg("lr") = 1e-2, py::arg("lr_decay") = 0.0, py::arg("weight_decay") = 0.0,
           py::arg("initial_accumulator_value") = 0.0, py::arg("eps") = 1e-10, py::kw_only(),
           py::arg("maximize") = false);
  bind_schedules(m);
}
