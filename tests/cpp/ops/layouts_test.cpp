#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "tests/cpp/ops/layouts/cases.h"

// No function of dlprim gives wrong numbers for tensors that are strided, offset, empty or expanded: it takes
// them, or it refuses them.
namespace testing_support {
namespace {

LayoutCases all_cases() {
  LayoutCases all;
  for (const auto& family : {element_cases, row_cases, norm_cases, loss_cases, matrix_cases, plane_cases,
                             volume_cases, index_cases, box_cases, training_cases, int8_cases}) {
    const LayoutCases cases = family();
    all.insert(all.end(), cases.begin(), cases.end());
  }
  return all;
}

class Layouts : public testing::TestWithParam<LayoutCase> {};

TEST_P(Layouts, AreTakenOrRefused) {
  constexpr unsigned draws = 16;
  for (unsigned seed = 0; seed < draws && !HasFailure(); ++seed) check_layouts(GetParam(), seed);
}

INSTANTIATE_TEST_SUITE_P(Functions, Layouts, testing::ValuesIn(all_cases()),
                         [](const auto& parameter) { return parameter.param.function; });

/** The functions that begin with ENTER in the sources of dlprim. */
std::set<std::string> functions_in_sources() {
  std::set<std::string> functions;
  const std::regex enter(R"(\n  ENTER\((\w+), queue)");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(DLPRIM_SOURCES)) {
    if (entry.path().extension() != ".cpp") continue;
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    const std::string source = text.str();
    for (std::sregex_iterator match(source.begin(), source.end(), enter), end; match != end; ++match)
      functions.insert((*match)[1]);
  }
  return functions;
}

TEST(LayoutCases, AreThereForEveryFunction) {
  std::set<std::string> cases;
  for (const LayoutCase& c : all_cases()) cases.insert(c.function);
  const std::set<std::string> functions = functions_in_sources();
  EXPECT_GT(functions.size(), 50u) << "no sources in " << DLPRIM_SOURCES;
  for (const std::string& function : functions)
    EXPECT_TRUE(cases.count(function)) << function << " has no case in tests/cpp/ops/layouts";
  for (const std::string& function : cases)
    EXPECT_TRUE(functions.count(function)) << function << " has a case, and is no more";
}

}  // namespace
}  // namespace testing_support
