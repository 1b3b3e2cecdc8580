#include <gtest/gtest.h>

#include "dlprim/core/layout.h"

using namespace dlprim;

namespace {

using Sizes = std::vector<std::int64_t>;

/** Every index that the layout gives an operand, in iteration order. */
Sizes walk(const Sizes& sizes, const Sizes& strides) {
  Sizes indices{0};
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    Sizes next;
    for (const std::int64_t base : indices)
      for (std::int64_t i = 0; i < sizes[d]; ++i) next.push_back(base + i * strides[d]);
    indices = next;
  }
  return indices;
}

}  // namespace

TEST(Layout, ContiguousBecomesOneDimension) {
  const Layout layout = merged_layout({2, 3, 4}, {contiguous_strides({2, 3, 4})});
  EXPECT_EQ(layout.sizes, Sizes{24});
  EXPECT_EQ(layout.strides, std::vector<Sizes>{Sizes{1}});
  EXPECT_TRUE(layout.is_flat());
}

TEST(Layout, ScalarIsFlat) {
  for (const Dims& shape : {Dims{}, Dims{1}, Dims{1, 1, 1}}) {
    const Layout layout = merged_layout(shape, {contiguous_strides(shape), Dims::filled(shape.size(), 0)});
    EXPECT_TRUE(layout.sizes.empty());
    EXPECT_EQ(layout.numel(), 1);
    EXPECT_TRUE(layout.is_flat());
  }
}

TEST(Layout, DropsSizeOneWhateverItsStride) {
  const Layout layout = merged_layout({4, 1, 5}, {Dims{5, 999, 1}});
  EXPECT_EQ(layout.sizes, Sizes{20});
  EXPECT_TRUE(layout.is_flat());
}

TEST(Layout, MergesOnlyWhatEveryOperandWalksEvenly) {
  // A row vector broadcast over a matrix: neither walks as one.
  const Layout rows = merged_layout({4, 5}, {Dims{5, 1}, Dims{0, 1}});
  EXPECT_EQ(rows.sizes, (Sizes{4, 5}));
  EXPECT_EQ(rows.strides, (std::vector<Sizes>{{5, 1}, {0, 1}}));
  // A channel vector over [N, C, H, W]: H and W join.
  const Layout channels = merged_layout({2, 3, 4, 5}, {Dims{60, 20, 5, 1}, Dims{0, 1, 0, 0}});
  EXPECT_EQ(channels.sizes, (Sizes{2, 3, 20}));
  EXPECT_EQ(channels.strides[1], (Sizes{0, 1, 0}));
  // A transposed matrix beside itself, both walked the same way, stays two-dimensional.
  EXPECT_EQ(merged_layout({4, 5}, {Dims{1, 4}}).sizes, (Sizes{4, 5}));
}

TEST(Layout, ABroadcastNumberMergesWithAll) {
  const Layout layout = merged_layout({4, 5}, {Dims{5, 1}, Dims{0, 0}});
  EXPECT_EQ(layout.sizes, Sizes{20});
  EXPECT_EQ(layout.strides, (std::vector<Sizes>{{1}, {0}}));
  EXPECT_FALSE(layout.is_flat());
}

TEST(Layout, MergingKeepsEveryIndex) {
  const struct {
    Dims shape;
    std::vector<Dims> strides;
  } cases[] = {{{3, 4, 5}, {{20, 5, 1}, {1, 3, 12}}},
               {{3, 4, 5}, {{40, 10, 2}, {20, 5, 1}}},
               {{2, 1, 3, 4}, {{12, 7, 4, 1}, {0, 0, 0, 1}}},
               {{2, 3, 2, 2, 2}, {{24, 8, 4, 2, 1}, {0, 8, 4, 2, 1}}},
               {{6}, {{-2}, {1}}},
               {{3, 2}, {{-2, -1}, {2, 1}}}};
  for (const auto& c : cases) {
    const Layout layout = merged_layout(c.shape, c.strides);
    EXPECT_EQ(layout.numel(), product(c.shape));
    for (std::size_t k = 0; k < c.strides.size(); ++k)
      EXPECT_EQ(walk(layout.sizes, layout.strides[k]), walk(c.shape.vector(), c.strides[k].vector()))
          << c.shape << k;
  }
}

TEST(Layout, Fits32Bits) {
  EXPECT_TRUE(merged_layout({1 << 30}, {Dims{1}}).fits_32_bits());
  // Kernels round sizes up to whole groups before they compare, so the last numbers below 2^31 do not fit.
  EXPECT_FALSE(merged_layout({INT32_MAX}, {Dims{1}}).fits_32_bits());
  EXPECT_FALSE(merged_layout({INT32_MAX - 100}, {Dims{1}}).fits_32_bits());
  EXPECT_FALSE(merged_layout({std::int64_t{1} << 32}, {Dims{0}}).fits_32_bits());
  EXPECT_FALSE(merged_layout({2}, {Dims{std::int64_t{1} << 31}}).fits_32_bits());
  EXPECT_FALSE(merged_layout({2}, {Dims{-(std::int64_t{1} << 31)}}).fits_32_bits());
  EXPECT_TRUE(merged_layout({1}, {Dims{std::int64_t{1} << 40}}).fits_32_bits());
}

TEST(ElementwiseLayout, OperandsThatLieAlikeBecomeOneDimension) {
  const Dims channels_last{60, 1, 15, 3};
  EXPECT_TRUE(elementwise_layout({2, 3, 4, 5}, {channels_last, channels_last}).is_flat());
  EXPECT_TRUE(elementwise_layout({4, 5}, {Dims{1, 4}, Dims{1, 4}}).is_flat());
  EXPECT_FALSE(elementwise_layout({4, 5}, {Dims{5, 1}, Dims{1, 4}}).is_flat());
}

TEST(ElementwiseLayout, TheLastOperandIsWalkedInTheOrderOfMemory) {
  const Layout layout = elementwise_layout({2, 3, 4, 5}, {Dims{0, 1, 0, 0}, Dims{60, 1, 15, 3}});
  EXPECT_EQ(layout.sizes, (Sizes{40, 3}));
  EXPECT_EQ(layout.strides, (std::vector<Sizes>{Sizes{0, 1}, Sizes{3, 1}}));
}
