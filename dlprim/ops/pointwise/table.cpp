#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <mutex>
#include <unordered_map>

#include "dlprim/ops/pointwise/table.h"

namespace dlprim {

bool PointwiseOp::differentiable() const {
  for (const std::string& gradient : gradients)
    if (!gradient.empty()) return true;
  return false;
}

const std::vector<PointwiseOp>& pointwise_table() {
#define UNARY(name, types, forward, da, doc) {#name, 1, {}, TypeRule::types, forward, {da}, doc},
#define UNARY_P(name, p, p0, types, forward, da, doc) \
  {#name, 1, {{#p, p0}}, TypeRule::types, forward, {da}, doc},
#define UNARY_PQ(name, p, p0, q, q0, types, forward, da, doc) \
  {#name, 1, {{#p, p0}, {#q, q0}}, TypeRule::types, forward, {da}, doc},
#define BINARY(name, types, forward, da, db, doc) {#name, 2, {}, TypeRule::types, forward, {da, db}, doc},
#define BINARY_P(name, p, p0, types, forward, da, db, doc) \
  {#name, 2, {{#p, p0}}, TypeRule::types, forward, {da, db}, doc},
#define TERNARY(name, types, forward, da, db, dc, doc) \
  {#name, 3, {}, TypeRule::types, forward, {da, db, dc}, doc},
#define TERNARY_P(name, p, p0, types, forward, da, db, dc, doc) \
  {#name, 3, {{#p, p0}}, TypeRule::types, forward, {da, db, dc}, doc},
  static const auto& table = *new std::vector<PointwiseOp>{
#include "dlprim/ops/pointwise/table.def"
  };
#include "dlprim/ops/pointwise/undef.def"
  return table;
}

const PointwiseOp& pointwise_op(std::string_view name) {
  static const auto* by_name = [] {
    auto* rows = new std::map<std::string, const PointwiseOp*, std::less<>>;
    for (const PointwiseOp& op : pointwise_table()) rows->emplace(op.name, &op);
    return rows;
  }();
  const auto found = by_name->find(name);
  require(found != by_name->end(), "there is no pointwise operator named '", name, "'");
  return *found->second;
}

bool uses_variable(const std::string& expression, const std::string& name) {
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (std::size_t at = expression.find(name); at != std::string::npos; at = expression.find(name, at + 1)) {
    const bool starts = at == 0 || !is_word(expression[at - 1]);
    const std::size_t end = at + name.size();
    if (starts && (end == expression.size() || !is_word(expression[end]))) return true;
  }
  return false;
}

namespace {

constexpr const char* input_names[] = {"a", "b", "c"};

std::vector<std::string> parameter_names(const PointwiseOp& op) {
  std::vector<std::string> names;
  for (const PointwiseParameter& p : op.parameters) names.push_back(p.name);
  return names;
}

unsigned all_of(std::size_t variables) {
  return (1u << variables) - 1;
}

PointwiseExpression make_forward(const PointwiseOp& op) {
  PointwiseExpression expression{
      "forward", {input_names, input_names + op.inputs}, parameter_names(op), {op.forward}};
  if (op.types == TypeRule::Where) expression.conditions = 1;
  if (op.types == TypeRule::Bool) expression.result = DType::boolean;
  if (op.inputs > 1) expression.may_be_number = all_of(expression.variables.size()) & ~expression.conditions;
  return expression;
}

PointwiseExpression make_gradient(const PointwiseOp& op, unsigned wanted) {
  PointwiseExpression expression;
  expression.name = "gradient_";
  expression.floating_only = true;
  expression.parameters = parameter_names(op);
  for (int i = 0; i < op.inputs; ++i)
    if (wanted >> i & 1u) {
      expression.name += input_names[i];
      expression.outputs.push_back(op.gradients[static_cast<std::size_t>(i)]);
    }
  const auto used = [&](const char* variable) {
    return std::any_of(expression.outputs.begin(), expression.outputs.end(),
                       [&](const std::string& output) { return uses_variable(output, variable); });
  };
  if (used("g")) expression.variables.emplace_back("g");
  for (int i = 0; i < op.inputs; ++i) {
    if (!used(input_names[i])) continue;
    const unsigned bit = 1u << expression.variables.size();
    if (op.types == TypeRule::Where && i == 0) {
      expression.conditions |= bit;
    } else if (!(wanted >> i & 1u)) {
      expression.may_be_number |= bit;  // what wants a gradient is a tensor
    }
    expression.variables.emplace_back(input_names[i]);
  }
  if (used("y")) expression.variables.emplace_back("y");
  return expression;
}

/** The inputs whose gradients are computed. */
unsigned computed_gradients(const PointwiseOp& op) {
  unsigned inputs = 0;
  for (std::size_t i = 0; i < op.gradients.size(); ++i)
    if (!op.gradients[i].empty() && !passes_gradient(op, i)) inputs |= 1u << i;
  return inputs;
}

/** Expression 0 is the forward one; a gradient follows for every subset of those that are computed. */
std::vector<PointwiseExpression> expressions_of(const PointwiseOp& op) {
  const unsigned computed = computed_gradients(op);
  std::vector<PointwiseExpression> expressions{make_forward(op)};
  for (unsigned wanted = 1; wanted <= computed; ++wanted)
    if ((wanted & computed) == wanted) expressions.push_back(make_gradient(op, wanted));
  return expressions;
}

}  // namespace

const PointwiseProgram& program_of(const PointwiseOp& op) {
  static std::mutex mutex;
  static auto* made = new std::unordered_map<const PointwiseOp*, PointwiseProgram>;
  std::lock_guard<std::mutex> lock(mutex);
  const auto found = made->find(&op);
  if (found != made->end()) return found->second;
  return made->try_emplace(&op, op.name, expressions_of(op)).first->second;
}

PointwiseProgram::PointwiseProgram(std::string name, std::vector<PointwiseExpression> expressions,
                                   std::optional<DType> only)
    : name_(std::move(name)), expressions_(std::move(expressions)), only_(only) {
  for (PointwiseExpression& expression : expressions_) {
    expression.program = this;
    slots_.inputs = std::max(slots_.inputs, expression.variables.size());
    slots_.outputs = std::max(slots_.outputs, expression.outputs.size());
    slots_.parameters = std::max(slots_.parameters, expression.parameters.size());
    std::size_t numbers = 0;
    for (unsigned rest = expression.may_be_number; rest; rest >>= 1) numbers += rest & 1u;
    slots_.numbers = std::max(slots_.numbers, numbers);
  }
}

const char* PointwiseProgram::group(DType dtype) const {
  return serves_all_integers(dtype) ? "integers" : dlprim::name(dtype);
}

const PointwiseExpression& lone_expression(std::string name, std::vector<std::string> variables,
                                           std::vector<std::string> parameters,
                                           std::vector<std::string> outputs, std::optional<DType> result) {
  PointwiseExpression expression{"forward", std::move(variables), std::move(parameters), std::move(outputs)};
  expression.result = result;
  return (new PointwiseProgram(std::move(name), {std::move(expression)}))->expressions().front();
}

bool passes_gradient(const PointwiseOp& op, std::size_t i) {
  return op.gradients[i] == "g";
}

const PointwiseExpression& forward_expression(const PointwiseOp& op) {
  return program_of(op).expressions().front();
}

const PointwiseExpression& gradient_expression(const PointwiseOp& op, unsigned wanted) {
  // The place of `wanted` among the subsets of what is computed, as expressions_of() lists them.
  const unsigned computed = computed_gradients(op);
  std::size_t place = 0;
  for (unsigned subset = 1; subset <= wanted; ++subset)
    if ((subset & computed) == subset) ++place;
  require(place > 0 && (wanted & computed) == wanted, op.name, ": no gradient is computed for inputs ",
          wanted);
  return program_of(op).expressions()[place];
}

}  // namespace dlprim
