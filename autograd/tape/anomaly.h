#pragma once

#include <functional>
#include <string>

#include "autograd/tensor/tensor.h"

/** \file Finding the operator whose gradient is not finite (torch.autograd.detect_anomaly). */

namespace ocl {

class Node;

namespace autograd {

/**
 * Sets whether every operator, of all threads, notes where it was called, and whether a backward pass looks
 * at each gradient that comes out of a node. The first gradient that holds NaN or an infinity is an
 * AutogradError, which names the node and its call. Slow: each look waits for the device.
 * (torch.autograd.set_detect_anomaly, which looks for NaN alone.)
 */
void set_detect_anomaly(bool mode, bool check_nan = true);
bool is_anomaly_enabled();
bool is_anomaly_check_nan_enabled();

/** set_detect_anomaly until the guard ends. */
class DetectAnomaly {
 public:
  explicit DetectAnomaly(bool check_nan = true)
      : was_enabled_(is_anomaly_enabled()), did_check_(is_anomaly_check_nan_enabled()) {
    set_detect_anomaly(true, check_nan);
  }
  ~DetectAnomaly() { set_detect_anomaly(was_enabled_, did_check_); }
  DetectAnomaly(const DetectAnomaly&) = delete;
  DetectAnomaly& operator=(const DetectAnomaly&) = delete;

 private:
  bool was_enabled_, did_check_;
};

/** Tells where the caller's program is, for instance the lines of a Python stack. */
using CallerDescription = std::function<std::string()>;
void set_caller_description(CallerDescription describe);

}  // namespace autograd

/** The operator and the module that the thread is in, and the caller's own description. */
std::string origin_of_call();
/** Throws AutogradError where a gradient that `node` has brought is not finite; does nothing where they are
 * not looked for. */
void check_gradients(const Node& node, const TensorList& gradients);

}  // namespace ocl
