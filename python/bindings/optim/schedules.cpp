#include "optim.h"

using namespace ocl::optim;

namespace {

py::dict as_dict(const SchedulerState& state) {
  py::dict result;
  for (const auto& [name, value] : state.values) result[py::str(name)] = value;
  if (state.schedulers.empty()) return result;
  py::list nested;
  for (const SchedulerState& one : state.schedulers) nested.append(as_dict(one));
  result["_schedulers"] = nested;
  return result;
}

/** Of `dict` what `own`, the state of the schedule that takes it, has too: torch's own fields may hold
 * anything. */
SchedulerState state_from(const py::dict& dict, const SchedulerState& own) {
  SchedulerState state;
  for (const auto& [name, own_value] : own.values) {
    py::object value = dict.attr("get")(name);
    if (value.is_none()) continue;
    if (py::hasattr(value, "item")) value = value.attr("item")();  // a tensor or NumPy's number
    // torch's MultiStepLR keeps its milestones in a Counter.
    if (py::hasattr(value, "elements")) value = py::list(value.attr("elements")());
    state.values.emplace(name, as<SchedulerValue>(value, name));
  }
  if (own.schedulers.empty() || !dict.contains("_schedulers")) return state;
  const py::list nested(dict["_schedulers"]);
  for (std::size_t i = 0; i < std::min(nested.size(), own.schedulers.size()); ++i)
    state.schedulers.push_back(state_from(as<py::dict>(nested[i], "_schedulers"), own.schedulers[i]));
  state.schedulers.resize(nested.size());  // another number is refused
  return state;
}

using Numbers = std::variant<double, std::vector<double>>;

std::vector<double> as_list(const Numbers& numbers) {
  if (const auto* one = std::get_if<double>(&numbers)) return {*one};
  return std::get<std::vector<double>>(numbers);
}

template <class S>
using ScheduleClass = py::class_<S, LRScheduler, std::shared_ptr<S>>;

const auto last_epoch = [] { return py::arg("last_epoch") = -1; };

void bind_base(py::module_& m) {
  py::class_<LRScheduler, std::shared_ptr<LRScheduler>>(
      m, "LRScheduler", "Base of the learning-rate schedules: call step() once an epoch.")
      .def(
          "step",
          [](LRScheduler& self, std::optional<double> epoch) { epoch ? self.step_to(*epoch) : self.step(); },
          py::arg("epoch") = py::none())
      .def("get_last_lr", &LRScheduler::get_last_lr)
      .def_property_readonly("last_epoch", &LRScheduler::last_epoch)
      .def_property_readonly("base_lrs", &LRScheduler::base_lrs)
      .def_property_readonly("optimizer", &LRScheduler::optimizer, py::return_value_policy::reference)
      .def("__getattr__",
           [](const LRScheduler& self, const std::string& name) {
             const SchedulerState state = self.state_dict();
             const auto found = state.values.find(name);
             if (found == state.values.end())
               throw py::attribute_error("a schedule has no attribute '" + name + "'");
             return found->second;
           })
      .def("state_dict", [](const LRScheduler& self) { return as_dict(self.state_dict()); })
      .def(
          "load_state_dict",
          [](LRScheduler& self, const py::dict& state) {
            self.load_state_dict(state_from(state, self.state_dict()));
          },
          py::arg("state_dict"),
          "Ours or PyTorch's. The rates themselves stand in the optimizer's state dict.");
}

void bind_simple(py::module_& m) {
  ScheduleClass<LambdaLR>(m, "LambdaLR", "The base rate times lr_lambda(epoch).")
      .def(py::init([](Optimizer& optimizer,
                       const std::variant<std::vector<LambdaLR::Lambda>, LambdaLR::Lambda>& lr_lambda,
                       std::int64_t epoch) {
             if (const auto* one = std::get_if<LambdaLR::Lambda>(&lr_lambda))
               return std::make_shared<LambdaLR>(optimizer, *one, epoch);
             return std::make_shared<LambdaLR>(optimizer, std::get<0>(lr_lambda), epoch);
           }),
           py::arg("optimizer"), py::arg("lr_lambda"), last_epoch(), py::keep_alive<1, 2>());
  ScheduleClass<StepLR>(m, "StepLR", "Multiplies the rate by gamma every step_size epochs.")
      .def(py::init<Optimizer&, std::int64_t, double, std::int64_t>(), py::arg("optimizer"),
           py::arg("step_size"), py::arg("gamma") = 0.1, last_epoch(), py::keep_alive<1, 2>());
  ScheduleClass<MultiStepLR>(m, "MultiStepLR", "Multiplies the rate by gamma at each of milestones.")
      .def(py::init<Optimizer&, std::vector<std::int64_t>, double, std::int64_t>(), py::arg("optimizer"),
           py::arg("milestones"), py::arg("gamma") = 0.1, last_epoch(), py::keep_alive<1, 2>());
  ScheduleClass<ConstantLR>(m, "ConstantLR",
                            "Multiplies the rate by factor for the first total_iters epochs.")
      .def(py::init<Optimizer&, double, std::int64_t, std::int64_t>(), py::arg("optimizer"),
           py::arg("factor") = 1.0 / 3, py::arg("total_iters") = 5, last_epoch(), py::keep_alive<1, 2>());
  ScheduleClass<LinearLR>(m, "LinearLR",
                          "The factor goes from start_factor to end_factor over total_iters epochs.")
      .def(py::init<Optimizer&, double, double, std::int64_t, std::int64_t>(), py::arg("optimizer"),
           py::arg("start_factor") = 1.0 / 3, py::arg("end_factor") = 1.0, py::arg("total_iters") = 5,
           last_epoch(), py::keep_alive<1, 2>());
  ScheduleClass<ExponentialLR>(m, "ExponentialLR", "Multiplies the rate by gamma every epoch.")
      .def(py::init<Optimizer&, double, std::int64_t>(), py::arg("optimizer"), py::arg("gamma"), last_epoch(),
           py::keep_alive<1, 2>());
  ScheduleClass<PolynomialLR>(m, "PolynomialLR", "The rate goes to 0 within total_iters epochs by a power.")
      .def(py::init<Optimizer&, std::int64_t, double, std::int64_t>(), py::arg("optimizer"),
           py::arg("total_iters") = 5, py::arg("power") = 1.0, last_epoch(), py::keep_alive<1, 2>());
  ScheduleClass<CosineAnnealingLR>(m, "CosineAnnealingLR", "The rate swings between its base and eta_min.")
      .def(py::init<Optimizer&, std::int64_t, double, std::int64_t>(), py::arg("optimizer"), py::arg("T_max"),
           py::arg("eta_min") = 0.0, last_epoch(), py::keep_alive<1, 2>());
  ScheduleClass<CosineAnnealingWarmRestarts>(
      m, "CosineAnnealingWarmRestarts",
      "Cosines that start again after T_0 epochs, then T_mult times as many each.")
      .def(py::init<Optimizer&, std::int64_t, std::int64_t, double, std::int64_t>(), py::arg("optimizer"),
           py::arg("T_0"), py::arg("T_mult") = 1, py::arg("eta_min") = 0.0, last_epoch(),
           py::keep_alive<1, 2>());
}

void bind_composed(py::module_& m) {
  ScheduleClass<SequentialLR>(m, "SequentialLR", "Schedules one after the other, changing at milestones.")
      .def(py::init<Optimizer&, std::vector<std::shared_ptr<LRScheduler>>, std::vector<std::int64_t>,
                    std::int64_t>(),
           py::arg("optimizer"), py::arg("schedulers"), py::arg("milestones"), last_epoch(),
           py::keep_alive<1, 2>());
  ScheduleClass<ReduceLROnPlateau>(m, "ReduceLROnPlateau", "Reduces the rate when a metric stops improving.")
      .def(py::init([](Optimizer& optimizer, std::string mode, double factor, std::int64_t patience,
                       double threshold, std::string threshold_mode, std::int64_t cooldown,
                       const Numbers& min_lr, double eps) {
             return std::make_shared<ReduceLROnPlateau>(
                 optimizer, PlateauOptions{std::move(mode), factor, patience, threshold,
                                           std::move(threshold_mode), cooldown, as_list(min_lr), eps});
           }),
           py::arg("optimizer"), py::arg("mode") = "min", py::arg("factor") = 0.1, py::arg("patience") = 10,
           py::arg("threshold") = 1e-4, py::arg("threshold_mode") = "rel", py::arg("cooldown") = 0,
           py::arg("min_lr") = 0.0, py::arg("eps") = 1e-8, py::keep_alive<1, 2>())
      .def(
          "step",
          [](ReduceLROnPlateau& self, const py::object& metrics) {
            self.step(py::float_(metrics).cast<double>());
          },
          py::arg("metrics"), "A tensor is read, which waits for it.");
  ScheduleClass<OneCycleLR>(m, "OneCycleLR",
                            "One rise of the rate to max_lr and its fall; step() once a batch.")
      .def(py::init([](Optimizer& optimizer, const Numbers& max_lr, std::optional<std::int64_t> total_steps,
                       std::optional<std::int64_t> epochs, std::optional<std::int64_t> steps_per_epoch,
                       double pct_start, std::string anneal_strategy, bool cycle_momentum,
                       const Numbers& base_momentum, const Numbers& max_momentum, double div_factor,
                       double final_div_factor, bool three_phase, std::int64_t epoch) {
             return std::make_shared<OneCycleLR>(
                 optimizer, as_list(max_lr),
                 OneCycleOptions{total_steps, epochs, steps_per_epoch, pct_start, std::move(anneal_strategy),
                                 cycle_momentum, as_list(base_momentum), as_list(max_momentum), div_factor,
                                 final_div_factor, three_phase, epoch});
           }),
           py::arg("optimizer"), py::arg("max_lr"), py::arg("total_steps") = py::none(),
           py::arg("epochs") = py::none(), py::arg("steps_per_epoch") = py::none(),
           py::arg("pct_start") = 0.3, py::arg("anneal_strategy") = "cos", py::arg("cycle_momentum") = true,
           py::arg("base_momentum") = 0.85, py::arg("max_momentum") = 0.95, py::arg("div_factor") = 25.0,
           py::arg("final_div_factor") = 1e4, py::arg("three_phase") = false, last_epoch(),
           py::keep_alive<1, 2>());
}

}  // namespace

void bind_schedules(py::module_& m) {
  bind_base(m);
  bind_simple(m);
  bind_composed(m);
}
