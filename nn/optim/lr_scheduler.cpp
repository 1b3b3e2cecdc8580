#include "nn/optim/lr_scheduler.h"

#include <cmath>

namespace ocl::optim {

LRScheduler::LRScheduler(Optimizer& optimizer) : optimizer_(optimizer) {
  for (const ParameterGroup& group : optimizer.param_groups()) base_rates_.push_back(group.number("lr"));
}

void LRScheduler::set_epoch(std::int64_t epoch) {
  epoch_ = epoch;
  for (std::size_t i = 0; i < base_rates_.size(); ++i)
    optimizer_.param_groups()[i].options.at("lr") = base_rates_[i] * factor(epoch_);
}

void LRScheduler::step() {
  set_epoch(epoch_ + 1);
}

std::vector<double> LRScheduler::get_last_lr() const {
  std::vector<double> rates;
  for (const ParameterGroup& group : optimizer_.param_groups()) rates.push_back(group.number("lr"));
  return rates;
}

StepLR::StepLR(Optimizer& optimizer, std::int64_t step_size, double gamma)
    : LRScheduler(optimizer), step_size_(step_size), gamma_(gamma) {
  dlprim::require(step_size > 0, "StepLR: step_size must be positive, got ", step_size);
}

double StepLR::factor(std::int64_t epoch) const {
  return std::pow(gamma_, static_cast<double>(epoch / step_size_));
}

double ExponentialLR::factor(std::int64_t epoch) const {
  return std::pow(gamma_, static_cast<double>(epoch));
}

}  // namespace ocl::optim
