#include "autograd/tape/anomaly.h"

#include <atomic>
#include <utility>

#include "autograd/ops/pointwise.h"
#include "autograd/ops/reduce.h"
#include "autograd/tape/tape.h"
#include "dlprim/core/call_state.h"

namespace ocl {
namespace {

std::atomic<bool> notes_calls{false}, looks_at_gradients{true};

autograd::CallerDescription& caller_description() {
  static auto* description = new autograd::CallerDescription;
  return *description;
}

}  // namespace

namespace autograd {

void set_detect_anomaly(bool mode, bool check_nan) {
  looks_at_gradients = check_nan;
  if (notes_calls.exchange(mode) != mode) dlprim::module_name_users += mode ? 1 : -1;
}

bool is_anomaly_enabled() {
  return notes_calls.load(std::memory_order_relaxed);
}

bool is_anomaly_check_nan_enabled() {
  return looks_at_gradients;
}

void set_caller_description(CallerDescription describe) {
  caller_description() = std::move(describe);
}

}  // namespace autograd

std::string origin_of_call() {
  const dlprim::CallState& state = dlprim::call_state;
  std::string text = dlprim::concat("operator ", state.operation ? state.operation : "(none)");
  if (state.module) text += dlprim::concat(", module ", state.module);
  if (const auto& describe = caller_description()) text += "\n" + describe();
  return text;
}

void check_gradients(const Node& node, const TensorList& gradients) {
  if (!autograd::is_anomaly_enabled() || !looks_at_gradients) return;
  const NoGradGuard no_grad;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const Tensor& gradient = gradients[i];
    if (!gradient.defined() || !is_differentiable(gradient.dtype()) || gradient.numel() == 0) continue;
    if (all(isfinite(gradient)).item<bool>()) continue;
    const bool has_nan = any(isnan(gradient)).item<bool>();
    throw AutogradError(
        dlprim::concat("Function '", node.name(), "' returned ", has_nan ? "nan" : "infinite",
                       " values in its ", i, "th output.",
                       node.origin().empty()
                           ? " Its forward call was not under anomaly mode, so that its place is not known."
                           : " The forward call was that of " + node.origin()));
  }
}

}  // namespace ocl
