#include "dlprim/export/memory_plan.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

namespace dlprim {
namespace {

/** Which free offset is taken: the lowest, that of the smallest gap, or one at either end of the arena, so
 * that results which live from one step to the next take turns. */
enum class Fit { lowest, smallest, ends };

/** The offset for `use` among those that are placed already; `bound` is where the arena should end. */
std::size_t place(const std::vector<MemoryUse>& uses, const std::vector<std::size_t>& placed,
                  const std::vector<std::size_t>& offsets, const MemoryUse& use, Fit fit, std::size_t bound) {
  std::vector<std::pair<std::size_t, std::size_t>> taken;  // begin and end, of those in use at the same time
  for (const std::size_t other : placed)
    if (uses[other].first <= use.last && use.first <= uses[other].last)
      taken.emplace_back(offsets[other], offsets[other] + uses[other].bytes);
  std::sort(taken.begin(), taken.end());
  std::size_t end = 0, best = 0, smallest = SIZE_MAX;
  for (const auto& [from, to] : taken) {
    if (from >= end + use.bytes) {
      if (fit == Fit::lowest) return end;
      if (from - end < smallest) smallest = from - end, best = end;
    }
    end = std::max(end, to);
  }
  if (smallest != SIZE_MAX && !(fit == Fit::ends && best > 0)) return best;
  if (fit == Fit::ends && bound >= use.bytes && end <= bound - use.bytes)
    return end == 0 ? 0 : bound - use.bytes;
  return smallest == SIZE_MAX ? end : best;
}

MemoryPlan plan_in_order(const std::vector<MemoryUse>& uses, const std::vector<std::size_t>& order, Fit fit,
                         std::size_t bound) {
  MemoryPlan plan;
  plan.lower_bound = bound;
  plan.offsets.resize(uses.size());
  std::vector<std::size_t> placed;
  for (const std::size_t i : order) {
    plan.offsets[i] = place(uses, placed, plan.offsets, uses[i], fit, bound);
    plan.bytes = std::max(plan.bytes, plan.offsets[i] + uses[i].bytes);
    placed.push_back(i);
  }
  return plan;
}

std::size_t most_at_once(const std::vector<MemoryUse>& uses) {
  std::vector<std::pair<std::size_t, std::ptrdiff_t>> changes;
  for (const MemoryUse& use : uses) {
    changes.emplace_back(use.first, static_cast<std::ptrdiff_t>(use.bytes));
    changes.emplace_back(use.last + 1, -static_cast<std::ptrdiff_t>(use.bytes));
  }
  std::sort(changes.begin(), changes.end());  // of one step, ends first
  std::ptrdiff_t now = 0, most = 0;
  for (const auto& [step, change] : changes) most = std::max(most, now += change);
  return static_cast<std::size_t>(most);
}

}  // namespace

MemoryPlan plan_memory(const std::vector<MemoryUse>& uses, std::size_t alignment) {
  std::vector<MemoryUse> aligned = uses;
  for (MemoryUse& use : aligned) use.bytes = (use.bytes + alignment - 1) / alignment * alignment;

  std::vector<std::size_t> by_size(uses.size());
  std::iota(by_size.begin(), by_size.end(), std::size_t{0});
  std::vector<std::size_t> by_step = by_size;
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](std::size_t a, std::size_t b) { return aligned[a].bytes > aligned[b].bytes; });
  std::stable_sort(by_step.begin(), by_step.end(),
                   [&](std::size_t a, std::size_t b) { return aligned[a].first < aligned[b].first; });

  const std::size_t bound = most_at_once(aligned);
  MemoryPlan best = plan_in_order(aligned, by_size, Fit::lowest, bound);
  for (const Fit fit : {Fit::smallest, Fit::ends}) {
    MemoryPlan plan = plan_in_order(aligned, by_step, fit, bound);
    if (plan.bytes < best.bytes) best = std::move(plan);
  }
  return best;
}

}  // namespace dlprim
