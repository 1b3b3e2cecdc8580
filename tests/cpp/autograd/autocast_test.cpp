#include "autograd/autocast.h"

#include <thread>

#include "tests/cpp/support/autograd.h"

using namespace ocl;
using namespace testing_support;

namespace {

class Autocast : public OnDevice {};

TEST_F(Autocast, OperatorsRunInTheDtypeOfTheirRule) {
  const Tensor a = ones({2, 2}), half = ones({2, 2}, DType::float16);
  const AutocastGuard guard(DType::float16);
  EXPECT_EQ(mm(a, a).dtype(), DType::float16);
  EXPECT_EQ(linear(a, a).dtype(), DType::float16);
  EXPECT_EQ(softmax(half, -1).dtype(), DType::float32);
  EXPECT_EQ(sum(half).dtype(), DType::float32);
  EXPECT_EQ(relu(half).dtype(), DType::float16);
  EXPECT_EQ(relu(a).dtype(), DType::float32);
  EXPECT_EQ(addcmul(half, half, a).dtype(), DType::float32);
  expect_error<AutogradError>([&] { binary_cross_entropy(a, a); }, "unsafe to autocast");
}

TEST_F(Autocast, EndsWithItsGuard) {
  const Tensor a = ones({2, 2});
  {
    const AutocastGuard guard;
    EXPECT_TRUE(autocast_mode().enabled);
    {
      const AutocastGuard off(DType::bfloat16, false);
      EXPECT_EQ(mm(a, a).dtype(), DType::float32);
    }
    EXPECT_EQ(mm(a, a).dtype(), DType::bfloat16);
    std::thread([&] { EXPECT_EQ(mm(a, a).dtype(), DType::float32); }).join();
  }
  EXPECT_EQ(mm(a, a).dtype(), DType::float32);
}

TEST_F(Autocast, GradientsOfParametersAreFloat32) {
  const Tensor weight = leaf({1, 2, 3, 4}, {2, 2}), x = leaf({1, 1}, {1, 2});
  Tensor loss;
  {
    const AutocastGuard guard;
    loss = sum(linear(x, weight));
    EXPECT_EQ(loss.dtype(), DType::float32);
  }
  loss.backward();
  EXPECT_EQ(weight.grad().dtype(), DType::float32);
  EXPECT_EQ(gradient(x), (Values{4, 6}));
}

TEST_F(Autocast, RefusesOtherDtypes) {
  expect_error<TypeError>([] { const AutocastGuard guard(DType::float32); }, "bfloat16 or float16");
  EXPECT_FALSE(autocast_mode().enabled);
}

}  // namespace
