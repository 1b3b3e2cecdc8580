#pragma once

#include <cstdint>

namespace dlprim {

/** Whose kernels may have left wrong what somebody computed, and since when: failures that were seen before
 * have nothing to do with it (ErrorWords). A thread of 0 is nobody. */
struct Suspicion {
  std::uint32_t thread = 0, moment = 0;

  explicit operator bool() const { return thread != 0; }
};

}  // namespace dlprim
