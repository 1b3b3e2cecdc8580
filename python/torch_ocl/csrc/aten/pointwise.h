#pragma once

#include <ATen/core/ivalue.h>

#include <vector>

#include "dlprim/ops/pointwise/pointwise.h"
#include "tensors.h"

namespace torch_ocl {

/** Where the result of an operator goes. */
enum class Result { fresh, out, in_place };

/** A row of the pointwise table, of tensors and numbers: to a fresh tensor, or to `result` with PyTorch's
 * checks of it. */
at::Tensor compute_row(const dlprim::PointwiseOp& row, const std::vector<c10::IValue>& arguments,
                       const std::vector<dlprim::Scalar>& parameters, Result kind, at::Tensor result = {});

}  // namespace torch_ocl
