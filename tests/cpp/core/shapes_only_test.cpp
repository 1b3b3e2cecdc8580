#include "dlprim/core/shapes_only.h"

#include <gtest/gtest.h>

#include "dlprim/core/call.h"
#include "dlprim/ops/softmax/softmax.h"
#include "support/tensors.h"

namespace {

using namespace dlprim;
using namespace testing_support;

struct Names : CallListener {
  std::vector<std::string> entered;
  void enter(const Call& call) override { entered.emplace_back(call.name); }
};

TEST(ShapesOnly, PrimitivesAreHeardAndCheckedButEnqueueNothing) {
  const Tensor real = upload<float>({1, 2, 3, 4}, {2, 2});
  queue().finish();
  const std::uint64_t commands = queue().commands();
  const std::uint64_t allocated = device().allocator().stats().allocated;
  Names names;
  Tensor y;
  {
    const ShapesOnly mode;
    const Listening listening(names);
    y = Tensor::empty(device(), {2, 2});
    softmax_forward(queue(), real, 1, y);
    EXPECT_THROW(softmax_forward(queue(), real, 2, y), IndexError);
    queue().zero(real);
    std::vector<float> values(4);
    EXPECT_THROW(queue().read(real, values.data(), 16), Error);
    Tensor::empty(device(), {1 << 20, 1 << 20});
  }
  EXPECT_EQ(names.entered, (std::vector<std::string>{"softmax_forward", "softmax_forward"}));
  EXPECT_EQ(queue().commands(), commands);
  EXPECT_EQ(device().allocator().stats().allocated, allocated);
  EXPECT_EQ(download<float>(real), (std::vector<float>{1, 2, 3, 4}));
}

TEST(ShapesOnly, WhatWasMadeThereHasNoElementsLater) {
  Tensor y;
  {
    const ShapesOnly outer;
    {
      const ShapesOnly inner;
    }
    y = Tensor::empty(device(), {2, 2});
  }
  EXPECT_TRUE(call_state.has_elements);
  EXPECT_THROW(download<float>(y), Error);
  EXPECT_THROW(queue().zero(y), Error);
  EXPECT_THROW(softmax_forward(queue(), y, 1, y), Error);
  EXPECT_NO_THROW(
      softmax_forward(queue(), upload<float>({1, 2}, {1, 2}), 1, Tensor::empty(device(), {1, 2})));
}

}  // namespace
