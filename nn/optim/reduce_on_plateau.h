#pragma once

#include "nn/optim/lr_scheduler.h"

namespace ocl::optim {

struct PlateauOptions {
  std::string mode = "min";  // whether a smaller ("min") or a larger ("max") metric is better
  double factor = 0.1;
  std::int64_t patience = 10;  // epochs without an improvement before the rate is reduced
  double threshold = 1e-4;
  std::string threshold_mode = "rel";  // threshold as a part of the best metric, or "abs"
  std::int64_t cooldown = 0;           // epochs to wait after a reduction
  std::vector<double> min_lr = {0};    // one for all groups, or one each
  double eps = 1e-8;                   // smaller changes of the rate are not made
};

/** Multiplies the rate by `factor` when a metric has stopped improving: call step(metric) once an epoch. */
class ReduceLROnPlateau : public LRScheduler {
 public:
  explicit ReduceLROnPlateau(Optimizer& optimizer, const PlateauOptions& options = {});
  void step(double metric);
  /** Throws TypeError: this schedule needs a metric. */
  void step() override;

 protected:
  std::vector<double> get_lr() override { return group_values(); }
  void visit(StateVisitor& visitor) override;
  void check() const override;

 private:
  bool is_better(double metric) const;
  void reduce();

  PlateauOptions options_;
  double best_;
  std::int64_t cooldown_counter_ = 0, bad_epochs_ = 0;
};

}  // namespace ocl::optim
