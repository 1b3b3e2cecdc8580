#include "nn/optim/one_cycle.h"

#include <cmath>

namespace ocl::optim {
namespace {

using dlprim::require;

std::vector<double> one_each(const char* name, const std::vector<double>& values, std::size_t groups) {
  if (values.size() == 1) return std::vector<double>(groups, values.front());
  require(values.size() == groups, name, " must have the same length as optimizer.param_groups. ", name,
          " has ", values.size(), " values, param_groups has ", groups, ".");
  return values;
}

void require_strategy(const std::string& strategy) {
  require(strategy == "cos" || strategy == "linear",
          "anneal_strategy must be one of 'cos' or 'linear', instead got ", strategy);
}

std::int64_t total_steps_of(const OneCycleOptions& options) {
  const auto positive = [](const char* name, std::int64_t value) {
    require(value > 0, "Expected positive integer ", name, ", but got ", value);
    return value;
  };
  if (options.total_steps) return positive("total_steps", *options.total_steps);
  require(options.epochs && options.steps_per_epoch,
          "You must define either total_steps OR (epochs AND steps_per_epoch)");
  return positive("epochs", *options.epochs) * positive("steps_per_epoch", *options.steps_per_epoch);
}

// The base class reads the first rates, which this schedule sets, in its constructor.
Optimizer& checked(Optimizer& optimizer, const OneCycleOptions& options) {
  require(options.pct_start >= 0 && options.pct_start <= 1,
          "Expected float between 0 and 1 pct_start, but got ", options.pct_start);
  require_strategy(options.anneal_strategy);
  const Options& group = optimizer.param_groups().front().options;
  require(!options.cycle_momentum || group.count("momentum") || group.count("beta1"),
          "optimizer must support momentum or beta1 with `cycle_momentum` option enabled");
  return optimizer;
}

Optimizer& with_first_rates(Optimizer& optimizer, const std::vector<double>& max_lr,
                            const OneCycleOptions& options) {
  const std::vector<double> tops = one_each("max_lr", max_lr, optimizer.param_groups().size());
  if (options.last_epoch != -1) return optimizer;
  const std::lock_guard locked(optimizer.mutex());
  for (std::size_t i = 0; i < tops.size(); ++i) {
    Options& group = optimizer.param_groups()[i].options;
    group["initial_lr"] = tops[i] / options.div_factor;
    group["max_lr"] = tops[i];
    group["min_lr"] = tops[i] / options.div_factor / options.final_div_factor;
  }
  return optimizer;
}

}  // namespace

OneCycleLR::OneCycleLR(Optimizer& optimizer, const std::vector<double>& max_lr,
                       const OneCycleOptions& options)
    : LRScheduler(with_first_rates(checked(optimizer, options), max_lr, options), options.last_epoch),
      total_steps_(total_steps_of(options)),
      strategy_(options.anneal_strategy),
      cycles_momentum_(options.cycle_momentum),
      momentum_option_(optimizer.param_groups().front().options.count("beta1") ? "beta1" : "momentum") {
  set_up_phases(options);
  if (cycles_momentum_ && options.last_epoch == -1) set_up_momentum(options);
  start();
}

void OneCycleLR::set_up_momentum(const OneCycleOptions& options) {
  auto& groups = optimizer().param_groups();
  const std::vector<double> tops = one_each("max_momentum", options.max_momentum, groups.size());
  const std::vector<double> bases = one_each("base_momentum", options.base_momentum, groups.size());
  const std::lock_guard locked(optimizer().mutex());
  for (std::size_t i = 0; i < groups.size(); ++i) {
    groups[i].options[momentum_option_] = tops[i];
    groups[i].options["max_momentum"] = tops[i];
    groups[i].options["base_momentum"] = bases[i];
  }
}

void OneCycleLR::set_up_phases(const OneCycleOptions& options) {
  const double steps = static_cast<double>(total_steps_), rise = options.pct_start * steps;
  phases_ = {{rise - 1, "initial_lr", "max_lr", "max_momentum", "base_momentum"}};
  if (options.three_phase) {
    phases_.push_back({2 * rise - 2, "max_lr", "initial_lr", "base_momentum", "max_momentum"});
    phases_.push_back({steps - 1, "initial_lr", "min_lr", "max_momentum", "max_momentum"});
  } else {
    phases_.push_back({steps - 1, "max_lr", "min_lr", "base_momentum", "max_momentum"});
  }
}

double OneCycleLR::annealed(double start_value, double end, double part) const {
  if (strategy_ == "linear") return (end - start_value) * part + start_value;
  return end + (start_value - end) / 2.0 * (std::cos(std::acos(-1.0) * part) + 1);
}

std::vector<double> OneCycleLR::get_lr() {
  require(epoch() <= total_steps_, "Tried to step ", epoch(),
          " times. The specified number of total steps is ", total_steps_);
  const double step_number = static_cast<double>(epoch());
  double first = 0;
  std::size_t index = 0;
  for (; index + 1 < phases_.size() && step_number > phases_[index].end_step; ++index)
    first = phases_[index].end_step;
  const Phase& phase = phases_[index];
  const double part = (step_number - first) / (phase.end_step - first);
  std::vector<double> rates;
  const std::lock_guard locked(optimizer().mutex());
  for (ParameterGroup& group : optimizer().param_groups()) {
    rates.push_back(annealed(group.number(phase.start_lr), group.number(phase.end_lr), part));
    if (cycles_momentum_)
      group.options[momentum_option_] =
          annealed(group.number(phase.start_momentum), group.number(phase.end_momentum), part);
  }
  return rates;
}

void OneCycleLR::check() const {
  require(total_steps_ > 0, "Expected positive integer total_steps, but got ", total_steps_);
  require_strategy(strategy_);
  for (const ParameterGroup& group : optimizer().param_groups())
    for (const char* option : {momentum_option_, "base_momentum", "max_momentum"})
      require(!cycles_momentum_ || group.options.count(option), "cycle_momentum needs '", option,
              "' in every parameter group: load the optimizer's state first");
}

void OneCycleLR::visit(StateVisitor& visitor) {
  LRScheduler::visit(visitor);
  visitor("total_steps", total_steps_);
  visitor("_anneal_func_type", strategy_);
  visitor("cycle_momentum", cycles_momentum_);
}

}  // namespace ocl::optim
