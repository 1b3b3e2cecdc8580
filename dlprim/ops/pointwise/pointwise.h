#pragma once

#include <vector>

#include "dlprim/core/scalar.h"
#include "dlprim/core/tensor.h"
#include "dlprim/ops/pointwise/table.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

/**
 * Evaluates `expression` for every element of the outputs, which share one shape; inputs have that shape or
 * are `expanded` to it. Any strides. `compute` is the dtype the expression is evaluated in (float16 and
 * bfloat16 compute in float, integers in 64 bits). Tensors of other dtypes are converted on the way, each by
 * a launch of its own. An output may be the very tensor of an input, never another view that overlaps it, nor
 * hold two elements in one place.
 *
 * `parameters`: all that the expression has, in its order (a row's defaults are in PointwiseOp::parameters).
 * pointwise_result tells `compute`, shape and dtype by PyTorch's rules. Throws ValueError.
 */
void pointwise(Queue& queue, const PointwiseExpression& expression, DType compute,
               const std::vector<PointwiseOperand>& inputs, const std::vector<Scalar>& parameters,
               const std::vector<Tensor>& outputs);

/** torch.Tensor.copy_: copies `source`, broadcast and converted, to `destination`; any strides and dtypes. */
void copy(Queue& queue, const Tensor& source, const Tensor& destination);
/** torch.Tensor.fill_: sets every element; any strides. Throws ValueError for what the dtype does not hold.
 */
void fill(Queue& queue, const Tensor& destination, Scalar value);

}  // namespace dlprim
