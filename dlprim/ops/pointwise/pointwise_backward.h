#pragma once

#include <optional>
#include <vector>

#include "dlprim/ops/pointwise/table.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

/**
 * The gradients of a row, in one launch, from the gradient `dy` of its result `y`: gradients[i] gets that of
 * input i, in the shape of y. Those left undefined are not computed. `inputs` are tensors of y's shape or
 * broadcast to it, or numbers. Those of `inputs`, `parameters` and `y` that the row's gradients do not name
 * may be undefined. Any strides; floating dtypes, computed in what those of the gradients promote to. A
 * single gradient may be `dy` itself.
 *
 * The gradient of an input that was broadcast is the sum (reduce) of what is here over the dimensions that it
 * was broadcast along.
 */
void pointwise_backward(Queue& queue, const PointwiseOp& op, const Tensor& dy,
                        const std::vector<PointwiseOperand>& inputs, const std::vector<Scalar>& parameters,
                        const Tensor& y, const std::vector<Tensor>& gradients);

/** The arguments of pointwise() for what pointwise_backward computes; none where all gradients pass. Throws
 * as that does. */
struct GradientCall {
  const PointwiseExpression& expression;
  DType compute;
  std::vector<PointwiseOperand> inputs;
  std::vector<Tensor> outputs;
};
std::optional<GradientCall> computed_gradients(const PointwiseOp& op, const Tensor& dy,
                                               const std::vector<PointwiseOperand>& inputs, const Tensor& y,
                                               const std::vector<Tensor>& gradients);

}  // namespace dlprim
