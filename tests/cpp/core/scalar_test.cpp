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
  EXPECT_FALSE(holds(DType::uint8, -1.0)) << "as in PyTorch, only whole numbers wrap around";
  EXPECT_FALSE(holds(DType::uint8, -0.5));
  EXPECT_TRUE(holds(DType::uint8, -0.0));
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

TEST(Scalar, KeepsEveryNumberOf64Bits) {
  EXPECT_EQ(Scalar(9.21e18).integer(), 9210000000000000000);
  EXPECT_EQ(Scalar(-9.21e18).integer(), -9210000000000000000);
  EXPECT_EQ(Scalar(0x1p63).integer(), INT64_MAX);
  EXPECT_EQ(Scalar(-0x1p63).integer(), INT64_MIN);
  EXPECT_EQ(Scalar(-HUGE_VAL).integer(), INT64_MIN);
  EXPECT_EQ(Scalar(std::uint64_t{INT64_MAX}).integer(), INT64_MAX);
  EXPECT_THROW(Scalar(std::uint64_t{1} << 63), ValueError);
  EXPECT_THROW(Scalar(SIZE_MAX), ValueError);
}

TEST(ScalarRange, ElementsOf16BitsRoundToInfinity) {
  const auto element = [](DType dtype, const Scalar& value) {
    return as_element("where", dtype, value).real();
  };
  EXPECT_EQ(element(DType::float16, 65504), 65504);
  EXPECT_EQ(element(DType::float16, 65519.0), 65504);
  EXPECT_EQ(element(DType::float16, -65520.0), -HUGE_VAL);
  EXPECT_EQ(element(DType::float16, 1e300), HUGE_VAL);
  EXPECT_EQ(element(DType::bfloat16, 0x1.fefp127), 0x1.fep127);
  EXPECT_EQ(element(DType::bfloat16, 0x1.ffp127), HUGE_VAL);
  EXPECT_EQ(element(DType::boolean, 0.5), 1);
  EXPECT_EQ(as_element("where", DType::uint8, -1).integer(), -1);
  EXPECT_TRUE(std::isnan(element(DType::float16, std::nan(""))));
  EXPECT_THROW(element(DType::float32, 1e39), ValueError);
  EXPECT_THROW(element(DType::uint8, 300), ValueError);
  EXPECT_THROW(element(DType::int64, HUGE_VAL), ValueError);
}
