#include "dlprim/core/tensor.h"

#include "tests/cpp/support/tensors.h"

using namespace dlprim;
using namespace testing_support;

namespace {

Tensor strided(const Tensor& base, const Dims& shape, const Dims& strides, std::int64_t offset) {
  Tensor t = base;
  t.shape = shape;
  t.strides = strides;
  t.offset = offset;
  return t;
}

}  // namespace

TEST(RawTensor, Empty) {
  const Tensor t = Tensor::empty(device(), {2, 3}, DType::float16);
  EXPECT_EQ(t.strides, (Dims{3, 1}));
  EXPECT_EQ(t.storage->bytes(), 12u);
  EXPECT_EQ(&t.device(), &device());
  EXPECT_EQ(t.size(-1), 3);
  EXPECT_FALSE(Tensor().defined());
  const Tensor nothing = Tensor::empty(device(), {2, 0, 3});
  EXPECT_TRUE(nothing.defined());
  EXPECT_EQ(nothing.storage->bytes(), 0u);
  EXPECT_THROW(Tensor::empty(device(), {2, -1}), ValueError);
}

TEST(RawTensor, Transposed) {
  const Tensor t = Tensor::empty(device(), {5, 2, 3}).transposed();
  EXPECT_EQ(t.shape, (Dims{5, 3, 2}));
  EXPECT_EQ(t.strides, (Dims{6, 1, 3}));
}

TEST(RawTensor, WhatHasNoRoomIsRefused) {
  constexpr std::int64_t large = std::int64_t{1} << 31;
  EXPECT_THROW(Tensor::empty(device(), {large, large, 2}), ValueError);
  EXPECT_THROW(Tensor::empty(device(), {large, large}), OutOfMemoryError);
  EXPECT_THROW(Tensor::empty(device(), {large, large}, DType::uint8), OutOfMemoryError);
  EXPECT_THROW(Tensor::empty(device(), {INT64_MAX}, DType::float64), OutOfMemoryError);
  const Tensor one = Tensor::empty(device(), {1, 1});
  EXPECT_EQ(one.expanded({large, large}).numel(), large * large);
  EXPECT_THROW(one.expanded({large, 2 * large}), ValueError);
}

TEST(RawTensor, RestridedStaysInItsStorage) {
  const Tensor base = Tensor::empty(device(), {4, 6});
  const auto restrided = [&](const Dims& shape, const Dims& strides, std::int64_t offset) {
    return base.restrided("as_strided", shape, strides, offset);
  };
  const Tensor last = restrided({2, 3}, {6, 2}, 13);
  EXPECT_EQ(last.reach(), (std::pair<std::int64_t, std::int64_t>(13, 24)));
  EXPECT_EQ(restrided({INT64_MAX}, {0}, 23).numel(), INT64_MAX);
  EXPECT_EQ(restrided({0, 9}, {INT64_MAX, INT64_MAX}, 0).numel(), 0);
  EXPECT_EQ(restrided({1, 24}, {INT64_MAX, 1}, 0).numel(), 24);
  constexpr std::int64_t quarter = std::int64_t{1} << 62;
  EXPECT_THROW(restrided({2, 3}, {6, 2}, 14), ValueError);
  EXPECT_THROW(restrided({25}, {1}, 0), ValueError);
  EXPECT_THROW(restrided({5}, {quarter}, 0), ValueError) << "where the stretch wraps around to 0";
  EXPECT_THROW(restrided({quarter}, {4}, 0), ValueError);
  EXPECT_THROW(restrided({3, 3}, {quarter, quarter}, 0), ValueError);
  EXPECT_THROW(restrided({2}, {1}, INT64_MAX), ValueError);
  EXPECT_THROW(restrided({1}, {1}, -1), ValueError);
  EXPECT_THROW(restrided({2}, {-1}, 4), ValueError);
  EXPECT_THROW(restrided({-1}, {1}, 0), ValueError);
  EXPECT_THROW(restrided({quarter, 4}, {0, 0}, 0), ValueError);
}

TEST(RawTensor, IsContiguous) {
  const Tensor base = Tensor::empty(device(), {4, 6});
  EXPECT_TRUE(base.is_contiguous());
  EXPECT_FALSE(strided(base, {6, 4}, {1, 6}, 0).is_contiguous());
  EXPECT_FALSE(strided(base, {4, 3}, {6, 1}, 0).is_contiguous());
  EXPECT_FALSE(strided(base, {12}, {2}, 0).is_contiguous());
  EXPECT_TRUE(strided(base, {2, 6}, {6, 1}, 12).is_contiguous());
  EXPECT_TRUE(
      strided(base, {1, 6}, {99, 1}, 0).is_contiguous());  // the stride of a single entry does not matter
  EXPECT_TRUE(strided(base, {0, 6}, {9, 9}, 0).is_contiguous());
  EXPECT_FALSE(base.reshaped({1, 24}).expanded({3, 24}).is_contiguous());
}

TEST(RawTensor, ReshapedSharesMemory) {
  const Tensor base = upload(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor flat = base.reshaped({6});
  EXPECT_EQ(flat.storage, base.storage);
  EXPECT_EQ(download<float>(flat), (std::vector<float>{1, 2, 3, 4, 5, 6}));
}

TEST(RawTensor, Expanded) {
  const Tensor base = Tensor::empty(device(), {3, 1});
  const Tensor wide = base.expanded({2, 3, 4});
  EXPECT_EQ(wide.shape, (Dims{2, 3, 4}));
  EXPECT_EQ(wide.strides, (Dims{0, 1, 0}));
  EXPECT_EQ(Tensor::empty(device(), {}).expanded({5}).strides, Dims{0});
}

TEST(RawTensor, Reach) {
  const Tensor base = Tensor::empty(device(), {4, 6});
  using Range = std::pair<std::int64_t, std::int64_t>;
  EXPECT_EQ(base.reach(), Range(0, 24));
  EXPECT_EQ(strided(base, {2, 3}, {12, 2}, 1).reach(), Range(1, 18));
  EXPECT_EQ(strided(base, {4}, {-6}, 20).reach(), Range(2, 21));
  EXPECT_EQ(strided(base, {0}, {1}, 5).reach(), Range(5, 5));
}

TEST(RawTensor, Overlaps) {
  const Tensor base = Tensor::empty(device(), {4, 6});
  const Tensor top = strided(base, {2, 6}, {6, 1}, 0), bottom = strided(base, {2, 6}, {6, 1}, 12);
  EXPECT_TRUE(base.overlaps(top));
  EXPECT_TRUE(top.overlaps(base));
  EXPECT_FALSE(top.overlaps(bottom));
  EXPECT_FALSE(bottom.overlaps(top));
  EXPECT_TRUE(strided(base, {2}, {6}, 6).overlaps(bottom));  // its last element is bottom's first
  EXPECT_FALSE(strided(base, {0}, {1}, 0).overlaps(base));
  EXPECT_FALSE(base.overlaps(Tensor::empty(device(), {4, 6})));
}

TEST(RawTensor, OverlapCountsBytes) {
  const Tensor floats = Tensor::empty(device(), {8});
  Tensor bytes = floats;
  bytes.dtype = DType::uint8;
  bytes.shape = Dims{4};
  bytes.offset = 16;  // the fifth float
  EXPECT_FALSE(strided(floats, {4}, {1}, 0).overlaps(bytes));
  EXPECT_TRUE(strided(floats, {5}, {1}, 0).overlaps(bytes));
}
