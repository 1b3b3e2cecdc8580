#pragma once

#include <optional>

#include "autograd/tensor/tensor.h"

namespace ocl {

/**
 * torch.nn.functional.batch_norm over [N, C, ...]. Training (or without running statistics): normalises with
 * the batch's own statistics and moves the running ones, in place, by `momentum`; else with the running ones.
 * Statistics, weight and bias are [C]; each may be undefined. Throws ValueError, TypeError.
 */
Tensor batch_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var,
                  const Tensor& weight = {}, const Tensor& bias = {}, bool training = false,
                  double momentum = 0.1, double eps = 1e-5);

/**
 * activation(batch_norm(x, …) + addend), in batch norm's own passes over memory where its kernels can take
 * the rest (dlprim::can_be_epilogue: relu, relu6, sigmoid; without an addend silu, hardswish and hardsigmoid
 * as well), else one step after another: the same float32 numbers, and in narrower dtypes fewer roundings.
 * `activation`: a pointwise operator of one input and no parameters, or "" for none. `addend`, which may be
 * undefined, broadcasts to x. Throws as batch_norm; ValueError for an activation that there is not.
 */
Tensor batch_norm_activation(const Tensor& x, const Tensor& running_mean, const Tensor& running_var,
                             const Tensor& weight = {}, const Tensor& bias = {}, bool training = false,
                             double momentum = 0.1, double eps = 1e-5, const std::string& activation = "relu",
                             const Tensor& addend = {});

/**
 * torch.nn.functional.layer_norm: the last dimensions, of sizes `normalized_shape`, brought to mean 0 and
 * variance 1. weight and bias have that shape; each may be undefined. Throws ValueError, TypeError.
 */
Tensor layer_norm(const Tensor& x, const std::vector<std::int64_t>& normalized_shape,
                  const Tensor& weight = {}, const Tensor& bias = {}, double eps = 1e-5);

/** torch.nn.functional.rms_norm: the last dimensions over their root mean square. eps: by default the epsilon
 * of what is computed in, float32's for 16-bit dtypes. */
Tensor rms_norm(const Tensor& x, const std::vector<std::int64_t>& normalized_shape, const Tensor& weight = {},
                std::optional<double> eps = std::nullopt);

/** torch.nn.functional.group_norm: x [N, C, ...] normalised over groups of C / num_groups channels; weight
 * and bias [C] may be undefined. */
Tensor group_norm(const Tensor& x, std::int64_t num_groups, const Tensor& weight = {},
                  const Tensor& bias = {}, double eps = 1e-5);

/**
 * torch.nn.functional.instance_norm: every channel of every item of x [N, C, ...] normalised by itself, or
 * with use_input_stats false by the running statistics. Those, where given, are moved by the average over the
 * items.
 */
Tensor instance_norm(const Tensor& x, const Tensor& running_mean = {}, const Tensor& running_var = {},
                     const Tensor& weight = {}, const Tensor& bias = {}, bool use_input_stats = true,
                     double momentum = 0.1, double eps = 1e-5);

/** torch.nn.functional.local_response_norm over x [N, C, ...]: x / (k + alpha * mean of squares over `size`
 * neighbouring channels)^beta. */
Tensor local_response_norm(const Tensor& x, std::int64_t size, double alpha = 1e-4, double beta = 0.75,
                           double k = 1);

/** torch.nn.functional.normalize: x over its p-norm along `dims` (all where empty), held above eps. */
Tensor normalize(const Tensor& x, double p = 2, const std::vector<std::int64_t>& dims = {1},
                 double eps = 1e-12);

}  // namespace ocl
