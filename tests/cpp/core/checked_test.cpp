#include "dlprim/core/checked.h"

#include <gtest/gtest.h>

using namespace dlprim;

TEST(Checked, ArithmeticNoticesWhatDoesNotFit) {
  std::int64_t result = 0;
  EXPECT_TRUE(try_multiply(std::int64_t{1} << 31, std::int64_t{1} << 31, result));
  EXPECT_EQ(result, std::int64_t{1} << 62);
  EXPECT_FALSE(try_multiply(std::int64_t{1} << 32, std::int64_t{1} << 31, result));
  EXPECT_TRUE(try_multiply(INT64_MIN, 1, result));
  EXPECT_FALSE(try_multiply(INT64_MIN, -1, result));
  EXPECT_TRUE(try_add(INT64_MAX, -1, result));
  EXPECT_EQ(result, INT64_MAX - 1);
  EXPECT_FALSE(try_add(INT64_MAX, 1, result));
}

TEST(Checked, KernelsTakeWhatAnIntHoldsWithRoomToSpare) {
  EXPECT_EQ(kernel_int(5, "op", "a row"), 5);
  EXPECT_EQ(kernel_int(-5, "op", "a margin"), -5);
  EXPECT_EQ(kernel_int(max_kernel_int, "op", "a row"), max_kernel_int);
  EXPECT_LT(max_kernel_int + 1000000, INT_MAX);
  EXPECT_THROW(kernel_int(max_kernel_int + 1, "op", "a row"), ValueError);
  EXPECT_THROW(kernel_int(-max_kernel_int - 1, "op", "a row"), ValueError);
  try {
    kernel_int(std::int64_t{1} << 32, "softmax", "a row");
    FAIL();
  } catch (const ValueError& e) {
    EXPECT_EQ(std::string(e.what()),
              concat("softmax: a row of 4294967296 is too large, at most ", max_kernel_int, " is supported"));
  }
}
