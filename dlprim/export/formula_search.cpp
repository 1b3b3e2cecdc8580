#include "dlprim/export/formula_search.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "dlprim/core/checked.h"
#include "dlprim/core/error.h"

namespace dlprim {
namespace {

using Values = FormulaSearch::Values;
using FormulaOp = SizeFormula::Op;
__extension__ typedef __int128 Wide;

constexpr std::size_t most_products = 6000, most_summands = 120, most_dividends = 400;
constexpr int greatest_degree = 4, greatest_degree_of_symbols = 6;
constexpr std::int64_t greatest_divisor = 64;
constexpr std::int64_t greatest_part = std::int64_t{1} << 40;  // so that products of three fit into Wide

bool are_equal(const Values& values) {
  return std::all_of(values.begin(), values.end(), [&](std::int64_t v) { return v == values.front(); });
}

std::int64_t floor_of_quotient(Wide a, std::int64_t b) {
  const Wide quotient = a / b;
  return static_cast<std::int64_t>(a % b != 0 && a < 0 ? quotient - 1 : quotient);
}

/** a*formula + b. */
SizeFormula scaled(std::int64_t a, const SizeFormula& formula, std::int64_t b = 0) {
  return SizeFormula(a) * formula + SizeFormula(b);
}

SizeFormula divided(const SizeFormula& formula, std::int64_t by) {
  return SizeFormula::of(FormulaOp::divide, formula, by);
}

}  // namespace

FormulaSearch::FormulaSearch(const std::vector<ProgramSymbol>& symbols,
                             std::vector<std::vector<std::int64_t>> samples, bool is_exhaustive)
    : samples_(std::move(samples)), is_exhaustive_(is_exhaustive) {
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    Values values;
    for (const std::vector<std::int64_t>& sizes : samples_) values.push_back(sizes.at(i));
    if (!are_equal(values)) parts_.push_back({SizeFormula::symbol(i), std::move(values), 1});
  }
  symbols_ = parts_.size();
  make_products();
}

void FormulaSearch::make_products() {
  const int most = parts_.size() <= 12 ? greatest_degree : parts_.size() <= 24 ? 3 : 2;
  products_.clear();
  std::vector<std::pair<Part, std::size_t>> latest;  // with the last of its parts
  for (std::size_t i = 0; i < parts_.size(); ++i) latest.emplace_back(parts_[i], i);
  for (int degree = 1; !latest.empty() && products_.size() < most_products; ++degree) {
    std::vector<std::pair<Part, std::size_t>> next;
    for (const auto& [product, last] : latest) {
      if (products_.size() >= most_products) return;
      products_.push_back(product);
      for (std::size_t i = last; i < parts_.size(); ++i) {
        if (degree >= (i < symbols_ ? greatest_degree_of_symbols : most)) break;
        Values values = product.values;
        bool fits = true;
        for (std::size_t k = 0; k < values.size(); ++k)
          fits = fits && try_multiply(values[k], parts_[i].values[k], values[k]) &&
                 std::abs(values[k]) < greatest_part;
        if (fits) next.push_back({{product.formula * parts_[i].formula, std::move(values), degree + 1}, i});
      }
    }
    latest = std::move(next);
  }
}

void FormulaSearch::add_part(const SizeFormula& formula, const Values& values) {
  for (const Part& product : products_)
    if (product.values == values) return;
  parts_.push_back({formula, values, 1});
  make_products();
}

void FormulaSearch::know(const SizeFormula& formula) {
  Values values;
  try {
    for (const std::vector<std::int64_t>& sizes : samples_) values.push_back(formula.value(sizes));
  } catch (const ValueError&) {
    return;
  }
  if (!are_equal(values)) found_.emplace(std::move(values), formula);
}

void FormulaSearch::know(const NumberFormula& formula) {
  if (!formula.denominator) return know(formula.numerator);
  std::vector<double> values;
  for (const std::vector<std::int64_t>& sizes : samples_) values.push_back(formula.real(sizes));
  if (std::none_of(values.begin(), values.end(), [](double v) { return std::isnan(v); }))
    real_.emplace(std::move(values), formula);
}

std::optional<SizeFormula> FormulaSearch::find(const Values& values, bool is_size) {
  if (are_equal(values)) return SizeFormula(values.front());
  const auto known = found_.find(values);
  const std::optional<SizeFormula> formula = known != found_.end() ? known->second : search(values);
  found_.emplace(values, formula);
  if (formula && is_size && !product(values)) add_part(*formula, values);
  return formula;
}

std::optional<SizeFormula> FormulaSearch::search(const Values& values) {
  if (auto formula = product(values)) return formula;
  const auto is_large = [](std::int64_t v) { return std::abs(v) >= greatest_part * 1024; };
  if (std::any_of(values.begin(), values.end(), is_large)) return std::nullopt;
  if (auto formula = line(values)) return formula;
  wants_samples_ = true;
  const auto [rounded, is_only] = quotient(values);
  if (rounded && is_only) return rounded;
  if (auto formula = sum_of_two(values)) return formula;
  if (auto formula = bounded(values)) return formula;
  if (auto formula = remainder(values)) return formula;
  if (auto formula = product_with_quotient(values)) return formula;
  return rounded;
}

/** c*p, for a product p of parts. */
std::optional<SizeFormula> FormulaSearch::product(const Values& values) const {
  if (!may_have(1)) return std::nullopt;
  for (const Part& part : products_) {
    const std::int64_t first = part.values.front();
    if (first == 0 || values.front() % first != 0) continue;
    const std::int64_t factor = values.front() / first;
    bool fits = factor != 0;
    for (std::size_t k = 0; fits && k < values.size(); ++k)
      fits = static_cast<Wide>(part.values[k]) * factor == values[k];
    if (fits) return scaled(factor, part.formula);
  }
  return std::nullopt;
}

/** (a*p + b) / c without a remainder. */
std::optional<SizeFormula> FormulaSearch::line(const Values& values) const {
  if (!may_have(2)) return std::nullopt;
  for (const Part& part : products_) {
    std::size_t other = 1;
    while (other < values.size() && part.values[other] == part.values[0]) ++other;
    if (other == values.size()) continue;
    std::int64_t across = part.values[other] - part.values[0], up = values[other] - values[0];
    if (up == 0) continue;
    const std::int64_t shared = std::gcd(across, up) * (across < 0 ? -1 : 1);
    across /= shared, up /= shared;
    const Wide base = static_cast<Wide>(values[0]) * across - static_cast<Wide>(up) * part.values[0];
    if (base > greatest_part || base < -greatest_part) continue;
    bool fits = true;
    for (std::size_t k = 0; fits && k < values.size(); ++k)
      fits = static_cast<Wide>(values[k]) * across == static_cast<Wide>(up) * part.values[k] + base;
    if (fits) return divided(scaled(up, part.formula, static_cast<std::int64_t>(base)), across);
  }
  return std::nullopt;
}

/** a*p + b*q + c. */
std::optional<SizeFormula> FormulaSearch::sum_of_two(const Values& values) const {
  if (!may_have(3)) return std::nullopt;
  const std::size_t count = std::min(products_.size(), most_summands), samples = values.size();
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = i + 1; j < count; ++j) {
      const Values &p = products_[i].values, &q = products_[j].values;
      for (std::size_t s = 1; s + 1 < samples; ++s) {
        const Wide p1 = p[s] - p[0], q1 = q[s] - q[0], v1 = values[s] - values[0];
        const Wide p2 = p[s + 1] - p[0], q2 = q[s + 1] - q[0], v2 = values[s + 1] - values[0];
        const Wide determinant = p1 * q2 - p2 * q1;
        if (determinant == 0) continue;
        const Wide a = v1 * q2 - v2 * q1, b = p1 * v2 - p2 * v1;
        if (a % determinant != 0 || b % determinant != 0) break;
        const auto factor = static_cast<std::int64_t>(a / determinant),
                   other = static_cast<std::int64_t>(b / determinant);
        if (std::abs(factor) > greatest_part || std::abs(other) > greatest_part) break;
        const Wide base = values[0] - static_cast<Wide>(factor) * p[0] - static_cast<Wide>(other) * q[0];
        bool fits = base < greatest_part && -base < greatest_part;
        for (std::size_t k = 0; fits && k < samples; ++k)
          fits = static_cast<Wide>(factor) * p[k] + static_cast<Wide>(other) * q[k] + base == values[k];
        if (fits)
          return scaled(factor, products_[i].formula) +
                 scaled(other, products_[j].formula, static_cast<std::int64_t>(base));
        break;
      }
    }
  return std::nullopt;
}

/** g * ((a*p + b) // c): first of parts with a = 1, as strides of convolutions have it. */
FormulaSearch::Quotient FormulaSearch::quotient(const Values& values) const {
  if (!may_have(3)) return {};
  Quotient found = quotient_of(parts_, parts_.size(), true, values);
  if (!found.first) found = quotient_of(products_, std::min(products_.size(), most_dividends), false, values);
  return found;
}

FormulaSearch::Quotient FormulaSearch::quotient_of(const std::vector<Part>& dividends, std::size_t count,
                                                   bool only_ones, const Values& values) const {
  std::int64_t shared = 0;
  for (const std::int64_t value : values) shared = std::gcd(shared, value);
  if (shared == 0) return {};
  std::optional<SizeFormula> vague;  // other numbers give these values too
  for (std::size_t i = 0; i < count; ++i) {
    const Values& p = dividends[i].values;
    const auto ends = std::minmax_element(p.begin(), p.end());
    const auto low = static_cast<std::size_t>(ends.first - p.begin());
    const auto high = static_cast<std::size_t>(ends.second - p.begin());
    if (p[low] == p[high]) continue;
    const double slope = static_cast<double>(values[high] - values[low]) / static_cast<double>(shared) /
                         static_cast<double>(p[high] - p[low]);
    for (std::int64_t divisor = 2; divisor <= greatest_divisor; ++divisor) {
      const auto factor =
          only_ones ? 1 : static_cast<std::int64_t>(std::llround(slope * static_cast<double>(divisor)));
      if (factor == 0 || std::gcd(factor, divisor) != 1) continue;
      Wide least = -greatest_part, most = greatest_part;  // of b
      for (std::size_t k = 0; least <= most && k < p.size(); ++k) {
        const Wide rest = static_cast<Wide>(values[k] / shared) * divisor - static_cast<Wide>(factor) * p[k];
        least = std::max(least, rest);
        most = std::min(most, rest + divisor - 1);
      }
      if (least > most) continue;
      const auto fits = [&](Wide base) { return least <= base && base <= most; };
      const Wide base = fits(0) ? 0 : fits(divisor - 1) ? divisor - 1 : least;  // rounds down, or up
      const SizeFormula formula = scaled(
          shared, divided(scaled(factor, dividends[i].formula, static_cast<std::int64_t>(base)), divisor));
      if (least == most || is_exhaustive_) return {formula, true};
      if (!vague || base == 0) vague = formula;
      break;  // greater divisors are vaguer
    }
  }
  return {vague, false};
}

/** A product of two quotients of symbols, as the count of windows of an image, or of one and a product. */
std::optional<SizeFormula> FormulaSearch::product_with_quotient(const Values& values) const {
  if (!may_have(8)) return std::nullopt;  // a guess that only many samples check
  for (std::size_t i = 0; i < symbols_; ++i)
    for (std::int64_t divisor = 1; divisor <= greatest_divisor; ++divisor)
      for (std::int64_t base = -divisor * 4; base <= divisor * 4; ++base) {
        Values rest;
        for (std::size_t k = 0; k < values.size(); ++k) {
          const std::int64_t part = floor_of_quotient(static_cast<Wide>(parts_[i].values[k]) + base, divisor);
          if (part <= 0 || values[k] % part != 0) break;
          rest.push_back(values[k] / part);
        }
        if (rest.size() < values.size() || are_equal(rest)) continue;
        std::optional<SizeFormula> other = product(rest);
        if (!other) other = line(rest);
        if (!other) other = quotient_of(parts_, symbols_, true, rest).first;
        if (other) return divided(scaled(1, parts_[i].formula, base), divisor) * *other;
      }
  return std::nullopt;
}

/** (a*p + b) % c. */
std::optional<SizeFormula> FormulaSearch::remainder(const Values& values) const {
  if (!may_have(4)) return std::nullopt;
  const std::int64_t least = *std::min_element(values.begin(), values.end());
  const std::int64_t most = *std::max_element(values.begin(), values.end());
  if (least < 0 || most >= greatest_divisor) return std::nullopt;
  for (const Part& part : parts_)
    for (std::int64_t divisor = most + 1; divisor <= greatest_divisor; ++divisor)
      for (const std::int64_t factor : {std::int64_t{1}, std::int64_t{-1}})
        for (std::int64_t base = 0; base < divisor; ++base) {
          bool fits = true;
          for (std::size_t k = 0; fits && k < values.size(); ++k) {
            const std::int64_t dividend = factor * part.values[k] + base;
            fits = dividend - floor_of_quotient(dividend, divisor) * divisor == values[k];
          }
          if (fits) return SizeFormula::of(FormulaOp::remainder, scaled(factor, part.formula, base), divisor);
        }
  return std::nullopt;
}

/** min(a*p + b, c) or max(a*p + b, c). */
std::optional<SizeFormula> FormulaSearch::bounded(const Values& values) const {
  const auto ends = std::minmax_element(values.begin(), values.end());
  for (const bool is_above : {true, false}) {
    const std::int64_t bound = is_above ? *ends.second : *ends.first;
    for (const Part& part : products_) {
      std::vector<std::size_t> free;
      for (std::size_t k = 0; k < values.size(); ++k)
        if (values[k] != bound) free.push_back(k);
      if (free.size() < 3 || free.size() + 1 >= values.size()) break;
      std::size_t other = 1;
      while (other < free.size() && part.values[free[other]] == part.values[free[0]]) ++other;
      if (other == free.size()) continue;
      const std::int64_t across = part.values[free[other]] - part.values[free[0]];
      const std::int64_t up = values[free[other]] - values[free[0]];
      if (up % across != 0) continue;
      const std::int64_t factor = up / across;
      const Wide base = values[free[0]] - static_cast<Wide>(factor) * part.values[free[0]];
      bool fits = factor != 0 && base < greatest_part && -base < greatest_part;
      for (std::size_t k = 0; fits && k < values.size(); ++k) {
        const Wide made = static_cast<Wide>(factor) * part.values[k] + base;
        fits = (is_above ? std::min<Wide>(made, bound) : std::max<Wide>(made, bound)) == values[k];
      }
      if (fits)
        return SizeFormula::of(is_above ? FormulaOp::minimum : FormulaOp::maximum,
                               scaled(factor, part.formula, static_cast<std::int64_t>(base)), bound);
    }
  }
  return std::nullopt;
}

// ---- real numbers

bool FormulaSearch::gives(const NumberFormula& formula, const std::vector<double>& values) const {
  for (std::size_t k = 0; k < values.size(); ++k)
    if (formula.real(samples_[k]) != values[k]) return false;
  return true;
}

std::optional<NumberFormula> FormulaSearch::real_of(const std::vector<double>& numerators,
                                                    const std::vector<double>& denominators,
                                                    const std::vector<double>& values) {
  const bool wanted_samples = wants_samples_;
  Values above, below;
  for (std::size_t k = 0; k < values.size(); ++k) {
    for (const double number : {numerators[k], denominators[k]})
      if (!(std::abs(number) < 9e15) || std::abs(number - std::round(number)) > 1e-6 * std::abs(number))
        return std::nullopt;
    above.push_back(std::llround(numerators[k]));
    below.push_back(std::llround(denominators[k]));
  }
  const auto numerator = find(above), denominator = find(below);
  for (const bool is_single : {false, true})
    if (numerator && denominator)
      if (const NumberFormula formula{*numerator, *denominator, is_single}; gives(formula, values))
        return formula;
  wants_samples_ = wanted_samples;  // a guess that was none
  return std::nullopt;
}

std::optional<NumberFormula> FormulaSearch::find_real(const std::vector<double>& values) {
  const auto known = real_.find(values);
  if (known != real_.end()) return known->second;
  if (std::any_of(values.begin(), values.end(), [](double v) { return !std::isfinite(v); }))
    return std::nullopt;
  const std::vector<double> ones(values.size(), 1.0);
  const auto each = [&](const auto& make) {
    std::vector<double> made;
    for (std::size_t k = 0; k < values.size(); ++k) made.push_back(make(k));
    return made;
  };
  std::optional<NumberFormula> found;
  for (int number = 1; number <= greatest_divisor && !found; ++number) {
    const std::vector<double> numbers(values.size(), number);
    found = real_of(each([&](std::size_t k) { return values[k] * number; }), numbers, values);
    if (!found) found = real_of(numbers, each([&](std::size_t k) { return number / values[k]; }), values);
  }
  for (std::size_t i = 0; i < parts_.size() && !found; ++i) {
    const Values part = parts_[i].values;
    const auto divisors = each([&](std::size_t k) { return static_cast<double>(part[k]); });
    found = real_of(each([&](std::size_t k) { return values[k] * divisors[k]; }), divisors, values);
  }
  if (found) real_.emplace(values, *found);
  return found;
}

}  // namespace dlprim
