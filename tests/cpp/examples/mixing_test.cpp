// Mixup and CutMix of examples/train.cpp.

#include "examples/training/mixing.h"

#include <cmath>
#include <set>

#include "autograd/autograd.h"
#include "tests/cpp/support/autograd.h"

using namespace ocl;
using namespace testing_support;

namespace {

constexpr std::int64_t count = 4, channels = 3, height = 20, width = 30;

class Mixtures : public OnDevice {};

/** Pictures of one colour each: 0, 1, 2, 3. */
Tensor pictures() {
  return expand(reshape(arange(0, count, 1, DType::float32), {count, 1, 1, 1}),
                {count, channels, height, width});
}

}  // namespace

TEST_F(Mixtures, KeepTheShareTheySay) {
  const Tensor plain = pictures();
  for (const auto& [mixup, cutmix] : {std::pair{0.4, 0.0}, {0.0, 1.0}}) {
    const Mixing mixing(mixup, cutmix, 1);
    std::set<double> shares;
    for (std::uint64_t batch = 0; batch < 5; ++batch) {
      const auto [mixed, share] = mixing(plain, batch);
      EXPECT_TRUE(equal(mixed, mixing(plain, batch).pictures));
      const std::vector<float> means = mean(mixed, {1, 2, 3}).to_vector();
      for (std::int64_t i = 0; i < count; ++i) {
        const auto own = static_cast<double>(i), before = static_cast<double>((i + count - 1) % count);
        EXPECT_NEAR(means[static_cast<std::size_t>(i)], share * own + (1 - share) * before, 1e-5);
      }
      EXPECT_GE(share, 0);
      EXPECT_LE(share, 1);
      shares.insert(share);
    }
    EXPECT_EQ(shares.size(), 5u);
  }
}

TEST_F(Mixtures, CutARectangleOutOfThePictureBefore) {
  const Mixing mixing(0, 1, 7);
  for (std::uint64_t batch = 0; batch < 10; ++batch) {
    const auto [mixed, share] = mixing(pictures(), batch);
    const std::vector<float> first =
        select(select(mixed, 0, 0), 0, 0).to_vector();  // of 0, the one before: 3
    std::int64_t top = height, bottom = -1, left = width, right = -1, cut = 0;
    for (std::int64_t i = 0; i < height * width; ++i) {
      const float value = first[static_cast<std::size_t>(i)];
      ASSERT_TRUE(value == 0 || value == 3) << value;
      if (value == 0) continue;
      ++cut;
      top = std::min(top, i / width), bottom = std::max(bottom, i / width);
      left = std::min(left, i % width), right = std::max(right, i % width);
    }
    if (cut == 0) bottom = top - 1;
    EXPECT_EQ(cut, (bottom - top + 1) * (right - left + 1));
    EXPECT_NEAR(share, 1 - static_cast<double>(cut) / (height * width), 1e-12);
  }
}

TEST_F(Mixtures, TakeTurnsWhereBothAreWanted) {
  const Mixing mixing(1, 1, 3);
  int cuts = 0;
  for (std::uint64_t batch = 0; batch < 20; ++batch) {
    const std::vector<float> values = mixing(pictures(), batch).pictures.to_vector();
    cuts += std::all_of(values.begin(), values.end(), [](float value) { return value == std::round(value); });
  }
  EXPECT_GT(cuts, 3);
  EXPECT_LT(cuts, 17);
}

TEST_F(Mixtures, LeaveABatchAsItIsWhereNoneIsWanted) {
  const Tensor plain = pictures();
  const auto [same, share] = Mixing(0, 0, 1)(plain, 0);
  EXPECT_EQ(&same.impl(), &plain.impl());
  EXPECT_EQ(share, 1);
}

TEST_F(Mixtures, MoveLabelsOnAsPictures) {
  EXPECT_EQ(moved_on(arange(0, 4)).to_vector<int>(), (std::vector<int>{3, 0, 1, 2}));
}
