#include "dlprim/runtime/host_copy.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <numeric>
#include <thread>
#include <vector>

using dlprim::HostCopier;

namespace {

/** Never destroyed: its threads live on. */
HostCopier& four_threads() {
  static auto* copier = new HostCopier(3);
  return *copier;
}

bool copies(HostCopier& copier, std::size_t bytes, std::uint32_t seed) {
  std::vector<std::uint8_t> from(bytes), to(bytes + 2, 0xAB);
  for (std::size_t i = 0; i < bytes; ++i) from[i] = static_cast<std::uint8_t>((i * 2654435761u + seed) >> 13);
  copier.copy(to.data() + 1, from.data(), bytes);
  return std::equal(from.begin(), from.end(), to.begin() + 1) && to.front() == 0xAB && to.back() == 0xAB;
}

}  // namespace

TEST(HostCopier, CopiesAllOfIt) {
  for (const std::size_t bytes : {0, 1, (1 << 20) - 1, 1 << 20, (4 << 20) + 1, (9 << 20) + 12345})
    for (std::uint32_t seed = 0; seed < 4; ++seed)
      EXPECT_TRUE(copies(four_threads(), bytes, seed)) << bytes << " bytes";
  EXPECT_TRUE(copies(HostCopier::shared(), 5 << 20, 1));
}

TEST(HostCopier, SeveralAtOnce) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (std::uint32_t k = 0; k < 4; ++k)
    threads.emplace_back([&wrong, k] {
      for (std::uint32_t i = 0; i < 8; ++i)
        if (!copies(four_threads(), (3 << 20) + 7 * i, k + i)) ++wrong;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}
