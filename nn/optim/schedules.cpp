#include "nn/optim/schedules.h"

#include <algorithm>
#include <cmath>

#include "nn/optim/reduce_on_plateau.h"

namespace ocl::optim {

using dlprim::require;

namespace {

constexpr double pi = 3.14159265358979323846;

double to_power(double base, std::int64_t exponent) {
  return std::pow(base, static_cast<double>(exponent));
}

}  // namespace

LambdaLR::LambdaLR(Optimizer& optimizer, std::vector<Lambda> lr_lambda, std::int64_t last_epoch)
    : LRScheduler(optimizer, last_epoch), lambdas_(std::move(lr_lambda)) {
  if (lambdas_.size() == 1) lambdas_.resize(optimizer.param_groups().size(), lambdas_.front());
  require(lambdas_.size() == optimizer.param_groups().size(), "Expected ", optimizer.param_groups().size(),
          " lr_lambdas, but got ", lambdas_.size());
  start();
}

std::vector<double> LambdaLR::get_lr() {
  std::vector<double> rates = base_lrs();
  for (std::size_t i = 0; i < rates.size(); ++i) rates[i] *= lambdas_[i](epoch());
  return rates;
}

StepLR::StepLR(Optimizer& optimizer, std::int64_t step_size, double gamma, std::int64_t last_epoch)
    : LRScheduler(optimizer, last_epoch), step_size_(step_size), gamma_(gamma) {
  check();
  start();
}

std::vector<double> StepLR::get_lr() {
  return scaled(epoch() == 0 || epoch() % step_size_ != 0 ? 1 : gamma_);
}

std::vector<double> StepLR::closed_form_lr() {
  return base_scaled(to_power(gamma_, epoch() / step_size_));
}

void StepLR::check() const {
  require(step_size_ > 0, "StepLR: step_size must be positive, got ", step_size_);
}

void StepLR::visit(StateVisitor& visitor) {
  LRScheduler::visit(visitor);
  visitor("step_size", step_size_);
  visitor("gamma", gamma_);
}

MultiStepLR::MultiStepLR(Optimizer& optimizer, std::vector<std::int64_t> milestones, double gamma,
                         std::int64_t last_epoch)
    : LRScheduler(optimizer, last_epoch), milestones_(std::move(milestones)), gamma_(gamma) {
  std::sort(milestones_.begin(), milestones_.end());
  start();
}

std::vector<double> MultiStepLR::get_lr() {
  return scaled(to_power(gamma_, std::count(milestones_.begin(), milestones_.end(), epoch())));
}

std::vector<double> MultiStepLR::closed_form_lr() {
  const auto passed = std::upper_bound(milestones_.begin(), milestones_.end(), epoch());
  return base_scaled(to_power(gamma_, passed - milestones_.begin()));
}

void MultiStepLR::visit(StateVisitor& visitor) {
  LRScheduler::visit(visitor);
  visitor("milestones", milestones_);
  std::sort(milestones_.begin(), milestones_.end());
  visitor("gamma", gamma_);
}

ConstantLR::ConstantLR(Optimizer& optimizer, double factor, std::int64_t total_iters, std::int64_t last_epoch)
    : LRScheduler(optimizer, last_epoch), factor_(factor), total_iters_(total_iters) {
  check();
  start();
}

std::vector<double> ConstantLR::get_lr() {
  if (epoch() == 0) return scaled(factor_);
  return scaled(epoch() == total_iters_ ? 1.0 / factor_ : 1);
}

std::vector<double> ConstantLR::closed_form_lr() {
  return base_scaled(epoch() >= total_iters_ ? 1 : factor_);
}

void ConstantLR::check() const {
  require(factor_ >= 0 && factor_ <= 1, "Constant multiplicative factor expected to be between 0 and 1.");
}

void ConstantLR::visit(StateVisitor& visitor) {
  LRScheduler::visit(visitor);
  visitor("factor", factor_);
  visitor("total_iters", total_iters_);
}

LinearLR::LinearLR(Optimizer& optimizer, double start_factor, double end_factor, std::int64_t total_iters,
                   std::int64_t last_epoch)
    : LRScheduler(optimizer, last_epoch),
      start_factor_(start_factor),
      end_factor_(end_factor),
      total_iters_(total_iters) {
  check();
  start();
}

std::vector<double> LinearLR::get_lr() {
  if (epoch() == 0) return scaled(start_factor_);
  if (is_initial() || epoch() > total_iters_) return scaled(1);
  const double rise = end_factor_ - start_factor_;
  return scaled(1.0 + rise / (static_cast<double>(total_iters_) * start_factor_ +
                              static_cast<double>(epoch() - 1) * rise));
}

std::vector<double> LinearLR::closed_form_lr() {
  const double part =
      static_cast<double>(std::min(total_iters_, epoch())) / static_cast<double>(total_iters_);
  return base_scaled(start_factor_ + (end_factor_ - start_factor_) * part);
}

void LinearLR::check() const {
  require(start_factor_ > 0 && start_factor_ <= 1,
          "Starting multiplicative factor expected to be greater than 0 and less or equal to 1.");
  require(end_factor_ >= 0 && end_factor_ <= 1,
          "Ending multiplicative factor expected to be between 0 and 1.");
}

void LinearLR::visit(StateVisitor& visitor) {
  LRScheduler::visit(visitor);
  visitor("start_factor", start_factor_);
  visitor("end_factor", end_factor_);
  visitor("total_iters", total_iters_);
}

ExponentialLR::ExponentialLR(Optimizer& optimizer, double gamma, std::int64_t last_epoch)
    : LRScheduler(optimizer, last_epoch), gamma_(gamma) {
  start();
}

std::vector<double> ExponentialLR::get_lr() {
  return scaled(is_initial() ? 1 : gamma_);
}

std::vector<double> ExponentialLR::closed_form_lr() {
  return base_scaled(to_power(gamma_, epoch()));
}

void ExponentialLR::visit(StateVisitor& visitor) {
  LRScheduler::visit(visitor);
  visitor("gamma", gamma_);
}

PolynomialLR::PolynomialLR(Optimizer& optimizer, std::int64_t total_iters, double power,
                           std::int64_t last_epoch)
    : LRScheduler(optimizer, last_epoch), total_iters_(total_iters), power_(power) {
  start();
}

std::vector<double> PolynomialLR::get_lr() {
  if (is_initial() || epoch() > total_iters_) return scaled(1);
  const auto left = [&](std::int64_t at) {
    return 1.0 - static_cast<double>(at) / static_cast<double>(total_iters_);
  };
  return scaled(std::pow(left(epoch()) / left(epoch() - 1), power_));
}

std::vector<double> PolynomialLR::closed_form_lr() {
  const double part =
      static_cast<double>(std::min(total_iters_, epoch())) / static_cast<double>(total_iters_);
  return base_scaled(std::pow(1.0 - part, power_));
}

void PolynomialLR::visit(StateVisitor& visitor) {
  LRScheduler::visit(visitor);
  visitor("total_iters", total_iters_);
  visitor("power", power_);
}

CosineAnnealingLR::CosineAnnealingLR(Optimizer& optimizer, std::int64_t T_max, double eta_min,
                                     std::int64_t last_epoch)
    : LRScheduler(optimizer, last_epoch), t_max_(T_max), eta_min_(eta_min) {
  check();
  start();
}

std::vector<double> CosineAnnealingLR::get_lr() {
  if (is_initial()) return scaled(1);
  if (step_count() == 1 && epoch() > 0) return closed_form_lr();
  const double turn = pi / static_cast<double>(t_max_);
  std::vector<double> rates = group_values();
  const bool turns = (epoch() - 1 - t_max_) % (2 * t_max_) == 0;  // the last rate was eta_min itself
  rates.resize(std::min(rates.size(), base_lrs().size()));        // groups may have been added
  for (std::size_t i = 0; i < rates.size(); ++i) {
    if (turns)
      rates[i] += (base_lrs()[i] - eta_min_) * (1 - std::cos(turn)) / 2;
    else
      rates[i] = (1 + std::cos(turn * static_cast<double>(epoch()))) /
                     (1 + std::cos(turn * static_cast<double>(epoch() - 1))) * (rates[i] - eta_min_) +
                 eta_min_;
  }
  return rates;
}

std::vector<double> CosineAnnealingLR::closed_form_lr() {
  std::vector<double> rates = base_lrs();
  const double angle = pi * static_cast<double>(epoch()) / static_cast<double>(t_max_);
  for (double& rate : rates) rate = eta_min_ + (rate - eta_min_) * (1 + std::cos(angle)) / 2;
  return rates;
}

void CosineAnnealingLR::check() const {
  require(t_max_ > 0, "CosineAnnealingLR: T_max must be positive, got ", t_max_);
}

void CosineAnnealingLR::visit(StateVisitor& visitor) {
  LRScheduler::visit(visitor);
  visitor("T_max", t_max_);
  visitor("eta_min", eta_min_);
}

CosineAnnealingWarmRestarts::CosineAnnealingWarmRestarts(Optimizer& optimizer, std::int64_t T_0,
                                                         std::int64_t T_mult, double eta_min,
                                                         std::int64_t last_epoch)
    : LRScheduler(optimizer, last_epoch),
      t_0_(T_0),
      t_mult_(T_mult),
      eta_min_(eta_min),
      t_i_(static_cast<double>(T_0)),
      t_cur_(static_cast<double>(last_epoch)) {
  check();
  start();
}

void CosineAnnealingWarmRestarts::step() {
  if (epoch() < 0) return step_to(0);
  set_epoch(epoch() + 1);
  t_cur_ += 1;
  if (t_cur_ >= t_i_) {
    t_cur_ = std::fmod(t_cur_, t_i_);
    t_i_ *= static_cast<double>(t_mult_);
  }
  set_rates(get_lr());
}

void CosineAnnealingWarmRestarts::step_to(double epoch) {
  require(epoch >= 0, "Expected non-negative epoch, but got ", epoch);
  const auto first = static_cast<double>(t_0_), growth = static_cast<double>(t_mult_);
  t_i_ = first;
  t_cur_ = epoch;
  if (epoch >= first && t_mult_ == 1) {
    t_cur_ = std::fmod(epoch, first);
  } else if (epoch >= first) {
    const double restarts = std::floor(std::log(epoch / first * (growth - 1) + 1) / std::log(growth));
    t_cur_ = epoch - first * (std::pow(growth, restarts) - 1) / (growth - 1);
    t_i_ = first * std::pow(growth, restarts);
  }
  set_epoch(static_cast<std::int64_t>(std::floor(epoch)));
  set_rates(get_lr());
}

std::vector<double> CosineAnnealingWarmRestarts::get_lr() {
  std::vector<double> rates = base_lrs();
  for (double& rate : rates) rate = eta_min_ + (rate - eta_min_) * (1 + std::cos(pi * t_cur_ / t_i_)) / 2;
  return rates;
}

void CosineAnnealingWarmRestarts::check() const {
  require(t_0_ > 0, "Expected positive integer T_0, but got ", t_0_);
  require(t_mult_ >= 1, "Expected integer T_mult >= 1, but got ", t_mult_);
}

void CosineAnnealingWarmRestarts::visit(StateVisitor& visitor) {
  LRScheduler::visit(visitor);
  visitor("T_0", t_0_);
  visitor("T_mult", t_mult_);
  visitor("eta_min", eta_min_);
  visitor("T_i", t_i_);
  visitor("T_cur", t_cur_);
}

SequentialLR::SequentialLR(Optimizer& optimizer, std::vector<std::shared_ptr<LRScheduler>> schedulers,
                           std::vector<std::int64_t> milestones, std::int64_t last_epoch)
    : LRScheduler(optimizer, last_epoch),
      schedulers_(std::move(schedulers)),
      milestones_(std::move(milestones)) {
  require(!schedulers_.empty(), "SequentialLR expects at least one scheduler, but got no scheduler.");
  for (std::size_t i = 0; i < schedulers_.size(); ++i) {
    require(&schedulers_[i]->optimizer() == &optimizer,
            "SequentialLR expects all schedulers to belong to the same optimizer, but that at index ", i,
            " has another");
    require(
        !dynamic_cast<ReduceLROnPlateau*>(schedulers_[i].get()),
        "SequentialLR does not support ReduceLROnPlateau, whose step takes a metric, but got one at index ",
        i);
  }
  check();
  set_epoch(last_epoch + 1);
  set_rates(group_values("initial_lr"));
  undo_first_steps();
  const std::size_t first = static_cast<std::size_t>(
      std::upper_bound(milestones_.begin(), milestones_.end(), 0) - milestones_.begin());
  schedulers_[first]->start();
  note_rates(schedulers_[first]->get_last_lr());
}

// Each schedule took its first step when it was made.
void SequentialLR::undo_first_steps() {
  for (const auto& scheduler : schedulers_) {
    if (auto* nested = dynamic_cast<SequentialLR*>(scheduler.get()))
      nested->undo_first_steps();
    else
      scheduler->set_epoch(scheduler->last_epoch() - 1);
  }
}

std::size_t SequentialLR::current() const {
  return static_cast<std::size_t>(std::upper_bound(milestones_.begin(), milestones_.end(), last_epoch()) -
                                  milestones_.begin());
}

void SequentialLR::step() {
  set_epoch(epoch() + 1);
  const std::size_t index = current();
  LRScheduler& scheduler = *schedulers_[index];
  if (index > 0 && milestones_[index - 1] == epoch())
    scheduler.step_to(0);
  else
    scheduler.step();
  note_rates(scheduler.get_last_lr());
}

void SequentialLR::check() const {
  require(milestones_.size() + 1 == schedulers_.size(),
          "Sequential Schedulers expects number of schedulers provided to be one more than the number of "
          "milestone points, but got number of schedulers ",
          schedulers_.size(), " and the number of milestones to be equal to ", milestones_.size());
}

void SequentialLR::visit(StateVisitor& visitor) {
  LRScheduler::visit(visitor);
  visitor("_milestones", milestones_);
  visitor(schedulers_);
}

}  // namespace ocl::optim
