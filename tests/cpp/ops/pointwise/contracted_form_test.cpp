#include "dlprim/ops/pointwise/contracted_form.h"

#include <gtest/gtest.h>

#include "dlprim/ops/pointwise/table.h"

using namespace dlprim;

namespace {

TEST(ContractedForm, NamesWhatIsContracted) {
  EXPECT_EQ(contracted_form("a * b + c"), "FUSED(a, b, c)");
  EXPECT_EQ(contracted_form("a - alpha * b"), "FUSED(-alpha, b, a)");
  EXPECT_EQ(contracted_form("a * b - c"), "FUSED(a, b, -c)");
  EXPECT_EQ(contracted_form("a * b + c * d"), "FUSED(c, d, (a * b))");
  EXPECT_EQ(contracted_form("g * (1 + a * (1 - y))"), "(g * FUSED(a, ((T)1 - y), (T)1))");
  EXPECT_EQ(contracted_form("a > 0 ? a * 2 + 1 : -EXP(a, 0.5f)"),
            "((a > (T)0) ? FUSED(a, (T)2, (T)1) : (-EXP(a, (T)0.5f)))");
  EXPECT_EQ(contracted_form("a * (T)(1.0f / 6) + 0.1"), "FUSED(a, (T)(1.0f / 6), (T)0.10000000000000001)");
}

TEST(ContractedForm, LeavesOthersAsTheyAre) {
  for (const char* expression : {"a", "a * b", "a + 1", "a & b * c + d", "a ? b : (T)(c % 2)"})
    EXPECT_EQ(contracted_form(expression), expression);
}

TEST(ContractedForm, OfRowsOfTheTable) {
  EXPECT_EQ(contracted_form(pointwise_op("rsub").forward).find("FUSED"), 0u);
  EXPECT_NE(contracted_form(pointwise_op("silu").gradients[0]).find("FUSED"), std::string::npos);
}

}  // namespace
