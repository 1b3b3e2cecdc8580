#pragma once

#include <optional>

#include "autograd/tensor.h"

namespace ocl {

/**
 * torch.nn.functional.batch_norm over [N, C, ...]. Training (or without running statistics): normalises with
 * the batch's own statistics and moves the running ones, in place, by `momentum`; else with the running ones.
 * Statistics, weight and bias are [C]; each may be undefined. Throws ValueError, TypeError.
 */
Tensor batch_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var,
                  const Tensor& weight = {}, const Tensor& bias = {}, bool training = false,
                  double momentum = 0.1, double eps = 1e-5);

}  // namespace ocl
