#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "dlprim/core/scalar.h"
#include "dlprim/core/tensor.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

/** How an operator's result type follows from its inputs' types; see table.def. */
enum class TypeRule { Float, Same, Number, Power, Bool, Integral, Where };

/** A number that an operator takes beside its inputs, and its default. */
struct PointwiseParameter {
  std::string name;
  double default_value;
};

/** A row of the pointwise table (table.def), as data. */
struct PointwiseOp {
  std::string name;
  int inputs;  // 1 to 3, named a, b, c
  std::vector<PointwiseParameter> parameters;
  TypeRule types;
  std::string forward;
  std::vector<std::string> gradients;  // one per input; "" where there is none
  std::string documentation;

  bool differentiable() const;
};

/** Every pointwise operator, in the table's order. */
const std::vector<PointwiseOp>& pointwise_table();
/** The row of that name. Throws ValueError. */
const PointwiseOp& pointwise_op(std::string_view name);

/** An input of a pointwise expression: a tensor, or a number passed by value. */
using PointwiseOperand = std::variant<Tensor, Scalar>;

/**
 * Elementwise expressions over several inputs, computed in one launch: what a table row becomes, and what a
 * chain of rows may be fused to. Each string is OpenCL C over the variables.
 */
struct PointwiseExpression {
  std::string identity;                // names the expression uniquely
  std::vector<std::string> variables;  // of the inputs, in order
  std::vector<std::string> parameters;
  std::vector<std::string> outputs;  // one expression per output tensor
};

/** Whether `expression` uses the variable `name` (as a whole word). */
bool uses_variable(const std::string& expression, const std::string& name);

/** The forward expression of a row. */
const PointwiseExpression& forward_expression(const PointwiseOp& op);
/** The gradients of a row for the inputs whose bits are set in `wanted`; variables are those that they use.
 */
const PointwiseExpression& gradient_expression(const PointwiseOp& op, unsigned wanted);

/**
 * Evaluates `expression` for every element of the outputs, which share one shape; inputs have that shape or
 * are `expanded` to it. Any strides. `compute` is the dtype the expression is evaluated in (float16 and
 * bfloat16 compute in float). An output may be the very tensor of an input, never another view that overlaps
 * it.
 */
void pointwise(Queue& queue, const PointwiseExpression& expression, DType compute,
               const std::vector<PointwiseOperand>& inputs, const std::vector<Scalar>& parameters,
               const std::vector<Tensor>& outputs);

/** Copies `source`, broadcast and converted, to `destination`. */
void copy(Queue& queue, const Tensor& source, const Tensor& destination);
/** Sets every element. */
void fill(Queue& queue, const Tensor& destination, Scalar value);

}  // namespace dlprim
