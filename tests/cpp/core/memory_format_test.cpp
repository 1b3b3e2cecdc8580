#include "dlprim/core/memory_format.h"

#include <gtest/gtest.h>

#include "dlprim/core/error.h"
#include "dlprim/core/tensor.h"

using namespace dlprim;

namespace {

Tensor over(const Dims& shape, const Dims& strides) {
  Tensor t;
  t.shape = shape;
  t.strides = strides;
  return t;
}

Tensor in_format(MemoryFormat format, const Dims& shape) {
  return over(shape, strides_of(format, shape));
}

Dims result_strides(const Dims& shape, const Tensor& a, const Tensor& b) {
  return elementwise_strides(shape, {&a, &b});
}

}  // namespace

TEST(MemoryFormat, StridesOfAShape) {
  EXPECT_EQ(strides_of(MemoryFormat::contiguous, {2, 3, 4, 5}), (Dims{60, 20, 5, 1}));
  EXPECT_EQ(strides_of(MemoryFormat::channels_last, {2, 3, 4, 5}), (Dims{60, 1, 15, 3}));
  EXPECT_EQ(strides_of(MemoryFormat::channels_last_3d, {2, 3, 4, 5, 6}), (Dims{360, 1, 90, 18, 3}));
  EXPECT_THROW(strides_of(MemoryFormat::channels_last, {3, 4, 5}), ValueError);
  EXPECT_THROW(strides_of(MemoryFormat::preserve, {3, 4, 5}), ValueError);
}

TEST(MemoryFormat, WhatIsContiguousInAFormat) {
  const Tensor last = in_format(MemoryFormat::channels_last, {2, 3, 4, 5});
  EXPECT_TRUE(is_contiguous(last, MemoryFormat::channels_last));
  EXPECT_FALSE(is_contiguous(last, MemoryFormat::contiguous));
  EXPECT_FALSE(is_contiguous(last, MemoryFormat::preserve));  // as PyTorch: contiguous
  const Tensor pixels = over({2, 3, 1, 1}, {3, 1, 1, 1});
  EXPECT_TRUE(is_contiguous(pixels, MemoryFormat::channels_last));
  EXPECT_TRUE(is_contiguous(pixels, MemoryFormat::contiguous));
}

TEST(MemoryFormat, StridesSuggestAFormat) {
  const auto suggested = [](const Dims& shape, const Dims& strides) {
    return suggested_memory_format(over(shape, strides));
  };
  EXPECT_EQ(suggested({2, 3, 4, 5}, {60, 1, 15, 3}), MemoryFormat::channels_last);
  EXPECT_EQ(suggested({2, 3, 4, 5}, {120, 1, 30, 6}), MemoryFormat::channels_last);  // every other channel
  EXPECT_EQ(suggested({2, 3, 4, 5}, {60, 20, 5, 1}), MemoryFormat::contiguous);
  EXPECT_EQ(suggested({2, 3, 1, 1}, {3, 1, 3, 3}), MemoryFormat::channels_last);
  EXPECT_EQ(suggested({2, 3, 1, 1}, {3, 1, 1, 1}), MemoryFormat::contiguous);
  EXPECT_EQ(suggested({2, 1, 1, 1}, {1, 1, 1, 1}), MemoryFormat::contiguous);
  EXPECT_EQ(suggested({2, 3, 4, 5, 6}, {360, 1, 90, 18, 3}), MemoryFormat::channels_last_3d);
}

TEST(MemoryFormat, DenseTensors) {
  EXPECT_TRUE(is_dense(in_format(MemoryFormat::channels_last, {2, 3, 4, 5})));
  EXPECT_TRUE(is_dense(over({4, 5}, {1, 4})));
  EXPECT_TRUE(is_dense(over({4, 1, 5}, {1, 99, 4})));
  EXPECT_TRUE(is_dense(over({0, 3}, {7, 7})));
  EXPECT_FALSE(is_dense(over({4, 5}, {10, 2})));
  EXPECT_FALSE(is_dense(over({4, 5}, {0, 1})));
  EXPECT_FALSE(is_dense(over({4, 5}, {1, 1})));
}

TEST(MemoryFormat, PreservedStrides) {
  EXPECT_EQ(strides_like(over({4, 5}, {1, 4})), (Dims{1, 4}));
  EXPECT_EQ(strides_like(over({4, 5}, {2, 8})), (Dims{1, 4}));
  EXPECT_EQ(strides_like(over({4, 5}, {1, 0})), (Dims{5, 1}));
  EXPECT_EQ(strides_like(over({4, 5}, {1, 4}), MemoryFormat::contiguous), (Dims{5, 1}));
}

TEST(MemoryFormat, TensorsThatLieAlike) {
  EXPECT_TRUE(lie_alike(over({4, 1, 5}, {1, 99, 4}), over({4, 1, 5}, {1, 4, 4})));
  EXPECT_TRUE(lie_alike(over({0, 5}, {133, 4}), over({0, 5}, {5, 1})));
  EXPECT_FALSE(lie_alike(over({4, 5}, {1, 4}), over({4, 5}, {5, 1})));
  EXPECT_FALSE(lie_alike(over({4, 5}, {5, 1}), over({20}, {1})));
}

TEST(MemoryFormat, ResultsOfElementwiseOperators) {
  const Dims shape{2, 3, 4, 5};
  const Tensor rows = in_format(MemoryFormat::contiguous, shape);
  const Tensor last = in_format(MemoryFormat::channels_last, shape), number;
  EXPECT_EQ(result_strides(shape, rows, rows), rows.strides);
  EXPECT_EQ(result_strides(shape, last, last), last.strides);
  EXPECT_EQ(result_strides(shape, last, number), last.strides);
  EXPECT_EQ(result_strides(shape, number, last), last.strides);
  EXPECT_EQ(result_strides(shape, last, rows), last.strides);  // the first decides
  EXPECT_EQ(result_strides(shape, rows, last), rows.strides);
  EXPECT_EQ(result_strides(shape, over({3, 1, 1}, {1, 1, 1}), last), last.strides);
  EXPECT_EQ(result_strides({4, 5}, over({4, 5}, {1, 4}), over({4, 5}, {1, 4})), (Dims{1, 4}));
  EXPECT_EQ(result_strides({4, 5}, over({4, 1}, {1, 1}), over({5}, {1})), (Dims{5, 1}));
}
