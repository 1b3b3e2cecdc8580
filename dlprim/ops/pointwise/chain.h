#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "dlprim/ops/pointwise/table.h"

namespace dlprim {

/** A variable of a step: an input of the chain, a result of an earlier step, or the chain's next parameter.
 */
struct ChainOperand {
  enum class Kind { input, result, number };
  Kind kind;
  std::size_t index = 0;  // of the input; of the result, counted over the outputs of all steps
};

struct ChainStep {
  const PointwiseExpression* expression;
  std::vector<ChainOperand> operands;  // one for each of its variables
};

/**
 * Expressions of pointwise programs, one after another over the same elements, as one expression: one launch,
 * and no memory for results that stay within it. Each step's result is rounded to `dtype`, as if it were
 * stored; what compares gives bool.
 *
 *     const PointwiseChain chain{DType::float32,
 *                                {{&forward_expression(pointwise_op("mul")), {x0, number}},
 *                                 {&forward_expression(pointwise_op("relu")), {r0}}},
 *                                {1}};
 *     pointwise(queue, chain_expression(chain), DType::float32, {x}, {0.5}, {y});
 *
 * Inputs are tensors. Its parameters are those of the steps in their order; a step's numbers come before its
 * own parameters.
 */
struct PointwiseChain {
  static constexpr std::size_t max_inputs = 8, max_outputs = 8, max_steps = 16, max_parameters = 32;

  DType dtype;  // floating: of the inputs that are no conditions, and of the results that are not bool
  std::vector<ChainStep> steps;
  std::vector<std::size_t> outputs;  // results that are stored: all of `dtype`, or all bool

  std::size_t inputs() const;
  std::size_t parameters() const;
};

/** Whether an expression can be a step in this dtype. */
bool can_be_step(const PointwiseExpression& expression, DType dtype);

/** The expression, which lives as long as the process; the same one for a chain that is the same. Throws
 * ValueError for a chain that is none: too long, an operand that is not there yet, a tensor that is a
 * condition here and a number there. */
const PointwiseExpression& chain_expression(const PointwiseChain& chain);

/** "float32: mul.forward(x0, #); relu.forward(r0) -> r1": x are inputs, r results, # a number. */
std::string text_of(const PointwiseChain& chain);
/** The chain of such a text. Throws ValueError. */
PointwiseChain parse_chain(const std::string& text);

/** The name of a chain's expression begins with this. */
constexpr const char* chain_prefix = "chain ";

}  // namespace dlprim
