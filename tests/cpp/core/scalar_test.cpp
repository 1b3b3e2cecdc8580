#include "dlprim/core/scalar.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dlprim/core/error.h"

using namespace dlprim;

namespace {

bool holds(DType dtype, const Scalar& value) {
  try {
    require_holds("fill", dtype, value);
    return true;
  } catch (const ValueError&) {
    return false;
  }
}

}  // namespace

TEST(ScalarRange, IntegersTakeWhatTheyHoldAndFractionsOfIt) {
  EXPECT_TRUE(holds(DType::int32, INT32_MAX));
  EXPECT_TRUE(holds(DType::int32, -2147483648.0));
  EXPECT_FALSE(holds(DType::int32, 2147483648));
  EXPECT_FALSE(holds(DType::int32, 2147483647.5));
  EXPECT_TRUE(holds(DType::int64, INT64_MAX));
  EXPECT_TRUE(holds(DType::int64, -0x1p63));
  EXPECT_FALSE(holds(DType::int64, 0x1p63));
  for (const DType dtype : {DType::int64, DType::int32, DType::uint8})
    for (const double value : {std::nan(""), HUGE_VAL, -HUGE_VAL, 1e30}) EXPECT_FALSE(holds(dtype, value));
  EXPECT_TRUE(holds(DType::uint8, 255));
  EXPECT_TRUE(holds(DType::uint8, -255)) << "as in PyTorch, it wraps around";
  EXPECT_FALSE(holds(DType::uint8, 256));
  EXPECT_FALSE(holds(DType::uint8, -256));
  EXPECT_FALSE(holds(DType::uint8, 255.5));
}

TEST(ScalarRange, FloatingTypesTakeWhatStaysFinite) {
  for (const DType dtype : {DType::float16, DType::bfloat16, DType::float32, DType::float64})
    for (const double value : {std::nan(""), HUGE_VAL, -HUGE_VAL, 0.1, 65504.0})
      EXPECT_TRUE(holds(dtype, value));
  EXPECT_FALSE(holds(DType::float16, 65505.0));
  EXPECT_FALSE(holds(DType::float16, 100000));
  EXPECT_TRUE(holds(DType::bfloat16, 3e38));
  EXPECT_FALSE(holds(DType::bfloat16, 3.4e38));
  EXPECT_TRUE(holds(DType::float32, 3.4e38));
  EXPECT_FALSE(holds(DType::float32, -1e39));
  EXPECT_TRUE(holds(DType::float64, 1e300));
  EXPECT_TRUE(holds(DType::boolean, std::nan("")));
}
