#pragma once

#include "nn/optim/optimizer.h"

namespace ocl::optim {

/**
 * Base of the learning-rate schedules of torch.optim.lr_scheduler: call step() once an epoch. The rate of a
 * group is its rate at construction times factor(epoch).
 */
class LRScheduler {
 public:
  virtual ~LRScheduler() = default;
  /** Moves to the next epoch and sets the rates. */
  void step();
  /** The rate of each group as last set. */
  std::vector<double> get_last_lr() const;
  std::int64_t last_epoch() const { return epoch_; }
  /** Goes to an epoch directly, as when resuming. */
  void set_epoch(std::int64_t epoch);

 protected:
  explicit LRScheduler(Optimizer& optimizer);
  virtual double factor(std::int64_t epoch) const = 0;

 private:
  Optimizer& optimizer_;
  std::vector<double> base_rates_;
  std::int64_t epoch_ = 0;
};

/** Multiplies the rate by `gamma` every `step_size` epochs. */
class StepLR : public LRScheduler {
 public:
  StepLR(Optimizer& optimizer, std::int64_t step_size, double gamma = 0.1);

 protected:
  double factor(std::int64_t epoch) const override;

 private:
  std::int64_t step_size_;
  double gamma_;
};

/** Multiplies the rate by `gamma` every epoch. */
class ExponentialLR : public LRScheduler {
 public:
  ExponentialLR(Optimizer& optimizer, double gamma) : LRScheduler(optimizer), gamma_(gamma) {}

 protected:
  double factor(std::int64_t epoch) const override;

 private:
  double gamma_;
};

}  // namespace ocl::optim
