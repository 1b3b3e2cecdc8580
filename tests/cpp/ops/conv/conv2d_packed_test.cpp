#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "dlprim/ops/conv/conv2d.h"
#include "dlprim/ops/conv/conv2d_implementations.h"
#include "support/implementations.h"
#include "support/tensors.h"

namespace {

using namespace dlprim;
using namespace testing_support;

/** Whole numbers from -3 to 3, whose sums here are exact at any precision. */
Tensor whole_numbers(const Dims& shape, unsigned seed) {
  std::vector<float> values = random_floats(product(shape), seed);
  for (float& value : values) value = std::round(3 * value);
  return upload(values, shape);
}

// More images than are packed at once, and a last piece of fewer than a line of local memory holds.
TEST(Conv2dPacked, InPieces) {
  const Dims x_shape{69, 64, 112, 111}, weight_shape{40, 64, 3, 3};
  const Conv2dGeometry geometry{{1, 1}, {1, 1}, {1, 1}, 1};
  const Dims y_shape = conv2d_output_shape(x_shape, weight_shape, geometry);
  const int capability = device().info().compute_capability;
  const std::string plain = capability == 90 ? "warpgroup_tf32_128x128x32" : "tensor_tf32_128x128";
  Queue& queue = device().queue();
  struct Direction {
    const char *family, *layout;
  };
  for (const Direction& d :
       {Direction{"conv2d_forward", "channels_last_"}, Direction{"conv2d_backward_data", "channels_last_"},
        Direction{"conv2d_backward_weight", "images_last_"}}) {
    SCOPED_TRACE(d.family);
    const auto results = [&](const std::string& implementation) {
      const ImplementationsSet forced(concat(d.family, "=", implementation));
      const Tensor x = whole_numbers(x_shape, 1), dy = whole_numbers(y_shape, 2),
                   weight = whole_numbers(weight_shape, 3);
      const std::string family = d.family;
      const Tensor out = Tensor::empty(device(), family == "conv2d_forward"         ? y_shape
                                                 : family == "conv2d_backward_data" ? x_shape
                                                                                    : weight_shape);
      if (family == "conv2d_forward")
        conv2d_forward(queue, x, weight, nullptr, geometry, out, MatmulPrecision::medium);
      else if (family == "conv2d_backward_data")
        conv2d_backward_data(queue, dy, weight, geometry, out, MatmulPrecision::medium);
      else
        conv2d_backward_weight(queue, dy, x, geometry, out, MatmulPrecision::medium);
      return download<float>(out);
    };
    if (capability < 80) GTEST_SKIP() << "for tensor cores";
    const auto expected = results(plain);
    for (const char* tile : {"warpgroup_tf32_128x128x32", "warpgroup_half_128x128x64", "tensor_half_128x128",
                             "tensor_half_64x128", "tensor_tf32_128x128"}) {
      if (capability != 90 && std::string(tile).find("warpgroup") == 0) continue;
      const CountChoices packed(d.family, std::string(d.layout) + tile);
      EXPECT_TRUE(results(std::string(d.layout) + tile) == expected) << tile;
      EXPECT_EQ(packed.count(), 1) << tile;
    }
  }
}

// More pixels than the kernels of GPUs count, which those of CPUs take.
TEST(Conv2dPacked, ElsewhereNoSizeIsTooLarge) {
  if (device().info().compute_capability >= 80) GTEST_SKIP() << "for devices without tensor cores";
  const Tensor any = upload(std::vector<float>{1}, {1});
  const ConvSizes sizes{100'000, 1, 1, 1, {224, 224}, {224, 224}, {1, 1}, {1, 1}, {0, 0}, {1, 1}};
  const DeviceInfo& info = device().info();
  for (const ConvForward& each : conv2d_forward_channels_last())
    EXPECT_FALSE(each.can_take(info, {sizes, any, any, nullptr, any, MatmulPrecision::medium})) << each.name;
  for (const ConvBackwardData& each : conv2d_backward_data_channels_last())
    EXPECT_FALSE(each.can_take(info, {sizes, any, any, any, MatmulPrecision::medium})) << each.name;
  for (const ConvBackwardWeight& each : conv2d_backward_weight_images_last())
    EXPECT_FALSE(each.can_take(info, {sizes, any, any, any, MatmulPrecision::medium})) << each.name;
}

// The sizes that conv2d gives: a stride that is never taken is 1.
TEST(Conv2dMapped, PlanesAreProductsWhereResultsLieAsTheyDo) {
  const DeviceInfo hopper = nvidia_card(90);
  const Tensor any = Tensor::empty(device(), {2, 16, 4, 2}, DType::bfloat16);
  const ConvSizes alike{2, 1, 16, 24, {4, 2}, {4, 2}, {1, 1}, {1, 1}, {0, 0}, {1, 1}},
      first_alone{2, 1, 16, 24, {4, 2}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {1, 1}};
  const auto takes = [&](const auto& list, const auto& problem) {
    EXPECT_FALSE(list.empty());
    return std::any_of(list.begin(), list.end(),
                       [&](const auto& each) { return each.can_take(hopper, problem); });
  };
  const auto forward = conv2d_forward_mapped();
  const auto backward = conv2d_backward_data_mapped();
  constexpr MatmulPrecision precision = MatmulPrecision::highest;
  EXPECT_TRUE(takes(forward, ConvForwardProblem{alike, any, any, nullptr, any, precision}));
  EXPECT_TRUE(takes(backward, ConvBackwardDataProblem{alike, any, any, any, precision}));
  EXPECT_FALSE(takes(forward, ConvForwardProblem{first_alone, any, any, nullptr, any, precision}));
  EXPECT_FALSE(takes(backward, ConvBackwardDataProblem{first_alone, any, any, any, precision}));
}

}  // namespace
