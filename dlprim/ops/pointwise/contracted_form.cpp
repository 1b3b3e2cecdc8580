#include "dlprim/ops/pointwise/contracted_form.h"

#include <cctype>
#include <cstdio>

#include "dlprim/core/error.h"
#include "dlprim/ops/pointwise/formula.h"

namespace dlprim {
namespace {

bool is_call(const Formula& formula, const char* name) {
  return formula.kind == Formula::Kind::call && formula.name == name;
}

bool is_sum(const Formula& formula) {
  return is_call(formula, "+") || is_call(formula, "-");
}

bool has_contraction(const Formula& formula) {
  if (is_sum(formula))
    for (const Formula& part : formula.parts)
      if (is_call(part, "*")) return true;
  for (const Formula& part : formula.parts)
    if (has_contraction(part)) return true;
  return false;
}

std::string text_of(const Formula& formula);

std::string number_text(const Formula& number) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.17g", number.value);
  std::string text = digits;
  if (!number.is_float) return text;
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + "f";
}

/** A product and what is added to it. */
std::string fused(const Formula& product, bool is_negative, const std::string& addend) {
  return concat("FUSED(", is_negative ? "-" : "", text_of(product.parts[0]), ", ", text_of(product.parts[1]),
                ", ", addend, ")");
}

std::string text_of(const Formula& formula) {
  const std::vector<Formula>& parts = formula.parts;
  const std::string& name = formula.name;
  switch (formula.kind) {
    case Formula::Kind::number:
      return "(T)" + number_text(formula);
    case Formula::Kind::variable:
      return name;
    case Formula::Kind::call:
      break;
  }
  if (is_sum(formula)) {
    const bool is_difference = name == "-";
    if (is_call(parts[1], "*")) return fused(parts[1], is_difference, text_of(parts[0]));
    if (is_call(parts[0], "*")) return fused(parts[0], false, (is_difference ? "-" : "") + text_of(parts[1]));
  }
  if (name == "neg") return concat("(-", text_of(parts[0]), ")");
  if (name == "!") return concat("(!", text_of(parts[0]), ")");
  if (name == "?:")
    return concat("(", text_of(parts[0]), " ? ", text_of(parts[1]), " : ", text_of(parts[2]), ")");
  // A quotient of numbers of which one is float32's is rounded to that.
  const bool is_rounded = name == "/" && parts[0].is_float && parts[1].kind == Formula::Kind::number;
  if (is_rounded) return concat("(T)(", number_text(parts[0]), " / ", number_text(parts[1]), ")");
  if (!std::isalpha(static_cast<unsigned char>(name[0])))
    return concat("(", text_of(parts[0]), " ", name, " ", text_of(parts[1]), ")");
  std::string arguments;
  for (const Formula& part : parts) arguments += (arguments.empty() ? "" : ", ") + text_of(part);
  return concat(name, "(", arguments, ")");
}

}  // namespace

std::string contracted_form(const std::string& expression) {
  try {
    const Formula formula = parse_formula(expression);
    return has_contraction(formula) ? text_of(formula) : expression;
  } catch (const ValueError&) {
    return expression;
  }
}

}  // namespace dlprim
