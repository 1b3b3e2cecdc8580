#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dlprim {

/** A size of a program's inputs that changes from run to run, and its bounds, both included. */
struct ProgramSymbol {
  std::string name;
  std::int64_t min = 1, max = 1;
};

/** Whether a symbol may have that name: a short identifier, and none of the words of formulas. */
bool is_symbol_name(const std::string& name);

/**
 * A whole number that follows from the values of symbols: "3*batch*length + 2", "(side + 1) // 2". A value;
 * copies share their parts. Symbols are indices into a list that the caller keeps.
 */
class SizeFormula {
 public:
  enum class Op { constant, symbol, add, multiply, divide, remainder, minimum, maximum };

  /** A number. */
  SizeFormula(std::int64_t value = 0);
  /** The symbol of that index. */
  static SizeFormula symbol(std::size_t index);
  /** Numbers are computed at once. Division rounds down, and remainders have the divisor's sign (Python). */
  static SizeFormula of(Op op, const SizeFormula& a, const SizeFormula& b);

  /** Reads text() again: + - * // % ( ) min(a, b) max(a, b), numbers and names. Throws ValueError, with the
   * place, for anything else, for unknown names, and for texts that are too long or nested too deep. */
  static SizeFormula parsed(const std::string& text, const std::vector<ProgramSymbol>& symbols);
  std::string text(const std::vector<ProgramSymbol>& symbols) const;

  /** Its value. Throws ValueError where 64 bits do not hold it or a part of it, and for a division by 0. */
  std::int64_t value(const std::vector<std::int64_t>& sizes) const;
  /** Numbers that it never goes below or above while each symbol keeps to its bounds. Where no symbol is
   * subtracted these are its least and its greatest value. Throws as value(). */
  std::pair<std::int64_t, std::int64_t> bounds(const std::vector<ProgramSymbol>& symbols) const;

  /** The number, where it is one. */
  std::optional<std::int64_t> constant() const;
  /** The index, where it is a symbol alone. */
  std::optional<std::size_t> symbol_index() const;

 private:
  struct Node;
  explicit SizeFormula(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  std::string text(const std::vector<ProgramSymbol>& symbols, int precedence) const;

  std::shared_ptr<const Node> node_;
};

inline SizeFormula operator+(const SizeFormula& a, const SizeFormula& b) {
  return SizeFormula::of(SizeFormula::Op::add, a, b);
}
inline SizeFormula operator*(const SizeFormula& a, const SizeFormula& b) {
  return SizeFormula::of(SizeFormula::Op::multiply, a, b);
}

/**
 * A number of a call or a tensor that follows from the symbols: a whole number, or a quotient of two for
 * arguments that are real ("1 / (batch*49)"). The quotient is rounded to float32 where the argument is one.
 */
struct NumberFormula {
  SizeFormula numerator;
  std::optional<SizeFormula> denominator{};  // of real numbers
  bool is_single = false;

  double real(const std::vector<std::int64_t>& sizes) const;
  std::string text(const std::vector<ProgramSymbol>& symbols) const;
};

}  // namespace dlprim
