#pragma once

#include "dlprim/core/arguments.h"
#include "dlprim/core/fields.h"
#include "dlprim/ops/optim/parameter_pack.h"
#include "dlprim/runtime/defines.h"

namespace dlprim {

inline ArgumentValue argument_value(const Defines& defines) {
  return defines.text();
}

/** A kernel of fused.cl, specialised by `defines`, and the coefficients that it reads, in the order in which
 * it names them, at most MAX_COEFFICIENTS: what OptimizerRule::update (rules.h) makes. */
struct FusedUpdate {
  const char* kernel;
  std::vector<double> coefficients;
  Defines defines = {};
  FIELDS(kernel, coefficients, defines)
};

/**
 * One optimizer step over all parameters, in one launch (see ParameterPack). It writes parameters and states,
 * in place, and reads gradients; no two tensors overlap. All parameters have as many states as the first.
 * With `found_inf`, one float32 number, nothing is written where that is not 0 (torch.amp.GradScaler).
 * Throws ValueError or TypeError when tensors do not fit.
 */
void fused_step(Queue& queue, ParameterPack& pack, const std::vector<OptimizedParameter>& parameters,
                const FusedUpdate& update, const Tensor* found_inf = nullptr);

}  // namespace dlprim
