#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "dlprim/export/size_formula.h"

namespace dlprim {

/**
 * Finds the formulas of numbers by their values at several sizes of the symbols (samples). It knows products
 * of symbols and of sizes found before, their sums of two with a constant, quotients that round down,
 * remainders, and least and greatest. A formula has to give the values of all samples, which are more than it
 * has numbers of its own: the others check it.
 */
class FormulaSearch {
 public:
  using Values = std::vector<std::int64_t>;  // one for each sample

  /** `is_exhaustive`: there are no other sizes, so that few samples do. */
  FormulaSearch(const std::vector<ProgramSymbol>& symbols, std::vector<std::vector<std::int64_t>> samples,
                bool is_exhaustive);

  /** The formula, or none. That of a size of a tensor becomes a part of later ones. */
  std::optional<SizeFormula> find(const Values& values, bool is_size = false);
  std::optional<NumberFormula> find_real(const std::vector<double>& values);
  /** A formula that is to be found for its values, before others. */
  void know(const SizeFormula& formula);
  void know(const NumberFormula& formula);

  /** Whether a formula was taken that is more than a product or a line, so that few samples may mislead. */
  bool wants_samples() const { return wants_samples_; }

 private:
  struct Part {
    SizeFormula formula;
    Values values;
    int degree;
  };

  /** A quotient, and whether no other numbers give the values. */
  using Quotient = std::pair<std::optional<SizeFormula>, bool>;

  std::optional<SizeFormula> search(const Values& values);
  std::optional<SizeFormula> product(const Values& values) const;
  std::optional<SizeFormula> line(const Values& values) const;
  std::optional<SizeFormula> sum_of_two(const Values& values) const;
  Quotient quotient(const Values& values) const;
  Quotient quotient_of(const std::vector<Part>& dividends, std::size_t count, bool only_ones,
                       const Values& values) const;
  std::optional<SizeFormula> product_with_quotient(const Values& values) const;
  std::optional<SizeFormula> remainder(const Values& values) const;
  std::optional<SizeFormula> bounded(const Values& values) const;
  bool may_have(std::size_t numbers) const { return is_exhaustive_ || samples_.size() > numbers; }
  bool gives(const NumberFormula& formula, const std::vector<double>& values) const;
  std::optional<NumberFormula> real_of(const std::vector<double>& numerators,
                                       const std::vector<double>& denominators,
                                       const std::vector<double>& values);
  void add_part(const SizeFormula& formula, const Values& values);
  void make_products();

  std::vector<std::vector<std::int64_t>> samples_;
  bool is_exhaustive_, wants_samples_ = false;
  std::size_t symbols_ = 0;
  std::vector<Part> parts_;     // symbols first
  std::vector<Part> products_;  // of parts, by degree
  std::map<Values, std::optional<SizeFormula>> found_;
  std::map<std::vector<double>, NumberFormula> real_;
};

}  // namespace dlprim
