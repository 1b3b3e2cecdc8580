#include "dlprim/runtime/kernel_warnings.h"

#include <gtest/gtest.h>

using namespace dlprim;

namespace {

TEST(KernelWarnings, AreThoseOfAPlaceInTheSource) {
  const char* of_source = "input.cl:3:5: warning: unused variable 'a'\n";
  const char* of_no_place = "Device build done\nwarning: <unknown>:0:0: loop not vectorized\n";
  EXPECT_TRUE(warns_of_source(of_source));
  EXPECT_FALSE(warns_of_source(of_no_place));
  EXPECT_TRUE(warns_of_source(std::string(of_no_place) + of_source + of_no_place));
  EXPECT_TRUE(warns_of_source("1 warning generated."));
  EXPECT_FALSE(warns_of_source(""));
}

}  // namespace
