#pragma once

#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "nn/optim/optimizer.h"

namespace ocl::optim {

using SchedulerValue =
    std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<double>>;

/** What a schedule saves, by torch's names, and the states of the schedules that it is made of. */
struct SchedulerState {
  std::map<std::string, SchedulerValue> values;
  std::vector<SchedulerState> schedulers;
};

class LRScheduler;

/** Goes over the fields of a schedule, and writes each to a state or takes it from there. */
class StateVisitor {
 public:
  explicit StateVisitor(SchedulerState* target) : target_(target) {}
  explicit StateVisitor(const SchedulerState* source) : source_(source) {}

  template <class T>
  void operator()(const char* name, T& field) {
    if (target_) {
      target_->values[name] = field;
      return;
    }
    const auto found = source_->values.find(name);
    if (found == source_->values.end()) return;
    std::visit([&](const auto& value) { take(name, value, field); }, found->second);
  }
  void operator()(const std::vector<std::shared_ptr<LRScheduler>>& schedulers);

 private:
  template <class From, class To>
  static void take(const char* name, const From& value, To& field) {
    if constexpr (std::is_arithmetic_v<From> && std::is_same_v<To, std::int64_t>)
      field = whole(name, static_cast<double>(value));
    else if constexpr (std::is_arithmetic_v<From> && std::is_arithmetic_v<To>)
      field = static_cast<To>(value);
    else if constexpr (std::is_same_v<From, To>)
      field = value;
    else if constexpr (std::is_same_v<From, std::vector<std::int64_t>> &&
                       std::is_same_v<To, std::vector<double>>)
      field.assign(value.begin(), value.end());
    else
      throw ValueError(dlprim::concat("load_state_dict: '", name, "' is of another kind than expected"));
  }
  /** An integer small enough to count on with. Throws ValueError. */
  static std::int64_t whole(const char* name, double value);

  SchedulerState* target_ = nullptr;
  const SchedulerState* source_ = nullptr;
};

/**
 * Base of the learning-rate schedules of torch.optim.lr_scheduler: call step() once an epoch, or once a batch
 * where the schedule counts those. A schedule starts from the rates that the groups have as "initial_lr", or
 * else as "lr", and multiplies what they have now, so that several schedules on one optimizer combine. The
 * optimizer must outlive it.
 */
class LRScheduler {
 public:
  virtual ~LRScheduler() = default;
  LRScheduler(const LRScheduler&) = delete;
  LRScheduler& operator=(const LRScheduler&) = delete;

  /** Moves to the next epoch and sets the rates. */
  virtual void step();
  /** Goes to an epoch directly. */
  virtual void step_to(double epoch);
  /** The rate of each group as last set by this schedule. */
  const std::vector<double>& get_last_lr() const { return last_rates_; }
  const std::vector<double>& base_lrs() const { return base_rates_; }
  std::int64_t last_epoch() const { return epoch_; }
  Optimizer& optimizer() const { return optimizer_; }

  SchedulerState state_dict() const;
  /** Takes over what `state` has. The rates themselves stand in the optimizer's state. Throws ValueError, and
   * changes nothing, for a state that does not fit. */
  void load_state_dict(const SchedulerState& state);

 protected:
  /** last_epoch -1: a fresh start. Throws ValueError when resuming and a group has no "initial_lr". */
  LRScheduler(Optimizer& optimizer, std::int64_t last_epoch);
  /** The first step, which a schedule's constructor ends with. */
  void start();
  /** The rate of each group for epoch(), from those that the groups have. */
  virtual std::vector<double> get_lr() = 0;
  /** The same, from the base rates alone. */
  virtual std::vector<double> closed_form_lr() { return get_lr(); }
  virtual void visit(StateVisitor& visitor);
  /** Throws ValueError for fields, given or loaded, that the schedule cannot work with. */
  virtual void check() const {}

  std::int64_t epoch() const { return epoch_; }
  void set_epoch(std::int64_t epoch) { epoch_ = epoch; }
  bool is_initial() const { return is_initial_; }
  std::int64_t step_count() const { return step_count_; }
  std::vector<double> group_values(const char* option = "lr") const;
  /** The rates that the groups have, times `factor`. */
  std::vector<double> scaled(double factor) const;
  /** The base rates, times `factor`. */
  std::vector<double> base_scaled(double factor) const;
  void set_rates(const std::vector<double>& rates);
  void note_rates(const std::vector<double>& rates) { last_rates_ = rates; }

 private:
  friend class SequentialLR;

  Optimizer& optimizer_;
  std::vector<double> base_rates_, last_rates_;
  std::int64_t epoch_, step_count_ = 0;
  bool is_initial_ = false;
};

}  // namespace ocl::optim
