#pragma once

#include <map>
#include <optional>

#include "nn/optim/optimizer.h"

namespace ocl {

/** Multiplies gradients in place by 1 / scale, those of one device and dtype in one launch; does not wait.
 * Gives numbers (float32, one a device and dtype) that are not 0 where an element was infinite or NaN. Throws
 * ValueError for gradients of float16, whose quotients may be too small for them. */
TensorList unscale_(const TensorList& gradients, double scale);

/** The state that update() changes in a GradScaler, for checkpoints. */
struct GradScalerState {
  double scale;
  std::int64_t steps_since_growth;
};

/**
 * Keeps the small gradients of float16 from vanishing (torch.amp.GradScaler): the loss is multiplied by a
 * large number before backward, the gradients are divided by it before the step. A step whose gradients have
 * an infinity or a NaN is left out, and the scale halved; it doubles after `growth_interval` steps without
 * one.
 *
 *     ocl::GradScaler scaler;
 *     for (…) {
 *       optimizer.zero_grad();
 *       { const ocl::AutocastGuard autocast(ocl::DType::float16); loss = cross_entropy(net(x), y); }
 *       scaler.scale(loss).backward();
 *       scaler.step(optimizer);
 *       scaler.update();
 *     }
 */
class GradScaler {
 public:
  /** Throws ValueError unless growth_factor > 1 and backoff_factor < 1. */
  explicit GradScaler(double init_scale = 65536, double growth_factor = 2, double backoff_factor = 0.5,
                      std::int64_t growth_interval = 2000, bool enabled = true);

  /** `loss` times the scale; in float32 where it has 16 bits. */
  Tensor scale(const Tensor& loss) const;
  /** Divides the gradients of an optimizer's parameters by the scale, once before its step: to clip them,
   * say. Throws AutogradError where that has been done since the last update(). */
  void unscale_(optim::Optimizer& optimizer);
  /** The optimizer's step, unless a gradient is infinite or NaN. Waits for the search. Throws AutogradError
   * for a second step before update(). */
  void step(optim::Optimizer& optimizer);
  /** Adapts the scale to what the steps since the last update() found, or sets it. Throws AutogradError where
   * there was none. */
  void update(std::optional<double> new_scale = std::nullopt);

  double get_scale() const { return enabled_ ? scale_ : 1; }
  bool is_enabled() const { return enabled_; }

  /** Where the scale stands behind an update(); set_state goes on from there. */
  GradScalerState state() const { return {scale_, steps_since_growth_}; }
  void set_state(const GradScalerState& state);

 private:
  struct OfOptimizer {
    TensorList found_inf;
    std::optional<bool> has_found{};  // read already
    bool is_unscaled = false, has_stepped = false;
  };
  bool has_found(OfOptimizer& of) const;

  double scale_, growth_factor_, backoff_factor_;
  std::int64_t growth_interval_, steps_since_growth_ = 0;
  bool enabled_;
  std::map<optim::Optimizer*, OfOptimizer> optimizers_;
};

}  // namespace ocl
