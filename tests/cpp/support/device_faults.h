#pragma once

#include <gtest/gtest.h>

namespace testing_support {

/** Whether the device under test leaves long loops before their end (docs/driver-faults.md, Mesa rusticl).
 * Asked of it once. */
bool ends_loops_early();

}  // namespace testing_support

/** For tests whose kernels have loops of more than 65535 iterations. */
#define SKIP_WHERE_LOOPS_END_EARLY()       \
  if (testing_support::ends_loops_early()) \
  GTEST_SKIP() << "the device leaves long loops before their end (docs/driver-faults.md)"
