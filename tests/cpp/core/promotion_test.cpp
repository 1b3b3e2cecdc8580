#include "dlprim/core/promotion.h"

#include <gtest/gtest.h>

#include "dlprim/core/real.h"

using namespace dlprim;

TEST(CanCast, NeverToALowerKind) {
  const DType of_kinds[][2] = {
      {DType::boolean, DType::boolean}, {DType::uint8, DType::int64}, {DType::bfloat16, DType::float64}};
  for (int from = 0; from < 3; ++from)
    for (int to = 0; to < 3; ++to)
      for (const DType a : of_kinds[from])
        for (const DType b : of_kinds[to])
          EXPECT_EQ(can_cast(a, b), from <= to) << name(a) << " to " << name(b);
}

TEST(MachineEpsilon, OfFinfo) {
  EXPECT_EQ(machine_epsilon(DType::float64), 0x1p-52);
  EXPECT_EQ(machine_epsilon(DType::float32), 0x1p-23);
  EXPECT_EQ(machine_epsilon(DType::float16), 0x1p-10);
  EXPECT_EQ(machine_epsilon(DType::bfloat16), 0x1p-7);
}
