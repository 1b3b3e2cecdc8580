#pragma once

#include <vector>

#include "autograd/tensor.h"

namespace ocl {

/** Adds the gradients of `outputs` (weighted by `gradients`; undefined ones stand for 1) to the grad of every
 * leaf. */
void backward(const TensorList& outputs, const TensorList& gradients = {}, bool retain_graph = false);

namespace autograd {

/**
 * The gradients of `outputs` with respect to `inputs`, as torch.autograd.grad: grad() of no leaf is touched.
 * An input that the outputs do not depend on throws AutogradError, or comes back undefined with
 * `allow_unused`.
 */
TensorList grad(const TensorList& outputs, const TensorList& inputs, const TensorList& grad_outputs = {},
                bool retain_graph = false, bool allow_unused = false);

}  // namespace autograd
}  // namespace ocl
