#include "autograd/ops/quantized.h"

#include "autograd/autograd.h"
#include "tests/cpp/support/autograd.h"
#include "tests/cpp/support/messages.h"

using namespace ocl;
using namespace testing_support;

namespace {

class Quantized : public OnDevice {};

/** 32 inputs whose groups have the steps 1/4 and 1: no rounding. */
Tensor weight_on_steps() {
  std::vector<float> values;
  for (int i = 0; i < 32; ++i) values.push_back(static_cast<float>(i % 16) / 4 - 1);
  for (int i = 0; i < 32; ++i) values.push_back(static_cast<float>(i % 16) - 3);
  return reshape(tensor(values), {2, 32});
}

}  // namespace

TEST_F(Quantized, FourBitsComeBack) {
  const Tensor weight = weight_on_steps();
  const TensorList stored = quantize_int4(weight, 32);
  EXPECT_EQ(stored[0].dtype(), DType::uint8);
  EXPECT_EQ(stored[0].shape(), (Dims{2, 16}));
  EXPECT_EQ(stored[1].to_vector<float>(), (std::vector<float>{0.25f, 1}));
  EXPECT_EQ(stored[2].to_vector<float>(), (std::vector<float>{1, 5}));
  EXPECT_EQ(dequantize_weight(stored[0], stored[1], stored[2]).to_vector<float>(), weight.to_vector<float>());
  // Element j in the low bits of byte j, element j + 16, which is alike here, in its high bits.
  EXPECT_EQ(to(stored[0], DType::int32).to_vector<std::int32_t>()[5], 5 + 16 * 5);
}

TEST_F(Quantized, EightBitsComeBack) {
  const Tensor weight = tensor({127.5f, -127.f, 3.f, -1.f}).reshape({1, 4});
  const auto [numbers, scales] = quantize_int8(weight);
  EXPECT_EQ(to(numbers, DType::int32).to_vector<std::int32_t>(),
            (std::vector<std::int32_t>{127, -127, 3, -1}));
  EXPECT_EQ(scales.to_vector<float>(), (std::vector<float>{1}));
}

TEST_F(Quantized, GradientsOfInputAndBias) {
  const Tensor weight = weight_on_steps();
  const TensorList stored = quantize_int4(weight, 32);
  for (const std::int64_t rows : {1, 20}) {
    Tensor x = full({rows, 32}, 0.5).detach().requires_grad_(), bias = zeros({2}).detach().requires_grad_();
    Tensor y = quantized_linear(x, stored[0], stored[1], stored[2], bias);
    EXPECT_EQ(y.to_vector<float>(), linear(x, weight, bias).to_vector<float>());
    sum(y).backward();
    EXPECT_EQ(bias.grad().to_vector<float>(), (std::vector<float>(2, static_cast<float>(rows))));
    EXPECT_EQ(narrow(x.grad(), 0, 0, 1).to_vector<float>(), sum(weight, {0}).to_vector<float>());
  }
}

TEST_F(Quantized, ScalesAreConstants) {
  const auto [numbers, scales] = quantize_int8(weight_on_steps());
  const Tensor wanted = scales.detach().requires_grad_(), q = numbers;
  expect_error<AutogradError>([&] { quantized_linear(zeros({1, 32}), q, wanted); }, "not differentiable");
}
