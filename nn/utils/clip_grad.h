#pragma once

#include "autograd/tensor/tensor.h"

/** Gradient clipping, as torch.nn.utils. Nothing here waits for the device, but for `error_if_nonfinite`. */
namespace ocl::nn::utils {

/**
 * The p-norm of all elements of `tensors` together, a tensor of shape []: `norm_type` is any number, infinity
 * gives the largest magnitude, 0 counts the elements that are not 0. Tensors are of one device and one dtype,
 * float32 or float64. With `error_if_nonfinite`, waits and throws AutogradError for an infinite or NaN norm.
 */
Tensor get_total_norm(const TensorList& tensors, double norm_type = 2, bool error_if_nonfinite = false);

/** Multiplies the gradients of `parameters` by min(1, max_norm / (total_norm + 1e-6)). */
void clip_grads_with_norm_(const TensorList& parameters, double max_norm, const Tensor& total_norm);

/** A norm, for which nothing waits until it is asked for as a number: `double norm = clip_grad_norm_(…)`. */
class GradientNorm : public Tensor {
 public:
  GradientNorm(const Tensor& norm) : Tensor(norm) {}
  /** Waits. */
  template <class T, class = std::enable_if_t<std::is_floating_point_v<T>>>
  operator T() const {
    return item<T>();
  }
};

/** Scales the gradients of `parameters` down together so that their norm is at most `max_norm`; returns the
 * norm that they had. Parameters without a gradient are left out. */
GradientNorm clip_grad_norm_(const TensorList& parameters, double max_norm, double norm_type = 2,
                             bool error_if_nonfinite = false);

/** Holds every element of the gradients between -clip_value and clip_value. */
void clip_grad_value_(const TensorList& parameters, double clip_value);

}  // namespace ocl::nn::utils
