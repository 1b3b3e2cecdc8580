#include "optim.h"

#include <cmath>

using ocl::Tensor;
using namespace ocl::optim;
using dlprim::optimizer_rule;

namespace {

using Kind = dlprim::OptionRow::Kind;

Options options_of(const dlprim::OptionRows& rows, const py::dict& group) {
  Options options;
  for (const auto& row : rows) {
    if (row.kind == Kind::ignored || row.kind == Kind::refused) continue;
    const py::str name(row.name);
    options.set(row.name, group.contains(name) ? value_from(row.name, group[name]) : row.initial);
  }
  const py::str masters("master_weights");  // of no constructor
  if (group.contains(masters)) options.set("master_weights", group[masters].cast<bool>());
  return options;
}

/** `state[key]`, which a defaultdict makes where there is none. */
py::object entry_of(const py::dict& state, const py::handle& key) {
  PyObject* found = PyDict_GetItemWithError(state.ptr(), key.ptr());
  if (found) return py::reinterpret_borrow<py::object>(found);
  if (PyErr_Occurred()) throw py::error_already_set();
  found = PyObject_GetItem(state.ptr(), key.ptr());
  if (!found) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(found);
}

py::object item_or_none(const py::dict& entry, const py::object& name) {
  PyObject* found = PyDict_GetItemWithError(entry.ptr(), name.ptr());
  if (!found && PyErr_Occurred()) throw py::error_already_set();
  return found ? py::reinterpret_borrow<py::object>(found) : py::object(py::none());
}

/** The state that a group keeps for each parameter. */
class Names {
 public:
  explicit Names(const dlprim::StateRows& rows) : rows_(rows) {
    for (const auto& row : rows) names_.emplace_back(py::str(row.name));
  }
  std::size_t size() const { return rows_.size(); }
  const py::str& operator[](std::size_t i) const { return names_[i]; }
  const dlprim::StateRow& row(std::size_t i) const { return rows_[i]; }

 private:
  dlprim::StateRows rows_;
  std::vector<py::str> names_;
};

double number_of(const Names& names, std::size_t i, const py::object& held) {
  if (held.is_none()) return *names.row(i).initial;
  if (PyLong_CheckExact(held.ptr())) return PyLong_AsDouble(held.ptr());
  return py::float_(held).cast<double>();  // a tensor is read
}

py::object as_number(const py::str& name, double value) {
  if (name.cast<std::string>() == "step" && value == std::floor(value))
    return py::int_(static_cast<std::int64_t>(value));
  return py::float_(value);
}

/** One group's part of a step: its parameters that have gradients, and where what is kept for them stands. */
struct GroupStep {
  GroupStep(const Stepper& stepper, const py::dict& group, const py::dict& state)
      : options(options_of(stepper.rule().options, group)),
        numbers(stepper.rule().numbers(options)),
        tensors(stepper.tensor_rows(options)) {
    const py::list parameters(group["params"]);
    participants.reserve(parameters.size());
    for (const py::handle handle : parameters) {
      const auto& parameter = handle.cast<const Tensor&>();
      Tensor gradient = parameter.grad();
      if (!gradient.defined()) continue;
      Participant& one = participants.emplace_back(Participant{parameter, std::move(gradient), {}, {}});
      if (numbers.size() + tensors.size() == 0) continue;
      const py::dict entry = entry_of(state, handle);
      for (std::size_t i = 0; i < numbers.size(); ++i)
        one.numbers.push_back(number_of(numbers, i, item_or_none(entry, numbers[i])));
      for (std::size_t i = 0; i < tensors.size(); ++i) {
        const py::object held = item_or_none(entry, tensors[i]);
        one.tensors.push_back(held.is_none() ? Tensor() : held.cast<const Tensor&>());
        found.push_back(one.tensors.back());
      }
      entries.push_back(entry);
    }
  }

  void store() {
    for (std::size_t p = 0; p < entries.size(); ++p) {
      for (std::size_t i = 0; i < numbers.size(); ++i)
        entries[p][numbers[i]] = as_number(numbers[i], participants[p].numbers[i]);
      for (std::size_t i = 0; i < tensors.size(); ++i)
        if (const Tensor& t = participants[p].tensors[i]; !is_same(t, found[p * tensors.size() + i]))
          entries[p][tensors[i]] = t;
    }
  }

  Options options;
  Names numbers, tensors;
  std::vector<Participant> participants;
  std::vector<py::dict> entries;
  ocl::TensorList found;  // what stood there for `tensors`, parameter by parameter
};

/** A step of every group. Threads step one after the other; who waits for its turn lets Python's lock go. */
void step(Stepper& stepper, const py::list& groups, const py::dict& state) {
  std::unique_lock turn(stepper.mutex, std::defer_lock);
  {
    const PythonUnlocked unlocked;
    turn.lock();
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    GroupStep part(stepper, groups[g].cast<py::dict>(), state);
    {
      const PythonUnlocked unlocked;
      stepper.step(g, part.options, part.participants);
    }
    part.store();
  }
}

py::tuple state_names(const Stepper& stepper, const py::dict& group) {
  const Options options = options_of(stepper.rule().options, group);
  py::list numbers, tensors;
  for (const auto& row : stepper.rule().numbers(options)) numbers.append(row.name);
  for (const auto& row : stepper.tensor_rows(options)) tensors.append(row.name);
  return py::make_tuple(numbers, tensors);
}

// --- LBFGS

Tensor tensor_of(const py::handle& value, const char* name) {
  if (!py::isinstance<Tensor>(value))
    throw ocl::TypeError(dlprim::concat("LBFGS: expected '", name, "' of its state to be a tensor, got ",
                                        Py_TYPE(value.ptr())->tp_name));
  return value.cast<const Tensor&>();
}

template <class T>
void take(const py::dict& entry, const char* name, T& field) {
  if (entry.contains(name) && !entry[name].is_none()) {
    if constexpr (std::is_arithmetic_v<T>)
      field = static_cast<T>(py::float_(entry[name]).cast<double>());
    else if constexpr (std::is_same_v<T, Tensor>)
      field = tensor_of(entry[name], name);
    else
      for (const py::handle item : entry[name]) {
        field.emplace_back();
        py::dict one;
        one[name] = item;
        take(one, name, field.back());
      }
  }
}

/** Calls `visit(name, field)` for every field that has a value. */
template <class Visit>
void for_each_field(LbfgsState& state, const Visit& visit) {
  visit("func_evals", state.func_evals);
  visit("n_iter", state.n_iter);
  visit("d", state.d);
  visit("t", state.t);
  visit("old_dirs", state.old_dirs);
  visit("old_stps", state.old_stps);
  visit("ro", state.ro);
  visit("H_diag", state.H_diag);
  visit("prev_flat_grad", state.prev_flat_grad);
  visit("prev_loss", state.prev_loss);
}

py::object take_lbfgs_step(const py::dict& group, const py::dict& entry, const py::object& closure) {
  LbfgsState state;
  for_each_field(state, [&](const char* name, auto& field) { take(entry, name, field); });
  ocl::TensorList parameters;
  for (const py::handle p : py::list(group["params"])) parameters.push_back(p.cast<const Tensor&>());
  const Options options = options_of(optimizer_rule("LBFGS").options, group);
  py::object first_loss;
  const auto loss = [&] {
    const PythonLocked calls_python;
    const py::object result = closure();
    if (!first_loss) first_loss = result;
    if (py::isinstance<Tensor>(result)) return result.cast<Tensor>();
    return ocl::full({}, py::float_(result).cast<double>(), ocl::DType::float64, parameters.front().device());
  };
  {
    const PythonUnlocked unlocked;
    lbfgs_step(options, parameters, state, loss);
  }
  for_each_field(state, [&](const char* name, const auto& field) {
    if constexpr (std::is_same_v<std::decay_t<decltype(field)>, Tensor>) {
      if (field.defined()) entry[name] = field;
    } else {
      entry[name] = field;
    }
  });
  return first_loss;
}

}  // namespace

void bind_optim(py::module_& parent) {
  py::module_ m =
      parent.def_submodule("_optim", "Formulas of optimizers and schedules; their classes are in ocl.optim.");
  m.def(
      "optimizer_options", [](const std::string& name) { return option_rows(optimizer_rule(name).options); },
      py::arg("name"), "The rows of an optimizer's options: name, kind, default, required, keyword only.");
  m.def(
      "optimizer_documentation", [](const std::string& name) { return optimizer_rule(name).documentation; },
      py::arg("name"));
  m.def(
      "check_optimizer",
      [](const std::string& name, const py::dict& options) {
        optimizer_rule(name).check(PythonValues(options));
      },
      py::arg("name"), py::arg("options"), "Raises ValueError or TypeError for options that cannot be.");
  py::class_<Stepper>(m, "Stepper", "Takes the steps of one optimizer.")
      .def(py::init([](const std::string& name) { return std::make_unique<Stepper>(optimizer_rule(name)); }),
           py::arg("name"))
      .def("step", &step, py::arg("param_groups"), py::arg("state"),
           "One launch for all parameters of a group that have taken as many steps; does not wait.")
      .def("state_names", &state_names, py::arg("group"),
           "Names of the numbers and of the tensors that are kept for each parameter of a group.");
  m.def("lbfgs_step", &take_lbfgs_step, py::arg("group"), py::arg("state"), py::arg("closure"));
  bind_schedules(m);
}
