#pragma once

#include <gtest/gtest.h>

namespace testing_support {

/** Whether the device under test leaves long loops before their end (docs/driver-faults.md, Mesa rusticl).
 * Asked of it once. */
bool ends_loops_early();

/** Whether the device under test tells when a command is over (Wine's OpenCL.dll does not). Asked of it once.
 */
bool calls_back();

}  // namespace testing_support

/** For tests whose kernels have loops of more than 65535 iterations. */
#define SKIP_WHERE_LOOPS_END_EARLY()       \
  if (testing_support::ends_loops_early()) \
  GTEST_SKIP() << "the device leaves long loops before their end (docs/driver-faults.md)"

/** For tests of the times at which commands are over. */
#define SKIP_WHERE_NOTHING_CALLS_BACK() \
  if (!testing_support::calls_back()) GTEST_SKIP() << "the OpenCL library has no callbacks of events"
