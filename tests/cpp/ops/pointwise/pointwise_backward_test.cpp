#include "dlprim/ops/pointwise/pointwise.h"

#include "dlprim/ops/pointwise/pointwise_backward.h"
#include "dlprim/ops/pointwise/pointwise_result.h"
#include "tests/cpp/support/messages.h"
#include "tests/cpp/support/tensors.h"

using namespace dlprim;
using namespace testing_support;

namespace {

using Values = std::vector<float>;

const Values a_values{-1, 2, 3}, b_values{4, -5, 2}, g_values{1, 10, 100};

Tensor fresh() {
  return Tensor::empty(device(), {3});
}

}  // namespace

TEST(PointwiseBackward, GradientsThatAreWanted) {
  const Tensor a = upload(a_values, {3}), b = upload(b_values, {3}), g = upload(g_values, {3});
  const Tensor da = fresh(), db = fresh(), only = fresh();
  const PointwiseOp& mul = pointwise_op("mul");
  pointwise_backward(queue(), mul, g, {a, b}, {}, {}, {da, db});
  EXPECT_EQ(download<float>(da), (Values{4, -50, 200}));
  EXPECT_EQ(download<float>(db), (Values{-1, 20, 300}));
  pointwise_backward(queue(), mul, g, {Tensor(), 3}, {}, {}, {only, {}});
  EXPECT_EQ(download<float>(only), (Values{3, 30, 300}));
}

TEST(PointwiseBackward, WhatPassesTheGradientCopiesIt) {
  const Tensor g = upload(g_values, {3}), da = fresh(), db = fresh();
  pointwise_backward(queue(), pointwise_op("sub"), g, {Tensor(), Tensor()}, {1}, {}, {da, db});
  EXPECT_EQ(download<float>(da), g_values);
  EXPECT_EQ(download<float>(db), (Values{-1, -10, -100}));
}

TEST(PointwiseBackward, InPlace) {
  const Tensor y = upload(Values{0, 2, 3}, {3}), g = upload(g_values, {3});
  pointwise_backward(queue(), pointwise_op("relu"), g, {Tensor()}, {}, y, {g});
  EXPECT_EQ(download<float>(g), (Values{0, 10, 100}));
}

TEST(PointwiseBackward, RefusesWhatHasNoGradient) {
  const Tensor g = upload(g_values, {3});
  expect_error<ValueError>(
      [&] { pointwise_backward(queue(), pointwise_op("isnan"), g, {g}, {}, g, {fresh()}); },
      "has no gradient with respect to input 0");
  expect_error<ValueError>(
      [&] { pointwise_backward(queue(), pointwise_op("mul"), g, {g}, {}, g, {fresh()}); },
      "expected 2 inputs and gradients, got 1 and 1");
}

TEST(PointwiseResult, ShapesAndDtypesLikePyTorch) {
  const auto tensor = [](const Dims& shape, DType dtype) { return Tensor::empty(device(), shape, dtype); };
  const PointwiseResult sum =
      pointwise_result(pointwise_op("add"), {tensor({2, 1}, DType::int64), tensor({3}, DType::float16)}, {1});
  EXPECT_EQ(sum.shape, (Dims{2, 3}));
  EXPECT_EQ(sum.dtype, DType::float16);
  const PointwiseResult is_less =
      pointwise_result(pointwise_op("lt"), {tensor({3}, DType::uint8), Scalar(0.5)}, {});
  EXPECT_EQ(is_less.compute, DType::float32);
  EXPECT_EQ(is_less.dtype, DType::boolean);
  EXPECT_EQ(result_type({tensor({3}, DType::int32), tensor({}, DType::int64)}), DType::int32);
  EXPECT_EQ(result_type({tensor({3}, DType::int32), tensor({}, DType::float64)}), DType::float64);
  EXPECT_THROW(pointwise_result(pointwise_op("add"), {Scalar(1), Scalar(2)}, {1}), TypeError);
}
