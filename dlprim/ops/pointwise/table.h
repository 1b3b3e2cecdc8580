#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "dlprim/core/arguments.h"
#include "dlprim/core/fields.h"
#include "dlprim/core/scalar.h"
#include "dlprim/core/tensor.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

/** How an operator's result type follows from its inputs' types; see table.def. */
enum class TypeRule { Float, Same, Number, Power, Bool, Integral, Where, Bounded };

/** A number that an operator takes beside its inputs, and its default. */
struct PointwiseParameter {
  std::string name;
  double default_value;
};

/**
 * A row of the pointwise table (table.def), as data: torch's function of that name, elementwise.
 *
 *     const PointwiseOp& relu = pointwise_op("relu");
 *     pointwise(queue, forward_expression(relu), x.dtype, {x}, {}, {y});
 *     pointwise_backward(queue, relu, dy, {x}, {}, y, {dx});
 */
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
/** Rows of the tables; a row that somebody makes has to live as long as the process. */
template <>
struct is_static_row<PointwiseOp> : std::true_type {};

/** Every pointwise operator, in the table's order. */
const std::vector<PointwiseOp>& pointwise_table();
/** The row of that name. Throws ValueError. */
const PointwiseOp& pointwise_op(std::string_view name);

/** An input of a pointwise expression: a tensor, or a number passed by value. */
using PointwiseOperand = std::variant<Tensor, Scalar>;

class PointwiseProgram;

/**
 * Elementwise expressions over several inputs, computed in one launch: what a table row becomes, and what a
 * chain of rows may be fused to. Each string is OpenCL C over the variables.
 */
struct PointwiseExpression {
  std::string name;                    // within its program
  std::vector<std::string> variables;  // of the inputs, in order
  std::vector<std::string> parameters;
  std::vector<std::string> outputs;  // one expression per output tensor
  std::string statements{};          // of OpenCL C, before them
  unsigned may_be_number = 0;        // bit i: variable i may be a number instead of a tensor
  unsigned conditions = 0;           // bit i: variable i is bool, whatever is computed in
  bool floating_only = false;        // a gradient
  std::optional<DType> result{};     // of the outputs; by default what is computed in
  const PointwiseProgram* program = nullptr;
};
template <>
struct is_static_row<PointwiseExpression> : std::true_type {};

/** The parameters of a program's kernels: as many of each kind as any of its expressions has. */
struct PointwiseSlots {
  std::size_t inputs = 0, outputs = 0, numbers = 0, parameters = 0;
};

/**
 * Expressions that are built together: a row with its gradients. One program serves one floating dtype, or
 * all integers and bool.
 */
class PointwiseProgram {
 public:
  /** `name` is an identifier of OpenCL C that no other program has. `only` is set where the program serves no
   * other dtype. */
  PointwiseProgram(std::string name, std::vector<PointwiseExpression> expressions,
                   std::optional<DType> only = {});
  PointwiseProgram(const PointwiseProgram&) = delete;
  PointwiseProgram& operator=(const PointwiseProgram&) = delete;

  const std::string& name() const { return name_; }
  const std::vector<PointwiseExpression>& expressions() const { return expressions_; }
  const PointwiseSlots& slots() const { return slots_; }
  /** Whether the program of `dtype` serves the other integers as well. */
  bool serves_all_integers(DType dtype) const { return !only_ && is_integral(dtype); }
  /** The name of that program among those of other dtypes. */
  const char* group(DType dtype) const;
  /** Kernels of a dtype that are remembered; number_of() in pointwise.cpp says which. */
  static constexpr std::size_t remembered_kernels = 10;
  /** Where one of them is. */
  KernelHandle& handle(DType dtype, std::size_t number) const {
    return handles_[remembered_kernels * static_cast<std::size_t>(dtype) + number];
  }

 private:
  std::string name_;
  std::vector<PointwiseExpression> expressions_;
  PointwiseSlots slots_;
  std::optional<DType> only_;
  mutable std::array<KernelHandle, remembered_kernels * dtype_count> handles_;
};

/** An expression in a program of its own, which lives as long as the process. */
const PointwiseExpression& lone_expression(std::string name, std::vector<std::string> variables,
                                           std::vector<std::string> parameters,
                                           std::vector<std::string> outputs,
                                           std::optional<DType> result = {});

/** Whether `expression` uses the variable `name` (as a whole word). */
bool uses_variable(const std::string& expression, const std::string& name);

/** Whether the gradient for input `i` of a row is the incoming one as it is: nothing is to be computed. */
bool passes_gradient(const PointwiseOp& op, std::size_t i);

/** The expressions of a row. */
const PointwiseProgram& program_of(const PointwiseOp& op);
/** The forward expression of a row. */
const PointwiseExpression& forward_expression(const PointwiseOp& op);
/** The gradients of a row for the inputs whose bits are set in `wanted`, of those that have one and do not
 * pass; variables are those that they use. */
const PointwiseExpression& gradient_expression(const PointwiseOp& op, unsigned wanted);

/** The program and the name within it: "relu.forward", "mul.gradient_ab", "special_power.forward_2"; of a
 * chain (chain.h) its text. */
std::string full_name(const PointwiseExpression& expression);
ArgumentValue argument_value(const PointwiseExpression& expression);
/** The expression that has that full name: of a row, a power or a chain. Throws ValueError. */
const PointwiseExpression& expression_named(const std::string& name);

}  // namespace dlprim
