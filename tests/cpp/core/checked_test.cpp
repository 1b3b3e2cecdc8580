#include "dlprim/core/checked.h"

#include "tests/cpp/support/messages.h"
#include "tests/cpp/support/tensors.h"

using namespace dlprim;
using namespace testing_support;

TEST(Checked, ArithmeticNoticesWhatDoesNotFit) {
  std::int64_t result = 0;
  EXPECT_TRUE(try_multiply(std::int64_t{1} << 31, std::int64_t{1} << 31, result));
  EXPECT_EQ(result, std::int64_t{1} << 62);
  EXPECT_FALSE(try_multiply(std::int64_t{1} << 32, std::int64_t{1} << 31, result));
  EXPECT_TRUE(try_multiply(INT64_MIN, 1, result));
  EXPECT_FALSE(try_multiply(INT64_MIN, -1, result));
  EXPECT_TRUE(try_add(INT64_MAX, -1, result));
  EXPECT_EQ(result, INT64_MAX - 1);
  EXPECT_FALSE(try_add(INT64_MAX, 1, result));
}

TEST(Checked, KernelsTakeWhatAnIntHoldsWithRoomToSpare) {
  EXPECT_EQ(kernel_int(5, "op", "a row"), 5);
  EXPECT_EQ(kernel_int(-5, "op", "a margin"), -5);
  EXPECT_EQ(kernel_int(max_kernel_int, "op", "a row"), max_kernel_int);
  EXPECT_LT(max_kernel_int + 1000000, INT_MAX);
  EXPECT_THROW(kernel_int(max_kernel_int + 1, "op", "a row"), ValueError);
  EXPECT_THROW(kernel_int(-max_kernel_int - 1, "op", "a row"), ValueError);
  try {
    kernel_int(std::int64_t{1} << 32, "softmax", "a row");
    FAIL();
  } catch (const ValueError& e) {
    EXPECT_EQ(std::string(e.what()),
              concat("softmax: a row of 4294967296 is too large, at most ", max_kernel_int, " is supported"));
  }
}

TEST(Checked, TensorsAreContiguousAndOfTheExpectedShapeAndDtype) {
  const Tensor t = Tensor::empty(device(), {2, 3});
  Tensor transposed = t;
  transposed.shape = {3, 2};
  transposed.strides = {1, 3};
  require_contiguous("op", "the input", t);
  require_elements("op", "the input", t, 6, DType::float32);
  require_like("op", "the input", t, {2, 3}, DType::float32);
  expect_error<ValueError>([&] { require_contiguous("op", "the input", transposed); },
                           "op: expected the input to be contiguous, got shape [3, 2] with strides [1, 3]");
  expect_error<ValueError>([&] { require_elements("op", "dx", t, 7, DType::float32); },
                           "op: expected dx of 7 elements, got shape [2, 3]");
  expect_error<ValueError>([&] { require_like("op", "dx", t, {3, 2}, DType::float32); },
                           "op: expected dx of shape [3, 2], got [2, 3]");
  expect_error<TypeError>([&] { require_like("op", "dx", t, {2, 3}, DType::int64); },
                          "op: expected dx of dtype int64, got float32");
  expect_error<ValueError>([&] { require_like("op", "dx", &transposed, {3, 2}, DType::float32); },
                           "to be contiguous");
  const Tensor* none = nullptr;
  require_like("op", "bias", none, {3}, DType::float32);
  require_elements("op", "bias", none, 3, DType::float32);
}
