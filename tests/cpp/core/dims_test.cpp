#include <gtest/gtest.h>

#include <sstream>

#include "dlprim/core/dims.h"

using namespace dlprim;

namespace {

template <class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

}  // namespace

TEST(Dims, ListOperations) {
  Dims dims{2, 3};
  dims.insert(1, 7);
  EXPECT_EQ(dims, (Dims{2, 7, 3}));
  dims.insert(3, 9);
  dims.erase(0);
  EXPECT_EQ(dims, (Dims{7, 3, 9}));
  EXPECT_NE(dims, (Dims{7, 3}));
  EXPECT_EQ(dims.back(), 9);
  EXPECT_EQ(dims.vector(), (std::vector<std::int64_t>{7, 3, 9}));
  EXPECT_EQ(Dims::filled(3, -1), (Dims{-1, -1, -1}));
  EXPECT_TRUE(Dims().empty());
}

TEST(Dims, AtMostEight) {
  Dims dims = Dims::filled(max_rank, 1);
  EXPECT_THROW(dims.push_back(1), ValueError);
  EXPECT_THROW(dims.insert(0, 1), ValueError);
  EXPECT_EQ(dims, Dims::filled(max_rank, 1));
  EXPECT_THROW(Dims(std::vector<std::int64_t>(9, 1)), ValueError);
}

TEST(Dims, Prints) {
  std::ostringstream out;
  out << Dims{2, 3} << Dims{} << Dims{-1};
  EXPECT_EQ(out.str(), "[2, 3][][-1]");
}

TEST(Dims, Product) {
  EXPECT_EQ(product({}), 1);
  EXPECT_EQ(product({2, 3, 4}), 24);
  EXPECT_EQ(product({2, 0, 4}), 0);
  EXPECT_EQ(product({1 << 20, 1 << 20}), std::int64_t{1} << 40);
}

TEST(Dims, WhatCannotBeCountedIsRefused) {
  constexpr std::int64_t large = std::int64_t{1} << 32, most = INT64_MAX;
  EXPECT_EQ(product({most, 1}), most);
  EXPECT_EQ(product({large, large / 4 - 1}), large * (large / 4 - 1));
  EXPECT_EQ(product({large, large / 4, 0}), 0);
  EXPECT_THROW(product({large, large / 2}), ValueError);
  EXPECT_THROW(product({large, large, 0}), ValueError)
      << "so that no part of a shape is more than 64 bits count";
  EXPECT_THROW(product({large, large, large, large}), ValueError);
  EXPECT_THROW(contiguous_strides({0, large, large}), ValueError);
  EXPECT_NE(message_of([] { product({most, 2}); }).find("[9223372036854775807, 2] has more elements"),
            std::string::npos);
}

TEST(Dims, ContiguousStrides) {
  EXPECT_EQ(contiguous_strides({}), Dims{});
  EXPECT_EQ(contiguous_strides({2, 3, 4}), (Dims{12, 4, 1}));
  EXPECT_EQ(contiguous_strides({2, 0, 4}), (Dims{4, 4, 1}));  // as PyTorch: an empty dimension counts as 1
}

TEST(Dims, WrapDim) {
  EXPECT_EQ(wrap_dim(-1, 3, "op"), 2);
  EXPECT_EQ(wrap_dim(-3, 3, "op"), 0);
  EXPECT_EQ(wrap_dim(2, 3, "op"), 2);
  EXPECT_EQ(wrap_dim(0, 0, "op"), 0);
  EXPECT_EQ(wrap_dim(-1, 0, "op"), 0);
  for (const std::int64_t dim : {3, -4}) EXPECT_THROW(wrap_dim(dim, 3, "op"), IndexError) << dim;
  EXPECT_THROW(wrap_dim(1, 0, "op"), IndexError);
  EXPECT_EQ(message_of([] { wrap_dim(3, 2, "sum"); }),
            "sum: dimension out of range (expected to be in range of [-2, 1], but got 3)");
}

TEST(Dims, BroadcastShapes) {
  EXPECT_EQ(broadcast_shapes({3, 1}, {4}, "op"), (Dims{3, 4}));
  EXPECT_EQ(broadcast_shapes({}, {2, 3}, "op"), (Dims{2, 3}));
  EXPECT_EQ(broadcast_shapes({0, 3}, {1, 1}, "op"), (Dims{0, 3}));
  EXPECT_EQ(broadcast_shapes({5, 1, 7}, {1, 6, 1}, "op"), (Dims{5, 6, 7}));
  EXPECT_THROW(broadcast_shapes({0}, {2}, "op"), ValueError);
  EXPECT_EQ(message_of([] { broadcast_shapes({2, 3}, {2, 4}, "add"); }),
            "add: shapes [2, 3] and [2, 4] do not broadcast: sizes 3 and 4 at dimension 1");
}
