#include "dlprim/ops/pointwise/formula.h"

#include <array>
#include <cctype>
#include <cstdlib>
#include <string_view>

#include "dlprim/core/error.h"

namespace dlprim {
namespace {

/** The operators of two operands, those that bind least first. */
constexpr std::array<std::array<std::string_view, 4>, 6> levels{{
    {"||"},
    {"&&"},
    {"==", "!="},
    {"<=", ">=", "<", ">"},
    {"+", "-"},
    {"*", "/"},
}};

class Parser {
 public:
  explicit Parser(const std::string& text) : text_(text) {}

  Formula whole() {
    Formula formula = choice();
    if (!rest().empty()) fail();
    return formula;
  }

 private:
  [[noreturn]] void fail() {
    throw ValueError("cannot read the expression '" + text_ + "' from character " + std::to_string(at_));
  }

  std::string_view rest() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    return std::string_view(text_).substr(at_);
  }
  bool take(std::string_view token) {
    if (rest().substr(0, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!take(token)) fail();
  }

  static Formula call(std::string_view name, std::vector<Formula> parts) {
    return {Formula::Kind::call, 0, false, std::string(name), std::move(parts)};
  }

  Formula choice() {
    Formula condition = binary(0);
    if (!take("?")) return condition;
    Formula yes = choice();
    expect(":");
    return call("?:", {std::move(condition), std::move(yes), choice()});
  }

  Formula binary(std::size_t level) {
    if (level == levels.size()) return unary();
    Formula left = binary(level + 1);
    for (std::string_view name = take_one_of(level); !name.empty(); name = take_one_of(level))
      left = call(name, {std::move(left), binary(level + 1)});
    return left;
  }
  std::string_view take_one_of(std::size_t level) {
    for (const std::string_view name : levels[level])
      if (!name.empty() && take(name)) return name;
    return {};
  }

  Formula unary() {
    if (take("-")) return call("neg", {unary()});
    if (rest().substr(0, 2) != "!=" && take("!")) return call("!", {unary()});
    if (take("(T)")) return unary();
    if (take("(")) {
      Formula inner = choice();
      expect(")");
      return inner;
    }
    const char first = rest().empty() ? '\0' : rest().front();
    if (std::isdigit(static_cast<unsigned char>(first))) return number();
    return named();
  }

  Formula number() {
    char* end = nullptr;
    const double value = std::strtod(text_.c_str() + at_, &end);
    at_ = static_cast<std::size_t>(end - text_.c_str());
    return {Formula::Kind::number, value, take("f"), {}, {}};
  }

  Formula named() {
    const std::string_view from = rest();
    std::size_t size = 0;
    while (size < from.size() && (std::isalnum(static_cast<unsigned char>(from[size])) || from[size] == '_'))
      ++size;
    if (size == 0) fail();
    const std::string name(from.substr(0, size));
    at_ += size;
    if (!take("(")) return {Formula::Kind::variable, 0, false, name, {}};
    std::vector<Formula> parts;
    do parts.push_back(choice());
    while (take(","));
    expect(")");
    return call(name, std::move(parts));
  }

  const std::string& text_;
  std::size_t at_ = 0;
};

}  // namespace

Formula parse_formula(const std::string& expression) {
  return Parser(expression).whole();
}

}  // namespace dlprim
