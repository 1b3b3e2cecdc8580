#pragma once

#include <cstddef>
#include <vector>

namespace dlprim {

/** A piece of memory that is in use from one step to another, both included. */
struct MemoryUse {
  std::size_t bytes;
  std::size_t first, last;
};

/** Where pieces of memory lie in one arena, so that none overlaps another that is in use at the same time. */
struct MemoryPlan {
  std::vector<std::size_t> offsets;  // of each use, in bytes
  std::size_t bytes = 0;             // of the arena
  /** The most that is in use in one step: no plan needs less. */
  std::size_t lower_bound = 0;
};

/**
 * The best of three plans. One places the uses from the largest on, each at the lowest offset that is free in
 * its time. That is greedy by size (Pisarchyk and Lee, Efficient Memory Management for Deep Neural Net
 * Inference, 2020). Two place them in the order of their steps. One of these takes the smallest gap. The
 * other takes the ends of the arena in turn, which is best for nets without branches. Offsets and sizes are
 * multiples of `alignment`.
 */
MemoryPlan plan_memory(const std::vector<MemoryUse>& uses, std::size_t alignment);

}  // namespace dlprim
