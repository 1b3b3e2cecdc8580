#include "dlprim/export/size_formula.h"

#include <algorithm>
#include <cctype>
#include <cstring>

#include "dlprim/core/checked.h"
#include "dlprim/core/error.h"

namespace dlprim {
namespace {

using FormulaOp = SizeFormula::Op;
using Interval = std::pair<std::int64_t, std::int64_t>;

constexpr std::size_t longest_text = 2000, longest_name = 64;
constexpr int deepest_formula = 64;

/** One step of a formula; throws ValueError where it has no value. */
std::int64_t computed_size(FormulaOp op, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  switch (op) {
    case FormulaOp::add:
      require(try_add(a, b, result), "a size overflows: ", a, " + ", b);
      return result;
    case FormulaOp::multiply:
      require(try_multiply(a, b, result), "a size overflows: ", a, " * ", b);
      return result;
    case FormulaOp::divide:
    case FormulaOp::remainder: {
      require(b != 0, "a formula of sizes divides ", a, " by 0");
      require(!(a == INT64_MIN && b == -1), "a size overflows: ", a, " // ", b);
      const bool rounds_up = a % b != 0 && (a < 0) != (b < 0);  // as C++ does, towards 0
      return op == FormulaOp::divide ? a / b - (rounds_up ? 1 : 0) : a % b + (rounds_up ? b : 0);
    }
    case FormulaOp::minimum:
      return std::min(a, b);
    case FormulaOp::maximum:
      return std::max(a, b);
    case FormulaOp::constant:
    case FormulaOp::symbol:
      break;
  }
  throw ValueError("a formula has an operator that is none");
}

/** The range of a step whose operands lie in ranges. */
Interval interval_of(FormulaOp op, const Interval& a, const Interval& b) {
  if (op == FormulaOp::remainder) {
    require(b.first > 0 || b.second < 0, "a formula of sizes may divide by 0");
    return b.first > 0 ? Interval{0, b.second - 1} : Interval{b.first + 1, 0};
  }
  if (op == FormulaOp::divide) require(b.first > 0 || b.second < 0, "a formula of sizes may divide by 0");
  const std::int64_t ends[] = {computed_size(op, a.first, b.first), computed_size(op, a.first, b.second),
                               computed_size(op, a.second, b.first), computed_size(op, a.second, b.second)};
  return {*std::min_element(ends, ends + 4), *std::max_element(ends, ends + 4)};
}

bool is_letter_of_name(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_';
}
bool is_digit_of_number(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

struct SizeFormula::Node {
  FormulaOp op;
  std::int64_t number;  // the constant, or the symbol's index
  SizeFormula a, b;     // of operators
};

bool is_symbol_name(const std::string& name) {
  return !name.empty() && name.size() <= longest_name && is_letter_of_name(name[0]) && name != "min" &&
         name != "max" && std::all_of(name.begin(), name.end(), [](char c) {
           return is_letter_of_name(c) || is_digit_of_number(c);
         });
}

SizeFormula::SizeFormula(std::int64_t value) {
  if (value != 0) {
    const SizeFormula none;
    node_ = std::make_shared<const Node>(Node{FormulaOp::constant, value, none, none});
  }
}

SizeFormula SizeFormula::symbol(std::size_t index) {
  return SizeFormula(
      std::make_shared<const Node>(Node{FormulaOp::symbol, static_cast<std::int64_t>(index), {}, {}}));
}

SizeFormula SizeFormula::of(FormulaOp op, const SizeFormula& a, const SizeFormula& b) {
  const std::optional<std::int64_t> x = a.constant(), y = b.constant();
  if (x && y && !((op == FormulaOp::divide || op == FormulaOp::remainder) && *y == 0))
    return computed_size(op, *x, *y);
  if (op == FormulaOp::add && (x == 0 || y == 0)) return x == 0 ? b : a;
  if (op == FormulaOp::multiply && (x == 1 || y == 1)) return x == 1 ? b : a;
  if (op == FormulaOp::divide && y == 1) return a;
  const bool is_chain = op == FormulaOp::add || op == FormulaOp::multiply;
  if (is_chain && b.node_ && b.node_->op == op) return of(op, of(op, a, b.node_->a), b.node_->b);
  return SizeFormula(std::make_shared<const Node>(Node{op, 0, a, b}));
}

std::optional<std::int64_t> SizeFormula::constant() const {
  if (!node_) return 0;
  if (node_->op == FormulaOp::constant) return node_->number;
  return std::nullopt;
}

std::optional<std::size_t> SizeFormula::symbol_index() const {
  if (!node_ || node_->op != FormulaOp::symbol) return std::nullopt;
  return static_cast<std::size_t>(node_->number);
}

std::int64_t SizeFormula::value(const std::vector<std::int64_t>& sizes) const {
  if (const auto number = constant()) return *number;
  if (node_->op == FormulaOp::symbol) return sizes.at(static_cast<std::size_t>(node_->number));
  return computed_size(node_->op, node_->a.value(sizes), node_->b.value(sizes));
}

Interval SizeFormula::bounds(const std::vector<ProgramSymbol>& symbols) const {
  if (const auto number = constant()) return {*number, *number};
  if (node_->op == FormulaOp::symbol) {
    const ProgramSymbol& symbol = symbols.at(static_cast<std::size_t>(node_->number));
    return {symbol.min, symbol.max};
  }
  return interval_of(node_->op, node_->a.bounds(symbols), node_->b.bounds(symbols));
}

std::string SizeFormula::text(const std::vector<ProgramSymbol>& symbols) const {
  return text(symbols, 0);
}

std::string SizeFormula::text(const std::vector<ProgramSymbol>& symbols, int precedence) const {
  if (const auto number = constant())
    return *number < 0 && precedence > 0 ? concat("(", *number, ")") : concat(*number);
  const Node& node = *node_;
  if (node.op == FormulaOp::symbol) return symbols.at(static_cast<std::size_t>(node.number)).name;
  if (node.op == FormulaOp::minimum || node.op == FormulaOp::maximum)
    return concat(node.op == FormulaOp::minimum ? "min(" : "max(", node.a.text(symbols, 0), ", ",
                  node.b.text(symbols, 0), ")");
  const int own = node.op == FormulaOp::add ? 1 : 2;
  std::string text;
  if (node.op == FormulaOp::add) {
    const auto added = node.b.constant();
    text = node.a.text(symbols, 1);
    text +=
        added && *added < 0 && *added != INT64_MIN ? concat(" - ", -*added) : " + " + node.b.text(symbols, 2);
  } else {
    const char* sign = node.op == FormulaOp::multiply ? "*" : node.op == FormulaOp::divide ? " // " : " % ";
    text = node.a.text(symbols, 2) + sign + node.b.text(symbols, 3);
  }
  return own < precedence ? "(" + text + ")" : text;
}

namespace {

/** Reads a formula by recursive descent. */
class FormulaParser {
 public:
  FormulaParser(const std::string& text, const std::vector<ProgramSymbol>& symbols)
      : text_(text), symbols_(symbols) {
    require(text.size() <= longest_text, "a formula of sizes has ", text.size(), " characters, at most ",
            longest_text, " are read");
  }

  SizeFormula whole() {
    const SizeFormula formula = sum(0);
    skip_spaces();
    if (at_ < text_.size()) fail("the end");
    return formula;
  }

 private:
  [[noreturn]] void fail(const char* expected) const {
    throw ValueError(concat("formula '", text_, "': expected ", expected, " at character ", at_));
  }
  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool takes(const char* sign) {
    skip_spaces();
    if (text_.compare(at_, std::strlen(sign), sign) != 0) return false;
    at_ += std::strlen(sign);
    return true;
  }
  void must_take(const char* sign) {
    if (!takes(sign)) fail(sign);
  }

  SizeFormula sum(int depth) {
    if (depth > deepest_formula) fail("less nesting");
    SizeFormula result = product(depth);
    for (int terms = 0;; ++terms) {
      if (terms > deepest_formula) fail("fewer terms");
      if (takes("+"))
        result = result + product(depth);
      else if (takes("-"))
        result = result + SizeFormula(-1) * product(depth);
      else
        return result;
    }
  }

  SizeFormula product(int depth) {
    SizeFormula result = factor(depth);
    for (int terms = 0;; ++terms) {
      if (terms > deepest_formula) fail("fewer factors");
      if (takes("//"))
        result = SizeFormula::of(FormulaOp::divide, result, factor(depth));
      else if (takes("*"))
        result = result * factor(depth);
      else if (takes("%"))
        result = SizeFormula::of(FormulaOp::remainder, result, factor(depth));
      else
        return result;
    }
  }

  SizeFormula factor(int depth) {
    if (depth > deepest_formula) fail("less nesting");
    if (takes("-")) return number_after_minus(depth);
    if (takes("(")) {
      const SizeFormula inner = sum(depth + 1);
      must_take(")");
      return inner;
    }
    skip_spaces();
    if (at_ < text_.size() && is_digit_of_number(text_[at_])) return number();
    const std::size_t first = at_;
    while (at_ < text_.size() && (is_letter_of_name(text_[at_]) || is_digit_of_number(text_[at_]))) ++at_;
    const std::string name = text_.substr(first, at_ - first);
    if (name.empty()) fail("a number or a name");
    if (name == "min" || name == "max") {
      must_take("(");
      const SizeFormula a = sum(depth + 1);
      must_take(",");
      const SizeFormula b = sum(depth + 1);
      must_take(")");
      return SizeFormula::of(name == "min" ? FormulaOp::minimum : FormulaOp::maximum, a, b);
    }
    for (std::size_t i = 0; i < symbols_.size(); ++i)
      if (symbols_[i].name == name) return SizeFormula::symbol(i);
    throw ValueError(concat("formula '", text_, "': there is no symbol named ", name));
  }

  SizeFormula number_after_minus(int depth) { return SizeFormula(-1) * factor(depth + 1); }

  SizeFormula number() {
    std::int64_t value = 0;
    for (; at_ < text_.size() && is_digit_of_number(text_[at_]); ++at_)
      if (!try_multiply(value, 10, value) || !try_add(value, text_[at_] - '0', value))
        fail("a smaller number");
    return value;
  }

  const std::string& text_;
  const std::vector<ProgramSymbol>& symbols_;
  std::size_t at_ = 0;
};

}  // namespace

SizeFormula SizeFormula::parsed(const std::string& text, const std::vector<ProgramSymbol>& symbols) {
  return FormulaParser(text, symbols).whole();
}

double NumberFormula::real(const std::vector<std::int64_t>& sizes) const {
  const auto above = static_cast<double>(numerator.value(sizes));
  const double quotient = denominator ? above / static_cast<double>(denominator->value(sizes)) : above;
  return is_single ? static_cast<double>(static_cast<float>(quotient)) : quotient;
}

std::string NumberFormula::text(const std::vector<ProgramSymbol>& symbols) const {
  if (!denominator) return numerator.text(symbols);
  const auto part = [&](const SizeFormula& formula) {
    const std::string text = formula.text(symbols);
    return text.find_first_of(" *") == std::string::npos ? text : "(" + text + ")";
  };
  return part(numerator) + " / " + part(*denominator);
}

}  // namespace dlprim
