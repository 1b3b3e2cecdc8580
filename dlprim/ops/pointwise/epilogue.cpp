#include "dlprim/ops/pointwise/epilogue.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <unordered_map>

#include "dlprim/core/error.h"
#include "dlprim/ops/pointwise/contracted_form.h"

namespace dlprim {
namespace {

/** Whether all names in an expression are among the letters of `known`, or functions of norms' kernels. */
bool names_only(std::string_view expression, std::string_view known) {
  constexpr std::string_view function = "SIGMOID";
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (auto at = expression.begin(); at != expression.end();) {
    const auto end = std::find_if_not(at, expression.end(), is_part);
    const std::string_view word = expression.substr(static_cast<std::size_t>(at - expression.begin()),
                                                    static_cast<std::size_t>(end - at));
    const bool is_name = !word.empty() && std::isalpha(static_cast<unsigned char>(word.front()));
    if (is_name && word != function && (word.size() > 1 || known.find(word) == std::string_view::npos))
      return false;
    at = word.empty() ? at + 1 : end;
  }
  return true;
}

/** An expression as the value of a macro among a compiler's options, which are parted by spaces. */
const char* as_option(std::string expression) {
  expression.erase(std::remove(expression.begin(), expression.end(), ' '), expression.end());
  return interned(expression);
}

}  // namespace

bool can_be_epilogue(const PointwiseOp& activation, bool has_addend) {
  const std::vector<PointwiseOp>& table = pointwise_table();
  if (&activation < table.data() || &activation >= table.data() + table.size()) return false;
  const bool keeps_dtype = activation.types == TypeRule::Same || activation.types == TypeRule::Float;
  return activation.inputs == 1 && activation.parameters.empty() && keeps_dtype &&
         activation.differentiable() && names_only(activation.forward, "aT") &&
         names_only(activation.gradients[0], has_addend ? "gyT" : "gayT");
}

void require_epilogue(const char* op, const PointwiseOp* activation, bool has_addend) {
  if (activation && !can_be_epilogue(*activation, has_addend))
    throw ValueError(concat(op, ": ", activation->name, " cannot follow in the kernels",
                            has_addend ? " behind an addend" : ""));
}

namespace {

/** ACTIVATION, and ACTIVATION_GRADIENT where it is wanted, by the row of the activation; none for null. */
const auto* defines_by_row(bool has_gradient) {
  auto* const by_row = new std::unordered_map<const PointwiseOp*, Defines>;
  (*by_row)[nullptr];
  for (const PointwiseOp& row : pointwise_table()) {
    if (!can_be_epilogue(row, false)) continue;
    Defines& defines = (*by_row)[&row];
    defines.set("ACTIVATION", as_option(contracted_form(row.forward)));
    if (has_gradient) defines.set("ACTIVATION_GRADIENT", as_option(contracted_form(row.gradients[0])));
  }
  return by_row;
}

}  // namespace

const Defines& epilogue_defines(const PointwiseOp* activation) {
  static const auto& by_row = *defines_by_row(true);
  return by_row.at(activation);
}

const Defines& activation_defines(const PointwiseOp* activation) {
  static const auto& by_row = *defines_by_row(false);
  return by_row.at(activation);
}

}  // namespace dlprim
