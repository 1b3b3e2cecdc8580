#include "dlprim/ops/index/count.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "tests/cpp/support/tensors.h"

using namespace dlprim;
using namespace testing_support;

TEST(CountPlaces, OfAnyNumberOfBinsAndParts) {
  std::mt19937_64 random(5);
  Queue& queue = device().queue();
  for (const std::int64_t n : {0, 1, 100, 8191, 20000, 300000})
    for (const std::int64_t bins : {1, 2, 17, 1000, 70000}) {
      std::uniform_int_distribution<std::int64_t> any(-1, bins);
      std::vector<std::int64_t> places(static_cast<std::size_t>(n)), expected(static_cast<std::size_t>(bins));
      for (std::int64_t& place : places) {
        place = any(random);
        if (place >= 0 && place < bins) ++expected[static_cast<std::size_t>(place)];
      }
      const Tensor counts = queue.scratch({bins}, DType::int64);
      count_places(queue, upload(places, {n}), counts);
      EXPECT_EQ(download<std::int64_t>(counts), expected) << n << " in " << bins;
    }
}

TEST(CountPlaces, LeavesOutWhatIsFarOutside) {
  Queue& queue = device().queue();
  constexpr std::int64_t far = std::int64_t{1} << 33;
  const Tensor counts = queue.scratch({3}, DType::int64);
  count_places(queue, upload<std::int64_t>({far, -far, 2, far + 1, 2}, {5}), counts);
  EXPECT_EQ(download<std::int64_t>(counts), (std::vector<std::int64_t>{0, 0, 2}));
}

TEST(CountInBins, OfAnyNumberOfBinsAndParts) {
  std::mt19937_64 random(6);
  Queue& queue = device().queue();
  std::uniform_int_distribution<int> any(-70, 70);
  for (const std::int64_t n : {0, 1, 100, 20000, 300000})
    for (const std::int64_t bins : {1, 8, 64, 4096}) {
      std::vector<float> elements(static_cast<std::size_t>(n));
      std::vector<std::int64_t> expected(static_cast<std::size_t>(bins));
      for (float& element : elements) {
        element = static_cast<float>(any(random)) / 32;  // with edges of bins among them
        if (element == 0.25f) element = std::numeric_limits<float>::quiet_NaN();
        if (!(element >= -2 && element <= 2)) continue;
        const auto bin = static_cast<std::int64_t>(std::floor((element + 2) / 4 * static_cast<float>(bins)));
        ++expected[static_cast<std::size_t>(std::min(bin, bins - 1))];
      }
      const Tensor counts = queue.scratch({bins}, DType::int64);
      count_in_bins(queue, upload(elements, {n}), -2, 2, counts);
      EXPECT_EQ(download<std::int64_t>(counts), expected) << n << " in " << bins;
    }
}

TEST(CountPlaces, RefusesWhatDoesNotFit) {
  Queue& queue = device().queue();
  const Tensor places = queue.scratch({4}, DType::int64);
  EXPECT_THROW(count_places(queue, queue.scratch({4}), queue.scratch({3}, DType::int64)), TypeError);
  EXPECT_THROW(count_places(queue, places, queue.scratch({3})), TypeError);
  EXPECT_THROW(count_places(queue, places, queue.scratch({3, 2}, DType::int64)), ValueError);
}
