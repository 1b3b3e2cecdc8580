#include "nn/optim/grad_scaler.h"

#include <cmath>

#include "autograd/ops/pointwise.h"
#include "autograd/ops/views.h"
#include "autograd/tape/tape.h"
#include "autograd/tensor/creation.h"
#include "dlprim/ops/optim/multi_tensor.h"
#include "nn/utils/change_in_place.h"

namespace ocl {

using dlprim::require;

TensorList unscale_(const TensorList& gradients, double scale) {
  const NoGradGuard no_grad;
  std::map<std::pair<int, DType>, TensorList> alike;
  for (const Tensor& g : gradients) {
    require(g.dtype() != DType::float16, "Attempting to unscale FP16 gradients.");
    alike[{g.device()->index(), g.dtype()}].push_back(g);
  }
  TensorList found;
  for (const auto& [key, group] : alike) {
    found.push_back(zeros({1}, DType::float32, group.front().device()));
    change_in_place(group, [&](dlprim::Queue& queue, const std::vector<dlprim::Tensor>& dense_gradients) {
      dlprim::ParameterPack pack;
      dlprim::multi_tensor_unscale(queue, pack, dense_gradients, 1 / scale, found.back().data());
    });
  }
  return found;
}

GradScaler::GradScaler(double init_scale, double growth_factor, double backoff_factor,
                       std::int64_t growth_interval, bool enabled)
    : scale_(init_scale),
      growth_factor_(growth_factor),
      backoff_factor_(backoff_factor),
      growth_interval_(growth_interval),
      enabled_(enabled) {
  require(!enabled || growth_factor > 1, "GradScaler: The growth factor must be > 1.0, got ", growth_factor);
  require(!enabled || backoff_factor < 1, "GradScaler: The backoff factor must be < 1.0, got ",
          backoff_factor);
}

Tensor GradScaler::scale(const Tensor& loss) const {
  if (!enabled_) return loss;
  return mul(to(loss, dlprim::compute_dtype(loss.dtype())), scale_);
}

void GradScaler::unscale_(optim::Optimizer& optimizer) {
  if (!enabled_) return;
  OfOptimizer& of = optimizers_[&optimizer];
  require<AutogradError>(!of.is_unscaled,
                         "unscale_() has already been called on this optimizer since the last update().");
  require<AutogradError>(!of.has_stepped, "unscale_() is being called after step().");
  TensorList gradients;
  for (const optim::ParameterGroup& group : optimizer.param_groups())
    for (const Tensor& p : group.parameters)
      if (const Tensor g = p.grad(); g.defined()) gradients.push_back(g);
  of.found_inf = ocl::unscale_(gradients, scale_);
  of.is_unscaled = true;
}

bool GradScaler::has_found(OfOptimizer& of) const {
  if (!of.has_found) {
    of.has_found = false;
    for (const Tensor& found : of.found_inf) *of.has_found |= found.item<float>() != 0;
  }
  return *of.has_found;
}

void GradScaler::step(optim::Optimizer& optimizer) {
  if (!enabled_) {
    optimizer.step();
    return;
  }
  OfOptimizer& of = optimizers_[&optimizer];
  require<AutogradError>(!of.has_stepped, "step() has already been called since the last update().");
  if (!of.is_unscaled) unscale_(optimizer);
  require<AutogradError>(!of.found_inf.empty(), "No inf checks were recorded for this optimizer.");
  if (!has_found(of)) optimizer.step();
  of.has_stepped = true;
}

void GradScaler::update(std::optional<double> new_scale) {
  if (!enabled_) return;
  if (new_scale) {
    scale_ = *new_scale;
  } else {
    bool any = false, checked = false;
    for (auto& [optimizer, of] : optimizers_) {
      checked |= !of.found_inf.empty();
      any |= has_found(of);
    }
    require<AutogradError>(checked, "No inf checks were recorded prior to update.");
    if (any) {
      scale_ *= backoff_factor_;
      steps_since_growth_ = 0;
    } else if (++steps_since_growth_ == growth_interval_) {
      if (std::isfinite(static_cast<float>(scale_ * growth_factor_))) scale_ *= growth_factor_;
      steps_since_growth_ = 0;
    }
  }
  optimizers_.clear();
}

void GradScaler::set_state(const GradScalerState& state) {
  scale_ = state.scale;
  steps_since_growth_ = state.steps_since_growth;
}

}  // namespace ocl
