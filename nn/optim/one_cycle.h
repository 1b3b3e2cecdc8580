#pragma once

#include <optional>

#include "nn/optim/lr_scheduler.h"

namespace ocl::optim {

struct OneCycleOptions {
  std::optional<std::int64_t> total_steps, epochs, steps_per_epoch;  // the first alone, or the other two
  double pct_start = 0.3;                                            // the part in which the rate rises
  std::string anneal_strategy = "cos";                               // or "linear"
  bool cycle_momentum = true;  // momentum (Adam's beta1) moves against the rate
  std::vector<double> base_momentum = {0.85}, max_momentum = {0.95};  // one for all groups, or one each
  double div_factor = 25, final_div_factor = 1e4;  // first rate: max / div; last rate: first / final_div
  bool three_phase = false;                        // falls to the first rate before it falls to the last
  std::int64_t last_epoch = -1;
};

/** One rise of the rate to `max_lr` (one for all groups, or one each) and its fall; call step() once a batch
 * (Smith and Topin 2018). */
class OneCycleLR : public LRScheduler {
 public:
  OneCycleLR(Optimizer& optimizer, const std::vector<double>& max_lr, const OneCycleOptions& options = {});

 protected:
  std::vector<double> get_lr() override;
  void visit(StateVisitor& visitor) override;
  void check() const override;

 private:
  struct Phase {
    double end_step;
    const char *start_lr, *end_lr, *start_momentum, *end_momentum;  // options of the group
  };
  void set_up_momentum(const OneCycleOptions& options);
  void set_up_phases(const OneCycleOptions& options);
  double annealed(double start, double end, double part) const;

  std::int64_t total_steps_ = 0;
  std::string strategy_;
  bool cycles_momentum_;
  const char* momentum_option_;  // of the optimizer
  std::vector<Phase> phases_;
};

}  // namespace ocl::optim
