#pragma once

#include "autograd/ops/interceptor.h"
#include "autograd/tensor/tensor.h"

namespace ocl {

/** The settings of autocast, of one thread. */
struct AutocastMode {
  bool enabled = false;
  DType dtype = DType::bfloat16;  // of operators that run in 16 bits: bfloat16 or float16
  bool cache_enabled = true;      // whether the 16-bit copies of weights are kept until autocast ends
};

/** The calling thread's. */
AutocastMode autocast_mode();
/** Sets the calling thread's and gives the one before. Throws TypeError for another dtype than bfloat16 or
 * float16. */
AutocastMode set_autocast_mode(const AutocastMode& mode);

/**
 * Mixed precision (torch.autocast): until the guard ends, operators of the calling thread run in the dtype
 * that suits them. Products of matrices and convolutions take their floating inputs in `dtype`. Exponentials,
 * norms, sums and losses take theirs in float32. A few operators take the widest dtype of their inputs, and
 * all others take their inputs unchanged. Tensors of float64 stay. Parameters stay float32, and so do their
 * gradients.
 *
 *     const ocl::AutocastGuard autocast(ocl::DType::bfloat16);
 *     Tensor loss = cross_entropy(net(x), y);
 *
 * Backward passes are made of what forward was made of; run them behind the guard's end.
 */
class AutocastGuard {
 public:
  explicit AutocastGuard(DType dtype = DType::bfloat16, bool enabled = true, bool cache_enabled = true)
      : before_(set_autocast_mode({enabled, dtype, cache_enabled})) {}
  ~AutocastGuard();
  AutocastGuard(const AutocastGuard&) = delete;
  AutocastGuard& operator=(const AutocastGuard&) = delete;

 private:
  AutocastMode before_;
};

/** Autocast's conversion of an operator's tensors. float32_result: as float32, by an operator that reads 16
 * bits as they are and computes in float32 itself (gives_float32). lower_precision_of_ends: the first and
 * the last tensor as in lower_precision; those between are parts of a weight in few bits. */
enum class CastRule {
  none,
  lower_precision,
  lower_precision_of_ends,
  float32,
  float32_result,
  widest,
  refused
};
CastRule cast_rule(const std::string& name);
/** Whether that operator's result is float32 for inputs of 16 bits: under autocast, by its rule. */
bool gives_float32(const char* name);

}  // namespace ocl
