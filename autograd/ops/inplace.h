#pragma once

#include "autograd/tensor/tensor.h"

namespace ocl {

/**
 * Throws AutogradError when `target` must not be written in place while recording: a leaf that requires grad
 * or a view of one, or a view made under no_grad. Throws ValueError when it shares memory with another of
 * `inputs` in part, or overlaps itself.
 */
void check_in_place(const char* op, const Tensor& target, const TensorList& inputs);

/** Whether a dimension has stride 0, so that elements share their memory. */
bool overlaps_itself(const dlprim::Tensor& t);

/** Counts a write over all of `target` by values that depend on no tensor of the tape. */
void record_overwrite(const char* name, Tensor& target);

}  // namespace ocl
