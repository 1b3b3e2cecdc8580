#pragma once

#include "autograd/autograd.h"
#include "tests/cpp/support/messages.h"
#include "tests/cpp/support/tensors.h"

namespace testing_support {

/** Tests of the layers above dlprim: tensors that name no device live on the one under test, and what a test
 * draws is the same in every run, whatever ran before it. */
class OnDevice : public testing::Test {
 protected:
  static void SetUpTestSuite() { ocl::set_default_device(device()); }
  void SetUp() override { ocl::manual_seed(0); }
};

/** A leaf of float32 that asks for gradients. */
inline ocl::Tensor leaf(const std::vector<float>& values, const ocl::Shape& shape) {
  return ocl::tensor(values, shape).requires_grad_();
}

/** The values of a gradient; fails where there is none. */
inline std::vector<float> gradient(const ocl::Tensor& t) {
  EXPECT_TRUE(t.grad().defined()) << "no gradient";
  return t.grad().defined() ? t.grad().to_vector() : std::vector<float>{};
}

using Values = std::vector<float>;

}  // namespace testing_support
