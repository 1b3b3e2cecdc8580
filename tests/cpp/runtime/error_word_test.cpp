#include "dlprim/runtime/error_word.h"

#include "tests/cpp/support/messages.h"
#include "tests/cpp/support/tensors.h"

using namespace dlprim;
using namespace testing_support;

namespace {

Queue& queue() {
  return device().queue();
}

/** Enqueues a kernel that fails for each element that is negative. */
void check_not_negative(const Tensor& t, DeviceCheck check) {
  Kernel& kernel = device().programs().generated_kernel("test not negative", "not_negative", "", [] {
    return expanded_source("core/common.cl") +
           "__kernel void not_negative(BUFFER(const int, p), CHECK_ARGS) {\n"
           "  BIND(const int, p);\n"
           "  const int value = p[get_global_id(0)];\n"
           "  if (value < 0) { FAIL(value); }\n"
           "}\n";
  });
  queue().launch(kernel, Range::linear(t.numel(), 1), t, check);
}

const DeviceCheck first_check = register_check("first: negative value ");
const DeviceCheck second_check = register_check("second: negative value ");

}  // namespace

TEST(ErrorWord, IsRaisedAtAFinishAndThenCleared) {
  check_not_negative(upload(std::vector<std::int32_t>{1, -5, 2}, {3}), first_check);
  expect_error<IndexError>([] { queue().finish(); }, "first: negative value -5");
  EXPECT_NO_THROW(queue().finish());
  check_not_negative(upload(std::vector<std::int32_t>{1}, {1}), first_check);
  EXPECT_NO_THROW(queue().finish());
}

TEST(ErrorWord, IsRaisedAtARead) {
  const Tensor t = upload(std::vector<std::int32_t>{-7}, {1});
  check_not_negative(t, second_check);
  expect_error<IndexError>([&] { download<std::int32_t>(t); }, "second: negative value -7");
  EXPECT_EQ(download<std::int32_t>(t), std::vector<std::int32_t>{-7});
}

TEST(ErrorWord, TheFirstFailureCounts) {
  check_not_negative(upload(std::vector<std::int32_t>{-1}, {1}), first_check);
  check_not_negative(upload(std::vector<std::int32_t>{-2}, {1}), second_check);
  expect_error<IndexError>([] { queue().finish(); }, "first: negative value -1");
}

TEST(ErrorWord, Oclgrind) {
  check_not_negative(upload(std::vector<std::int32_t>{3, -1}, {2}), first_check);
  EXPECT_THROW(queue().finish(), IndexError);
}
