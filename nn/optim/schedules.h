#pragma once

#include <functional>

#include "nn/optim/lr_scheduler.h"

namespace ocl::optim {

/** The base rate times `lambda(epoch)`; one lambda for all groups, or one each. */
class LambdaLR : public LRScheduler {
 public:
  using Lambda = std::function<double(std::int64_t epoch)>;
  LambdaLR(Optimizer& optimizer, std::vector<Lambda> lr_lambda, std::int64_t last_epoch = -1);
  LambdaLR(Optimizer& optimizer, Lambda lr_lambda, std::int64_t last_epoch = -1)
      : LambdaLR(optimizer, std::vector<Lambda>{std::move(lr_lambda)}, last_epoch) {}

 protected:
  std::vector<double> get_lr() override;

 private:
  std::vector<Lambda> lambdas_;
};

/** Multiplies the rate by `gamma` every `step_size` epochs. */
class StepLR : public LRScheduler {
 public:
  StepLR(Optimizer& optimizer, std::int64_t step_size, double gamma = 0.1, std::int64_t last_epoch = -1);

 protected:
  std::vector<double> get_lr() override;
  std::vector<double> closed_form_lr() override;
  void visit(StateVisitor& visitor) override;
  void check() const override;

 private:
  std::int64_t step_size_;
  double gamma_;
};

/** Multiplies the rate by `gamma` at each of `milestones`. */
class MultiStepLR : public LRScheduler {
 public:
  MultiStepLR(Optimizer& optimizer, std::vector<std::int64_t> milestones, double gamma = 0.1,
              std::int64_t last_epoch = -1);

 protected:
  std::vector<double> get_lr() override;
  std::vector<double> closed_form_lr() override;
  void visit(StateVisitor& visitor) override;

 private:
  std::vector<std::int64_t> milestones_;  // sorted
  double gamma_;
};

/** Multiplies the rate by `factor` for the first `total_iters` epochs. */
class ConstantLR : public LRScheduler {
 public:
  explicit ConstantLR(Optimizer& optimizer, double factor = 1.0 / 3, std::int64_t total_iters = 5,
                      std::int64_t last_epoch = -1);

 protected:
  std::vector<double> get_lr() override;
  std::vector<double> closed_form_lr() override;
  void visit(StateVisitor& visitor) override;
  void check() const override;

 private:
  double factor_;
  std::int64_t total_iters_;
};

/** The factor of the rate goes from `start_factor` to `end_factor` in a straight line over `total_iters`
 * epochs. */
class LinearLR : public LRScheduler {
 public:
  explicit LinearLR(Optimizer& optimizer, double start_factor = 1.0 / 3, double end_factor = 1.0,
                    std::int64_t total_iters = 5, std::int64_t last_epoch = -1);

 protected:
  std::vector<double> get_lr() override;
  std::vector<double> closed_form_lr() override;
  void visit(StateVisitor& visitor) override;
  void check() const override;

 private:
  double start_factor_, end_factor_;
  std::int64_t total_iters_;
};

/** Multiplies the rate by `gamma` every epoch. */
class ExponentialLR : public LRScheduler {
 public:
  ExponentialLR(Optimizer& optimizer, double gamma, std::int64_t last_epoch = -1);

 protected:
  std::vector<double> get_lr() override;
  std::vector<double> closed_form_lr() override;
  void visit(StateVisitor& visitor) override;

 private:
  double gamma_;
};

/** The rate goes to 0 within `total_iters` epochs as (1 - epoch / total_iters) to the power `power`. */
class PolynomialLR : public LRScheduler {
 public:
  explicit PolynomialLR(Optimizer& optimizer, std::int64_t total_iters = 5, double power = 1.0,
                        std::int64_t last_epoch = -1);

 protected:
  std::vector<double> get_lr() override;
  std::vector<double> closed_form_lr() override;
  void visit(StateVisitor& visitor) override;

 private:
  std::int64_t total_iters_;
  double power_;
};

/** The rate swings between its base and `eta_min` in cosines of half period `T_max` (Loshchilov and Hutter
 * 2017). */
class CosineAnnealingLR : public LRScheduler {
 public:
  CosineAnnealingLR(Optimizer& optimizer, std::int64_t T_max, double eta_min = 0,
                    std::int64_t last_epoch = -1);

 protected:
  std::vector<double> get_lr() override;
  std::vector<double> closed_form_lr() override;
  void visit(StateVisitor& visitor) override;
  void check() const override;

 private:
  std::int64_t t_max_;
  double eta_min_;
};

/** Cosines from the base rate to `eta_min` that start again after T_0 epochs, then after T_mult times as many
 * each. step_to() takes fractions of epochs. */
class CosineAnnealingWarmRestarts : public LRScheduler {
 public:
  CosineAnnealingWarmRestarts(Optimizer& optimizer, std::int64_t T_0, std::int64_t T_mult = 1,
                              double eta_min = 0, std::int64_t last_epoch = -1);
  void step() override;
  void step_to(double epoch) override;

 protected:
  std::vector<double> get_lr() override;
  void visit(StateVisitor& visitor) override;
  void check() const override;

 private:
  std::int64_t t_0_, t_mult_;
  double eta_min_, t_i_, t_cur_;
};

/** Schedules one after the other: the next one takes over at each milestone, starting from its epoch 0. */
class SequentialLR : public LRScheduler {
 public:
  SequentialLR(Optimizer& optimizer, std::vector<std::shared_ptr<LRScheduler>> schedulers,
               std::vector<std::int64_t> milestones, std::int64_t last_epoch = -1);
  void step() override;

 protected:
  std::vector<double> get_lr() override { return group_values(); }
  void visit(StateVisitor& visitor) override;
  void check() const override;

 private:
  void undo_first_steps();
  std::size_t current() const;

  std::vector<std::shared_ptr<LRScheduler>> schedulers_;
  std::vector<std::int64_t> milestones_;
};

}  // namespace ocl::optim
