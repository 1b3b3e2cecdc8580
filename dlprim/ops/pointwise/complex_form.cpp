#include "dlprim/ops/pointwise/complex_form.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>

#include "dlprim/core/error.h"
#include "dlprim/ops/pointwise/formula.h"

namespace dlprim {
namespace {

/** Functions of the table's language that complex.cl has as C_<name>. */
constexpr const char* complex_functions[] = {
    "EXP",  "EXP2", "EXPM1", "LOG",  "LOG1P", "LOG2",  "LOG10", "sqrt",  "SIN", "COS",  "TAN",    "ASIN",
    "ACOS", "ATAN", "SINH",  "COSH", "TANH",  "ASINH", "ACOSH", "ATANH", "POW", "LERP", "SIGMOID"};
/** Those that tell something of a number. */
constexpr const char* complex_predicates[] = {"EQUAL", "TRUTH", "ISNAN", "ISINF", "ISFINITE"};

template <std::size_t N>
bool contains(const char* const (&names)[N], const std::string& name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

[[noreturn]] void refuse_function(const std::string& name) {
  throw ValueError("complex numbers have no " + name);
}

std::string value_text(const Formula& formula);
std::string condition_text(const Formula& formula);

std::string call_text(const std::string& name, const std::vector<Formula>& parts) {
  std::string text = "C_" + name + "(";
  for (std::size_t i = 0; i < parts.size(); ++i) text += (i ? ", " : "") + value_text(parts[i]);
  return text + ")";
}

std::string value_text(const Formula& formula) {
  const std::vector<Formula>& parts = formula.parts;
  switch (formula.kind) {
    case Formula::Kind::number:
      return concat("C_REAL(", formula.value, ")");
    case Formula::Kind::variable:
      return formula.name;
    case Formula::Kind::call:
      break;
  }
  const std::string& name = formula.name;
  if (name == "neg") return "(-" + value_text(parts[0]) + ")";
  if (name == "+" || name == "-")
    return concat("(", value_text(parts[0]), " ", name, " ", value_text(parts[1]), ")");
  if (name == "*") return call_text("MUL", parts);
  if (name == "/") return call_text("DIV", parts);
  if (name == "?:")
    return concat("(", condition_text(parts[0]), " ? ", value_text(parts[1]), " : ", value_text(parts[2]),
                  ")");
  if (!contains(complex_functions, name)) refuse_function(name);
  return call_text(name, parts);
}

std::string condition_text(const Formula& formula) {
  const std::vector<Formula>& parts = formula.parts;
  const std::string& name = formula.name;
  if (formula.kind != Formula::Kind::call) return "C_TRUTH(" + value_text(formula) + ")";
  if (name == "!") return "(!" + condition_text(parts[0]) + ")";
  if (name == "&&" || name == "||")
    return concat("(", condition_text(parts[0]), " ", name, " ", condition_text(parts[1]), ")");
  const bool compares = name == "==" || name == "!=";
  const bool of_conditions =
      compares && parts[0].kind == Formula::Kind::call && contains(complex_predicates, parts[0].name);
  if (of_conditions)
    return concat("(", condition_text(parts[0]), " ", name, " ", condition_text(parts[1]), ")");
  if (compares) return concat("(", name == "!=" ? "!" : "", call_text("EQUAL", parts), ")");
  if (!contains(complex_predicates, name)) refuse_function(name);
  return call_text(name, parts);
}

}  // namespace

bool has_complex_form(const std::string& expression) {
  static std::mutex mutex;
  static auto& known = *new std::map<std::string, bool>;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto found = known.find(expression);
  if (found != known.end()) return found->second;
  const auto succeeds = [&](auto form) {
    try {
      form(parse_formula(expression));
    } catch (const ValueError&) {
      return false;
    }
    return true;
  };
  return known[expression] = succeeds(value_text) || succeeds(condition_text);
}

std::string complex_form(const std::string& expression) {
  return value_text(parse_formula(expression));
}

std::string complex_condition(const std::string& expression) {
  return condition_text(parse_formula(expression));
}

}  // namespace dlprim
