#include "nn/optim/schedules.h"

#include <algorithm>
#include <limits>

namespace ocl::optim {

using dlprim::require;

namespace {

Optimizer& optimizer_of(const char* name, const std::vector<std::shared_ptr<LRScheduler>>& schedulers) {
  require(!schedulers.empty(), name, " expects at least one scheduler, but got no scheduler.");
  return schedulers.front()->optimizer();
}

}  // namespace

ComposedSchedule::ComposedSchedule(const char* name, Optimizer& optimizer,
                                   std::vector<std::shared_ptr<LRScheduler>> schedulers,
                                   std::int64_t last_epoch)
    : LRScheduler(optimizer, last_epoch), schedulers_(std::move(schedulers)) {
  optimizer_of(name, schedulers_);
  for (std::size_t i = 0; i < schedulers_.size(); ++i) {
    require(&schedulers_[i]->optimizer() == &optimizer, name,
            " expects all schedulers to belong to the same optimizer, but that at index ", i, " has another");
    require(!dynamic_cast<ReduceLROnPlateau*>(schedulers_[i].get()), name,
            " does not support `ReduceLROnPlateau`, whose step takes a metric, but got one at index ", i);
  }
  note_base_rates();
}

SchedulerState ComposedSchedule::state_dict() const {
  SchedulerState state{fields_, {}};
  for (const auto& scheduler : schedulers_) state.schedulers.push_back(scheduler->state_dict());
  return state;
}

SchedulerState ComposedSchedule::checked(const SchedulerState& state) const {
  require(state.schedulers.size() == schedulers_.size(), "load_state_dict: expected the states of ",
          schedulers_.size(), " schedules, got ", state.schedulers.size());
  SchedulerState whole = LRScheduler::checked(state);
  for (std::size_t i = 0; i < schedulers_.size(); ++i)
    whole.schedulers[i] = schedulers_[i]->checked(state.schedulers[i]);
  return whole;
}

void ComposedSchedule::undo_first_step() {
  for (const auto& scheduler : schedulers_) scheduler->undo_first_step();
}

void ComposedSchedule::take(SchedulerState state) {
  for (std::size_t i = 0; i < schedulers_.size(); ++i) schedulers_[i]->take(std::move(state.schedulers[i]));
  LRScheduler::take(std::move(state));
}

SequentialLR::SequentialLR(Optimizer& optimizer, std::vector<std::shared_ptr<LRScheduler>> schedulers,
                           std::vector<std::int64_t> milestones, std::int64_t last_epoch)
    : ComposedSchedule("SequentialLR", optimizer, std::move(schedulers), last_epoch) {
  fields_.set("_milestones", std::vector<double>(milestones.begin(), milestones.end()));
  check(fields_);
  undo_first_step();
  start_part(0);
  fields_.set("last_epoch", last_epoch + 1);
}

LRScheduler& SequentialLR::part_at(std::int64_t epoch) const {
  const std::vector<double> milestones = fields_.numbers("_milestones");
  const auto next = std::upper_bound(milestones.begin(), milestones.end(), static_cast<double>(epoch));
  return *schedulers_[static_cast<std::size_t>(next - milestones.begin())];
}

void SequentialLR::start_part(std::int64_t epoch) {
  LRScheduler& part = part_at(epoch);
  set_rates(part.start_rates());
  part.start_anew();
  note_rates(part.get_last_lr());
}

void SequentialLR::start_anew() {
  start_part(0);
  fields_.set("last_epoch", std::int64_t{0});
}

void SequentialLR::step() {
  const std::int64_t epoch = last_epoch() + 1;
  fields_.set("last_epoch", epoch);
  const std::vector<double> milestones = fields_.numbers("_milestones");
  if (std::count(milestones.begin(), milestones.end(), static_cast<double>(epoch)) > 0)
    return start_part(epoch);
  LRScheduler& part = part_at(epoch);
  part.step();
  note_rates(part.get_last_lr());
}

void SequentialLR::check(const Options& fields) const {
  const std::size_t milestones = fields.numbers("_milestones").size();
  require(milestones + 1 == schedulers_.size(),
          "Sequential Schedulers expects number of schedulers provided to be one more than the number of "
          "milestone points, but got number of schedulers ",
          schedulers_.size(), " and the number of milestones to be equal to ", milestones);
}

ChainedScheduler::ChainedScheduler(std::vector<std::shared_ptr<LRScheduler>> schedulers)
    : ComposedSchedule("ChainedScheduler", optimizer_of("ChainedScheduler", schedulers), schedulers, -1) {
  note_rates(group_values());
  const auto is_composed = [](const auto& part) {
    return dynamic_cast<const ComposedSchedule*>(part.get()) != nullptr;
  };
  if (std::none_of(schedulers_.begin(), schedulers_.end(), is_composed)) return;
  set_rates(start_rates());  // the making of the parts has set others
  start_anew();
}

void ChainedScheduler::start_anew() {
  for (const auto& part : schedulers_) move(*part, part->start_rates(), [&] { part->start_anew(); });
  note_rates(group_values());
}

void ChainedScheduler::step() {
  for (const auto& part : schedulers_) move(*part, part->get_last_lr(), [&] { part->step(); });
  note_rates(group_values());
}

void ChainedScheduler::move(LRScheduler& part, const std::vector<double>& alone,
                            const std::function<void()>& move) {
  if (!dynamic_cast<ComposedSchedule*>(&part)) return move();
  std::vector<double> rates = group_values();
  set_rates(alone);
  move();
  const std::vector<double> moved = part.get_last_lr();
  for (std::size_t i = 0; i < std::min(alone.size(), moved.size()); ++i)
    rates[i] = rates[i] == alone[i] || alone[i] == 0 ? moved[i] : rates[i] * (moved[i] / alone[i]);
  set_rates(rates);
}

ReduceLROnPlateau::ReduceLROnPlateau(Optimizer& optimizer, const ReduceLROnPlateauOptions& options)
    : LRScheduler(optimizer) {
  for (const auto& [name, value] : options.values())
    if (name != "min_lr") fields_.set(name.c_str(), value);
  check_plateau(options);
  const std::size_t groups = optimizer.param_groups().size();
  const Value least = options.get("min_lr");
  if (const auto* several = std::get_if<std::vector<double>>(&least))
    require(several->size() == groups, "expected ", groups, " min_lrs, got ", several->size());
  fields_.set("min_lrs", one_each("min_lr", options, groups));
  fields_.set("best", (options.text("mode") == "min" ? 1 : -1) * std::numeric_limits<double>::infinity());
  fields_.set("num_bad_epochs", std::int64_t{0});
  fields_.set("cooldown_counter", std::int64_t{0});
  fields_.set("last_epoch", std::int64_t{0});
  note_rates(group_values());
  fields_.set("base_lrs", group_values());
}

ReduceLROnPlateauScheduler::ReduceLROnPlateauScheduler(Optimizer& optimizer, SchedulerMode mode,
                                                       double factor, std::int64_t patience, double threshold,
                                                       ThresholdMode threshold_mode, std::int64_t cooldown,
                                                       const std::vector<double>& min_lr, double eps)
    : ReduceLROnPlateau(
          optimizer,
          ReduceLROnPlateauOptions()
              .mode(mode == min ? "min" : "max")
              .factor(factor)
              .patience(patience)
              .threshold(threshold)
              .threshold_mode(threshold_mode == rel ? "rel" : "abs")
              .cooldown(cooldown)
              .min_lr(min_lr.empty() ? std::vector<double>(optimizer.param_groups().size()) : min_lr)
              .eps(eps)) {}

void ReduceLROnPlateau::step() {
  throw TypeError("ReduceLROnPlateau: step needs the metric that is watched");
}

void ReduceLROnPlateau::step(double metric) {
  fields_.set("last_epoch", last_epoch() + 1);
  std::vector<double> rates = group_values(), least = fields_.numbers("min_lrs");
  least.resize(rates.size(), least.empty() ? 0 : least.back());  // groups may have been added
  if (sees_plateau(fields_, metric))
    for (std::size_t i = 0; i < rates.size(); ++i) rates[i] = reduced_rate(fields_, rates[i], least[i]);
  set_rates(rates);
}

}  // namespace ocl::optim
