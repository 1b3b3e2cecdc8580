#pragma once

#include "nn/optim/lr_scheduler.h"

namespace ocl::optim {

/** Schedules that are made of others. Each of them gives the rates that it gives alone. */
class ComposedSchedule : public LRScheduler {
 public:
  SchedulerState state_dict() const override;

 protected:
  ComposedSchedule(const char* name, Optimizer& optimizer,
                   std::vector<std::shared_ptr<LRScheduler>> schedulers, std::int64_t last_epoch);
  std::vector<double> get_lr() override { return group_values(); }
  SchedulerState checked(const SchedulerState& state) const override;
  void take(SchedulerState state) override;
  void undo_first_step() override;

  const std::vector<std::shared_ptr<LRScheduler>> schedulers_;
};

/** Schedules one after the other: the next one takes over at each milestone, starting from its epoch 0. */
class SequentialLR : public ComposedSchedule {
 public:
  SequentialLR(Optimizer& optimizer, std::vector<std::shared_ptr<LRScheduler>> schedulers,
               std::vector<std::int64_t> milestones, std::int64_t last_epoch = -1);
  void step() override;

 protected:
  void check(const Options& fields) const override;
  std::vector<double> start_rates() const override { return part_at(0).start_rates(); }
  void start_anew() override;

 private:
  LRScheduler& part_at(std::int64_t epoch) const;
  void start_part(std::int64_t epoch);
};

/** Schedules at once, one step of each. The factors of their rates are multiplied. */
class ChainedScheduler : public ComposedSchedule {
 public:
  explicit ChainedScheduler(std::vector<std::shared_ptr<LRScheduler>> schedulers);
  void step() override;

 protected:
  std::vector<double> start_rates() const override { return schedulers_.front()->start_rates(); }
  void start_anew() override;

 private:
  /** Calls `move`. A part that is made of others sets rates: it works on those that it would have `alone`,
   * and the groups' are multiplied by what it does to them. */
  void move(LRScheduler& part, const std::vector<double>& alone, const std::function<void()>& move);
};

/** Settings of ReduceLROnPlateau by name; the defaults are torch's. */
class ReduceLROnPlateauOptions : public Options {
 public:
  ReduceLROnPlateauOptions() : Options(dlprim::defaults_of(plateau_options())) {}
  /** Whether a smaller ("min") or a larger ("max") metric is better. */
  auto& mode(std::string value) { return with("mode", std::move(value)); }
  auto& factor(double value) { return with("factor", value); }
  /** Epochs without an improvement before the rate is reduced. */
  auto& patience(std::int64_t value) { return with("patience", value); }
  auto& threshold(double value) { return with("threshold", value); }
  /** The threshold is a part of the best metric ("rel"), or stands for itself ("abs"). */
  auto& threshold_mode(std::string value) { return with("threshold_mode", std::move(value)); }
  /** Epochs to wait after a reduction. */
  auto& cooldown(std::int64_t value) { return with("cooldown", value); }
  auto& min_lr(double value) { return with("min_lr", value); }
  auto& min_lr(std::vector<double> value) { return with("min_lr", std::move(value)); }
  /** Smaller changes of the rate are not made. */
  auto& eps(double value) { return with("eps", value); }

 private:
  ReduceLROnPlateauOptions& with(const char* name, Value value) {
    set(name, std::move(value));
    return *this;
  }
};

/** Multiplies the rate by `factor` when a metric has stopped improving: call step(metric) once an epoch. */
class ReduceLROnPlateau : public LRScheduler {
 public:
  explicit ReduceLROnPlateau(Optimizer& optimizer, const ReduceLROnPlateauOptions& options = {});
  void step(double metric);
  /** Throws TypeError: this schedule needs a metric. */
  void step() override;

 protected:
  std::vector<double> get_lr() override { return group_values(); }
  void check(const Options& fields) const override { check_plateau(fields); }
};

/** It takes libtorch's arguments. */
class ReduceLROnPlateauScheduler : public ReduceLROnPlateau {
 public:
  enum SchedulerMode { min, max };
  enum ThresholdMode { rel, abs };

  explicit ReduceLROnPlateauScheduler(Optimizer& optimizer, SchedulerMode mode = min, double factor = 0.1,
                                      std::int64_t patience = 10, double threshold = 1e-4,
                                      ThresholdMode threshold_mode = rel, std::int64_t cooldown = 0,
                                      const std::vector<double>& min_lr = {}, double eps = 1e-8);
};

}  // namespace ocl::optim
