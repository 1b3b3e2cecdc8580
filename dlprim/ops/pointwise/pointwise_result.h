#pragma once

#include <vector>

#include "dlprim/ops/pointwise/table.h"

namespace dlprim {

/** The dtype that these promote to together (torch.result_type): tensors with dimensions before scalar
 * tensors, those before numbers; the later count only where they are of a higher kind (bool, whole,
 * floating). */
DType result_type(const std::vector<PointwiseOperand>& operands);

/** A row's result for its inputs: the shape that they broadcast to, the dtype it computes in and the dtype
 * of the result, and the strides that keep the result in the inputs' order of memory. */
struct PointwiseResult {
  Dims shape;
  DType compute, dtype;
  Dims strides;
};

/** PyTorch's result for a row of the table. Throws ValueError for shapes that do not broadcast and tensors of
 * several devices, TypeError for dtypes that the row refuses and for numbers only. */
PointwiseResult pointwise_result(const PointwiseOp& op, const std::vector<PointwiseOperand>& inputs,
                                 const std::vector<Scalar>& parameters);

}  // namespace dlprim
