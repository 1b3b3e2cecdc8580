#include "nn/optim/lr_scheduler.h"

#include <cmath>

namespace ocl::optim {

void StateVisitor::operator()(const std::vector<std::shared_ptr<LRScheduler>>& schedulers) {
  if (target_) {
    for (const auto& scheduler : schedulers) target_->schedulers.push_back(scheduler->state_dict());
    return;
  }
  dlprim::require(source_->schedulers.size() == schedulers.size(), "load_state_dict: expected the states of ",
                  schedulers.size(), " schedules, got ", source_->schedulers.size());
  for (std::size_t i = 0; i < schedulers.size(); ++i) schedulers[i]->load_state_dict(source_->schedulers[i]);
}

std::int64_t StateVisitor::whole(const char* name, double value) {
  constexpr double largest = 4503599627370496;  // 2^52
  dlprim::require(std::floor(value) == value && std::abs(value) <= largest, "load_state_dict: '", name,
                  "' cannot be ", value);
  return static_cast<std::int64_t>(value);
}

LRScheduler::LRScheduler(Optimizer& optimizer, std::int64_t last_epoch)
    : optimizer_(optimizer), epoch_(last_epoch) {
  {
    const std::lock_guard locked(optimizer.mutex());
    for (ParameterGroup& group : optimizer.param_groups()) {
      if (last_epoch == -1) group.options.emplace("initial_lr", group.options.at("lr"));
      dlprim::require(group.options.count("initial_lr") != 0, "a schedule that resumes at epoch ", last_epoch,
                      " needs 'initial_lr' in every parameter group: load the optimizer's state first");
    }
  }
  base_rates_ = group_values("initial_lr");
}

void LRScheduler::start() {
  step_count_ = 0;
  is_initial_ = true;
  step();
  is_initial_ = false;
}

void LRScheduler::step() {
  ++step_count_;
  ++epoch_;
  set_rates(get_lr());
}

void LRScheduler::step_to(double epoch) {
  epoch_ = static_cast<std::int64_t>(std::floor(epoch));
  set_rates(closed_form_lr());
}

void LRScheduler::set_rates(const std::vector<double>& rates) {
  last_rates_ = rates;
  const std::lock_guard locked(optimizer_.mutex());
  auto rate = rates.begin();
  for (ParameterGroup& group : optimizer_.param_groups())
    if (rate != rates.end()) group.options.at("lr") = *rate++;  // a group may just have been added
}

std::vector<double> LRScheduler::group_values(const char* option) const {
  const std::lock_guard locked(optimizer_.mutex());
  std::vector<double> values;
  for (const ParameterGroup& group : optimizer_.param_groups()) values.push_back(group.number(option));
  return values;
}

std::vector<double> LRScheduler::scaled(double factor) const {
  std::vector<double> rates = group_values();
  for (double& rate : rates) rate *= factor;
  return rates;
}

std::vector<double> LRScheduler::base_scaled(double factor) const {
  std::vector<double> rates = base_rates_;
  for (double& rate : rates) rate *= factor;
  return rates;
}

void LRScheduler::visit(StateVisitor& visitor) {
  visitor("last_epoch", epoch_);
  visitor("_step_count", step_count_);
  visitor("base_lrs", base_rates_);
  visitor("_last_lr", last_rates_);
}

SchedulerState LRScheduler::state_dict() const {
  SchedulerState state;
  StateVisitor writer(&state);
  const_cast<LRScheduler*>(this)->visit(writer);  // one list of fields serves both ways; a writer only reads
  return state;
}

void LRScheduler::load_state_dict(const SchedulerState& state) {
  const SchedulerState before = state_dict();
  const std::size_t rates = base_rates_.size(), last_rates = last_rates_.size();
  StateVisitor reader(&state), restorer(&before);
  try {
    visit(reader);
    dlprim::require(base_rates_.size() == rates && last_rates_.size() == last_rates,
                    "load_state_dict: expected ", rates, " base_lrs and ", last_rates, " _last_lr, got ",
                    base_rates_.size(), " and ", last_rates_.size());
    check();
  } catch (...) {
    visit(restorer);
    throw;
  }
}

}  // namespace ocl::optim
