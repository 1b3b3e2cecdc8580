#include <cctype>
#include <cmath>
#include <map>
#include <mutex>
#include <unordered_map>

#include "dlprim/ops/pointwise/pointwise.h"

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
  static const std::vector<PointwiseOp> table{
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

PointwiseExpression make_forward(const PointwiseOp& op) {
  return {op.name, {input_names, input_names + op.inputs}, parameter_names(op), {op.forward}};
}

PointwiseExpression make_gradient(const PointwiseOp& op, unsigned wanted) {
  PointwiseExpression expression;
  expression.identity = concat(op.name, " gradient ", wanted);
  expression.parameters = parameter_names(op);
  for (int i = 0; i < op.inputs; ++i)
    if (wanted >> i & 1u) expression.outputs.push_back(op.gradients[static_cast<std::size_t>(i)]);
  for (const char* variable : {"g", "a", "b", "c", "y"})
    for (const std::string& output : expression.outputs)
      if (uses_variable(output, variable)) {
        expression.variables.push_back(variable);
        break;
      }
  return expression;
}

/** Expressions of rows, made once; wanted == 0 stands for the forward one. */
const PointwiseExpression& expression_of(const PointwiseOp& op, unsigned wanted) {
  static std::mutex mutex;
  static auto* made = new std::map<std::pair<const PointwiseOp*, unsigned>, PointwiseExpression>;
  std::lock_guard<std::mutex> lock(mutex);
  const auto found = made->find({&op, wanted});
  if (found != made->end()) return found->second;
  return made->emplace(std::pair(&op, wanted), wanted ? make_gradient(op, wanted) : make_forward(op))
      .first->second;
}

}  // namespace

const PointwiseExpression& forward_expression(const PointwiseOp& op) {
  return expression_of(op, 0);
}

const PointwiseExpression& gradient_expression(const PointwiseOp& op, unsigned wanted) {
  return expression_of(op, wanted);
}

}  // namespace dlprim
