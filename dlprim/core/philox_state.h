#pragma once

#include <cstdint>

#include "dlprim/core/fields.h"

namespace dlprim {

/** Where a stream of random numbers stands (ops/random/random.h). It becomes two arguments of a kernel, seed
 * and offset (ulong). */
struct PhiloxState {
  std::uint64_t seed = 0;
  std::uint64_t offset = 0;  // counters used so far
  FIELDS(seed, offset)
};

}  // namespace dlprim
