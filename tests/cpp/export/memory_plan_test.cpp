#include "dlprim/export/memory_plan.h"

#include <gtest/gtest.h>

#include <random>

using namespace dlprim;

namespace {

void expect_sound(const std::vector<MemoryUse>& uses, const MemoryPlan& plan, std::size_t alignment) {
  ASSERT_EQ(plan.offsets.size(), uses.size());
  EXPECT_GE(plan.bytes, plan.lower_bound);
  for (std::size_t i = 0; i < uses.size(); ++i) {
    EXPECT_EQ(plan.offsets[i] % alignment, 0u);
    EXPECT_LE(plan.offsets[i] + uses[i].bytes, plan.bytes);
    for (std::size_t j = 0; j < i; ++j) {
      const bool at_once = uses[i].first <= uses[j].last && uses[j].first <= uses[i].last;
      const bool apart = plan.offsets[i] + uses[i].bytes <= plan.offsets[j] ||
                         plan.offsets[j] + uses[j].bytes <= plan.offsets[i];
      EXPECT_TRUE(!at_once || apart) << "uses " << i << " and " << j << " overlap";
    }
  }
}

}  // namespace

TEST(MemoryPlan, SharesMemoryThatIsNotInUseAtOnce) {
  const MemoryPlan plan = plan_memory({{100, 0, 1}, {60, 1, 2}, {100, 2, 3}}, 1);
  EXPECT_EQ(plan.bytes, 160u);
  EXPECT_EQ(plan.lower_bound, 160u);
  expect_sound({{100, 0, 1}, {60, 1, 2}, {100, 2, 3}}, plan, 1);
}

TEST(MemoryPlan, OfNothingIsEmpty) {
  EXPECT_EQ(plan_memory({}, 64).bytes, 0u);
}

TEST(MemoryPlan, OfRandomUsesIsSoundAndAtTheBoundForChains) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<MemoryUse> uses;
    const std::size_t count = 1 + random() % 40, alignment = std::size_t{1} << random() % 9;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t first = random() % 30;
      uses.push_back({1 + random() % 5000, first, first + random() % 6});
    }
    expect_sound(uses, plan_memory(uses, alignment), alignment);
  }
  std::vector<MemoryUse> chain;  // a net without branches: each result is read by the next step alone
  for (std::size_t i = 0; i < 50; ++i) chain.push_back({1 + random() % 5000, i, i + 1});
  const MemoryPlan plan = plan_memory(chain, 1);
  EXPECT_EQ(plan.bytes, plan.lower_bound);
}
