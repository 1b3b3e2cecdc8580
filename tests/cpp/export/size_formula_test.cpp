// Formulas of sizes: their texts, values and bounds, and how they are found.
#include "dlprim/export/size_formula.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "dlprim/core/error.h"
#include "dlprim/export/formula_search.h"

using namespace dlprim;

namespace {

const std::vector<ProgramSymbol> symbols = {{"batch", 1, 64}, {"side", 8, 300}};

std::int64_t value(const std::string& text, std::int64_t batch, std::int64_t side) {
  return SizeFormula::parsed(text, symbols).value({batch, side});
}

void expect_refused(const std::string& text, const std::string& part) {
  try {
    SizeFormula::parsed(text, symbols).value({3, 40});
    FAIL() << text << " was read";
  } catch (const ValueError& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

/** The text of the formula that the search finds for another's values at random sizes. */
std::string found(const std::string& text, std::vector<std::string> parts = {}) {
  std::mt19937 random(1);
  std::vector<std::vector<std::int64_t>> samples;
  for (int i = 0; i < 80; ++i)
    samples.push_back(
        {2 + static_cast<std::int64_t>(random() % 63), 8 + static_cast<std::int64_t>(random() % 293)});
  FormulaSearch search(symbols, samples, false);
  const auto values_of = [&](const std::string& formula) {
    FormulaSearch::Values values;
    for (const auto& sizes : samples) values.push_back(value(formula, sizes[0], sizes[1]));
    return values;
  };
  for (const std::string& part : parts) EXPECT_TRUE(search.find(values_of(part), true)) << part;
  const auto formula = search.find(values_of(text));
  if (!formula) return "";
  for (std::int64_t batch = 1; batch <= 64; ++batch)
    for (std::int64_t side = 8; side <= 300; ++side)
      if (formula->value({batch, side}) != value(text, batch, side)) {
        ADD_FAILURE() << text << " became " << formula->text(symbols);
        return "";
      }
  return formula->text(symbols);
}

}  // namespace

TEST(SizeFormulas, TextsAreReadAsPythonReadsThem) {
  EXPECT_EQ(value("3*batch*side + 2", 5, 7), 107);
  EXPECT_EQ(value("(side - 3) // 2 + 1", 1, 8), 3);
  EXPECT_EQ(value("-7 // 2", 1, 8), -4);
  EXPECT_EQ(value("-7 % 3", 1, 8), 2);
  EXPECT_EQ(value("7 // -2 + 7 % -2", 1, 8), -5);
  EXPECT_EQ(value("min(batch, 4) + max(side - 10, 0)", 9, 12), 6);
  EXPECT_EQ(value("2 - batch - 1", 5, 8), -4);
  EXPECT_EQ(value("side // 2 * 2", 1, 9), 8);
  EXPECT_EQ(value(" -( batch )", 5, 8), -5);
}

TEST(SizeFormulas, TextsComeBack) {
  for (const char* text :
       {"3*batch*side + 2", "(side - 3) // 2 + 1", "batch*(side // (2*batch))", "min(batch, 4)",
        "max(side - 10, 0)*3", "(batch + side) % 7", "batch - 1", "(-3)*batch"}) {
    const SizeFormula formula = SizeFormula::parsed(text, symbols);
    const SizeFormula again = SizeFormula::parsed(formula.text(symbols), symbols);
    EXPECT_EQ(formula.text(symbols), again.text(symbols));
    for (std::int64_t batch = 1; batch < 9; ++batch)
      for (std::int64_t side = 8; side < 30; ++side)
        EXPECT_EQ(formula.value({batch, side}), again.value({batch, side})) << text;
  }
}

TEST(SizeFormulas, WhatIsNoFormulaIsRefused) {
  expect_refused("", "a number or a name");
  expect_refused("batch +", "a number or a name");
  expect_refused("batch side", "the end");
  expect_refused("(batch", ")");
  expect_refused("min(batch)", ",");
  expect_refused("depth", "no symbol named depth");
  expect_refused("99999999999999999999", "smaller number");
  expect_refused("batch / 2", "the end");
  expect_refused("batch // (batch - 3)", "by 0");
  expect_refused("batch % 0", "by 0");
  expect_refused("9223372036854775807 + batch", "overflows");
  expect_refused("9223372036854775807 * batch", "overflows");
  expect_refused("(-9223372036854775807 - 1) // -1", "overflows");
  expect_refused(std::string(3000, '('), "characters");
  expect_refused(std::string(1000, '('), "less nesting");
  expect_refused(std::string(1000, '-') + "1", "less nesting");
}

TEST(SizeFormulas, BoundsHoldEveryValue) {
  for (const char* text :
       {"batch*side", "side - batch", "(side - 3) // 2 + 1", "batch % 7", "batch*(64 - batch)",
        "min(batch, side) - max(batch, 9)", "(0 - side) // 3", "side // batch"}) {
    const SizeFormula formula = SizeFormula::parsed(text, symbols);
    const auto [least, greatest] = formula.bounds(symbols);
    for (std::int64_t batch = 1; batch <= 64; ++batch)
      for (std::int64_t side = 8; side <= 300; ++side) {
        EXPECT_LE(least, formula.value({batch, side})) << text;
        EXPECT_GE(greatest, formula.value({batch, side})) << text;
      }
  }
  EXPECT_EQ(SizeFormula::parsed("3*batch*side", symbols).bounds(symbols).second, 3 * 64 * 300);
  EXPECT_THROW(SizeFormula::parsed("side // (batch - 5)", symbols).bounds(symbols), ValueError);
}

TEST(FormulaSearches, FindWhatSizesAreMadeOf) {
  EXPECT_EQ(found("batch"), "batch");
  EXPECT_EQ(found("147*batch"), "147*batch");
  EXPECT_EQ(found("3*batch*side*side"), "3*batch*side*side");
  EXPECT_NE(found("batch*side - side"), "");
  EXPECT_NE(found("2*side + 5*batch - 7"), "");
  EXPECT_NE(found("(side - 1) // 2 + 1"), "");
  EXPECT_NE(found("(side + 5) // 16 * 3"), "");
  EXPECT_NE(found("(3*side) // 2"), "");
  EXPECT_NE(found("side % 3"), "");
  EXPECT_NE(found("min(side, 100)"), "");
  EXPECT_NE(found("max(side - 50, 0)"), "");
  EXPECT_NE(found("64*batch*((side - 1) // 2 + 1)*((side - 1) // 2 + 1)", {"(side - 1) // 2 + 1"}), "");
  EXPECT_NE(found("((side - 1) // 2 + 1 - 1) // 2 + 1", {"(side - 1) // 2 + 1"}), "");
}

TEST(FormulaSearches, RealNumbersAreQuotients) {
  std::vector<std::vector<std::int64_t>> samples;
  for (std::int64_t i = 0; i < 12; ++i) samples.push_back({2 + 5 * i, 9 + 7 * i * i % 290});
  FormulaSearch search(symbols, samples, false);
  std::vector<double> mean, ratio, root;
  std::vector<double> single;
  for (const auto& sizes : samples) {
    mean.push_back(1.0 / static_cast<double>(sizes[0] * sizes[1] * 49));
    ratio.push_back(static_cast<double>(sizes[1]) / static_cast<double>(sizes[0]));
    single.push_back(static_cast<double>(1.0F / static_cast<float>(sizes[0])));
    root.push_back(std::sqrt(static_cast<double>(sizes[0])));
  }
  ASSERT_TRUE(search.find_real(mean));
  EXPECT_EQ(search.find_real(mean)->real({3, 50}), 1.0 / (3 * 50 * 49));
  ASSERT_TRUE(search.find_real(ratio));
  EXPECT_EQ(search.find_real(ratio)->real({7, 50}), 50.0 / 7.0);
  ASSERT_TRUE(search.find_real(single));
  EXPECT_EQ(search.find_real(single)->real({7, 50}), static_cast<double>(1.0F / 7.0F));
  EXPECT_FALSE(search.find_real(root));
}
