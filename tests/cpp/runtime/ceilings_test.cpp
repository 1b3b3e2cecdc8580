#include "dlprim/runtime/ceilings.h"

#include "tests/cpp/support/tensors.h"

using namespace dlprim;
using namespace testing_support;

TEST(Ceilings, AreThoseOfADevice) {
  const Ceilings found = ceilings(device());
  const double per_unit = found.operations / device().info().compute_units;
  EXPECT_GT(per_unit, 1e8);
  EXPECT_LT(per_unit, 1e12) << "the compiler left the work out";
  EXPECT_GT(found.bytes, 1e8);
  EXPECT_LT(found.bytes, 3e13);
}

TEST(Ceilings, AreMeasuredOnce) {
  const Ceilings first = ceilings(device()), second = ceilings(device());
  EXPECT_EQ(first.operations, second.operations);
  EXPECT_EQ(first.bytes, second.bytes);
}
