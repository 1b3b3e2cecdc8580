#pragma once

#include <functional>

#include "autograd/tape/tape.h"

/** \file How an operator's gradient is written where it is not made of operators alone, so that it can be
 * differentiated in turn. */

namespace ocl {

/** A linear function of one tensor, computed with the tape off. */
using LinearFunction = std::function<Tensor(const Tensor&)>;

/** `operation` of `x`, recorded; `transpose` carries a gradient back, and has `operation` as its own
 * gradient. */
Tensor apply_linear(const char* name, const Tensor& x, LinearFunction operation, LinearFunction transpose);

/** The gradient of a linear operator of one input, whose output the operator has made with kernels of its
 * own: apply_linear of `transpose`. */
Backward linear_gradient(const char* name, LinearFunction transpose, LinearFunction operation);

/**
 * The gradients of what `compose` makes of `inputs`: those of the operators that it calls. For operators that
 * have kernels of their own for what others would do together. `inputs`: as SavedTensor::input gives them;
 * undefined ones, and those whose gradient nobody wants, get none.
 */
TensorList gradients_by_composition(const TensorList& inputs, const TensorList& gradients,
                                    const std::function<TensorList(const TensorList&)>& compose);

}  // namespace ocl
