#include "nn/optim/reduce_on_plateau.h"

#include <algorithm>
#include <limits>

namespace ocl::optim {

using dlprim::require;

ReduceLROnPlateau::ReduceLROnPlateau(Optimizer& optimizer, const PlateauOptions& options)
    : LRScheduler(optimizer, -1), options_(options) {
  const std::size_t groups = optimizer.param_groups().size();
  require(options.min_lr.size() == 1 || options.min_lr.size() == groups, "expected ", groups,
          " min_lrs, got ", options.min_lr.size());
  if (options.min_lr.size() == 1) options_.min_lr.resize(groups, options.min_lr.front());
  check();
  best_ = (options.mode == "min" ? 1 : -1) * std::numeric_limits<double>::infinity();
  set_epoch(0);
  note_rates(group_values());
}

void ReduceLROnPlateau::step() {
  throw TypeError("ReduceLROnPlateau: step needs the metric that is watched");
}

void ReduceLROnPlateau::step(double metric) {
  set_epoch(epoch() + 1);
  if (is_better(metric)) {
    best_ = metric;
    bad_epochs_ = 0;
  } else {
    ++bad_epochs_;
  }
  if (cooldown_counter_ > 0) {
    --cooldown_counter_;
    bad_epochs_ = 0;
  }
  if (bad_epochs_ > options_.patience) {
    reduce();
    cooldown_counter_ = options_.cooldown;
    bad_epochs_ = 0;
  }
  note_rates(group_values());
}

bool ReduceLROnPlateau::is_better(double metric) const {
  const bool relative = options_.threshold_mode == "rel";
  if (options_.mode == "min")
    return metric < (relative ? best_ * (1 - options_.threshold) : best_ - options_.threshold);
  return metric > (relative ? best_ * (1 + options_.threshold) : best_ + options_.threshold);
}

void ReduceLROnPlateau::reduce() {
  std::vector<double> rates = group_values();
  options_.min_lr.resize(rates.size(), options_.min_lr.back());  // groups may have been added
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const double reduced = std::max(rates[i] * options_.factor, options_.min_lr[i]);
    if (rates[i] - reduced > options_.eps) rates[i] = reduced;
  }
  set_rates(rates);
}

void ReduceLROnPlateau::check() const {
  require(options_.factor < 1, "Factor should be < 1.0.");
  require(options_.mode == "min" || options_.mode == "max", "mode ", options_.mode, " is unknown!");
  require(options_.threshold_mode == "rel" || options_.threshold_mode == "abs", "threshold mode ",
          options_.threshold_mode, " is unknown!");
  require(!options_.min_lr.empty(), "min_lrs is empty");
}

void ReduceLROnPlateau::visit(StateVisitor& visitor) {
  LRScheduler::visit(visitor);
  visitor("mode", options_.mode);
  visitor("factor", options_.factor);
  visitor("patience", options_.patience);
  visitor("threshold", options_.threshold);
  visitor("threshold_mode", options_.threshold_mode);
  visitor("cooldown", options_.cooldown);
  visitor("min_lrs", options_.min_lr);
  visitor("eps", options_.eps);
  visitor("best", best_);
  visitor("cooldown_counter", cooldown_counter_);
  visitor("num_bad_epochs", bad_epochs_);
}

}  // namespace ocl::optim
