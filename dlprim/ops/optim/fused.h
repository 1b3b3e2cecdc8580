#pragma once

#include "dlprim/ops/optim/parameter_pack.h"

namespace dlprim {

/*
 * One optimizer step over all parameters of a group, in one launch (see ParameterPack). The formulas are
 * torch.optim's. Parameters whose `step` differs (one had no gradient in some step) go into separate calls
 * with packs of their own. Throws ValueError or TypeError when tensors do not fit.
 */

struct SgdOptions {
  double lr = 1e-3, momentum = 0, dampening = 0, weight_decay = 0;
  bool nesterov = false, maximize = false;
  bool first_step = false;  // the momentum buffers hold nothing yet and become the gradient
};

/** torch.optim.SGD. State: {momentum_buffer} when momentum != 0, else none. */
void sgd_step(Queue& queue, ParameterPack& pack, const std::vector<OptimizedParameter>& parameters,
              const SgdOptions& options);

struct AdamOptions {
  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0;
  bool decoupled_weight_decay = false;  // AdamW
  bool amsgrad = false, maximize = false;
  std::int64_t step = 1;  // of this call, counted from 1
};

/** torch.optim.Adam and AdamW. State: {exp_avg, exp_avg_sq} and, with amsgrad, max_exp_avg_sq; zeros before
 * step 1. */
void adam_step(Queue& queue, ParameterPack& pack, const std::vector<OptimizedParameter>& parameters,
               const AdamOptions& options);

struct RmspropOptions {
  double lr = 1e-2, alpha = 0.99, eps = 1e-8, weight_decay = 0, momentum = 0;
  bool centered = false, maximize = false;
};

/**
 * torch.optim.RMSprop. State: {square_avg}, then momentum_buffer when momentum != 0, then grad_avg when
 * centered; zeros before the first step.
 */
void rmsprop_step(Queue& queue, ParameterPack& pack, const std::vector<OptimizedParameter>& parameters,
                  const RmspropOptions& options);

struct AdagradOptions {
  double lr = 1e-2, lr_decay = 0, weight_decay = 0, eps = 1e-10;
  bool maximize = false;
  std::int64_t step = 1;  // of this call, counted from 1
};

/** torch.optim.Adagrad. State: {sum}, filled with the initial accumulator value before the first step. */
void adagrad_step(Queue& queue, ParameterPack& pack, const std::vector<OptimizedParameter>& parameters,
                  const AdagradOptions& options);

}  // namespace dlprim
