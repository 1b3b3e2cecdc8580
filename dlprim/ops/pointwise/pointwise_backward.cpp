#include "dlprim/ops/pointwise/pointwise_backward.h"
#include "dlprim/core/call.h"
#include "dlprim/ops/pointwise/pointwise.h"

namespace dlprim {

std::optional<GradientCall> computed_gradients(const PointwiseOp& op, const Tensor& dy,
                                               const std::vector<PointwiseOperand>& inputs, const Tensor& y,
                                               const std::vector<Tensor>& gradients) {
  const auto count = static_cast<std::size_t>(op.inputs);
  require(inputs.size() == count && gradients.size() == count, op.name, ": expected ", count,
          " inputs and gradients, got ", inputs.size(), " and ", gradients.size());
  unsigned computed = 0;
  std::optional<DType> compute;
  std::vector<Tensor> outputs;
  for (std::size_t i = 0; i < count; ++i) {
    if (!gradients[i].defined()) continue;
    require(!op.gradients[i].empty(), op.name, ": the result has no gradient with respect to input ", i);
    require(gradients[i].shape == dy.shape, op.name, ": expected a gradient of shape ", dy.shape, ", got ",
            gradients[i].shape);
    if (passes_gradient(op, i)) continue;
    computed |= 1u << i;
    outputs.push_back(gradients[i]);
    compute = compute ? promote_types(*compute, gradients[i].dtype) : gradients[i].dtype;
  }
  if (!computed) return std::nullopt;
  const PointwiseExpression& expression = gradient_expression(op, computed);
  std::vector<PointwiseOperand> operands;
  operands.reserve(expression.variables.size());
  for (const std::string& variable : expression.variables) {
    if (variable == "g" || variable == "y")
      operands.emplace_back(variable == "g" ? dy : y);
    else
      operands.push_back(inputs[static_cast<std::size_t>(variable.front() - 'a')]);
  }
  return GradientCall{expression, *compute, std::move(operands), std::move(outputs)};
}

void pointwise_backward(Queue& queue, const PointwiseOp& op, const Tensor& dy,
                        const std::vector<PointwiseOperand>& inputs, const std::vector<Scalar>& parameters,
                        const Tensor& y, const std::vector<Tensor>& gradients) {
  ENTER(pointwise_backward, queue, op, dy, inputs, parameters, y, gradients);
  const auto count = static_cast<std::size_t>(op.inputs);
  require(inputs.size() == count && gradients.size() == count, op.name, ": expected ", count,
          " inputs and gradients, got ", inputs.size(), " and ", gradients.size());
  const std::optional<GradientCall> computed = computed_gradients(op, dy, inputs, y, gradients);
  for (std::size_t i = 0; i < gradients.size(); ++i)
    if (gradients[i].defined() && passes_gradient(op, i)) copy(queue, dy, gradients[i]);
  if (computed)
    pointwise(queue, computed->expression, computed->compute, computed->inputs, parameters,
              computed->outputs);
}

}  // namespace dlprim
