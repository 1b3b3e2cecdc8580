#pragma once

#include "autograd/tensor.h"

namespace ocl {

/**
 * Throws AutogradError when `target` must not be written in place (a leaf that requires grad, or a view of a
 * tensor on the tape, while recording), ValueError when it shares memory with another of `inputs` in part, or
 * overlaps itself.
 */
void check_in_place(const char* op, const Tensor& target, const TensorList& inputs);

}  // namespace ocl
