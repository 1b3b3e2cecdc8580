#include "dlprim/runtime/error_word.h"

#include <future>
#include <thread>

#include "tests/cpp/support/messages.h"
#include "tests/cpp/support/tensors.h"

using namespace dlprim;
using namespace testing_support;

namespace {

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

TEST(ErrorWord, HoldsAllBitsOfTheValue) {
  Kernel& kernel = device().programs().generated_kernel("test far out", "far_out", "", [] {
    return expanded_source("core/common.cl") +
           "__kernel void far_out(const long value, CHECK_ARGS) { FAIL(value); }\n";
  });
  for (const std::int64_t value : {std::int64_t{1} << 40, INT64_MIN, INT64_MAX}) {
    queue().launch(kernel, Range::linear(1, 1), cl_long{value}, first_check);
    expect_error<IndexError>([] { queue().finish(); }, concat("first: negative value ", value));
  }
}

TEST(ErrorWord, BelongsToTheThreadThatLaunched) {
  const Tensor bad = upload(std::vector<std::int32_t>{-5}, {1}),
               good = upload(std::vector<std::int32_t>{5}, {1});
  std::promise<void> launched, others_waited;
  std::thread other([&] {
    check_not_negative(bad, first_check);
    launched.set_value();
    others_waited.get_future().wait();
    expect_error<IndexError>([] { queue().finish(); }, "first: negative value -5");
    EXPECT_NO_THROW(queue().finish());
  });
  launched.get_future().wait();
  EXPECT_NO_THROW(queue().finish());
  EXPECT_EQ(download<std::int32_t>(good), std::vector<std::int32_t>{5});
  check_not_negative(good, second_check);
  EXPECT_NO_THROW(queue().finish());
  check_not_negative(upload(std::vector<std::int32_t>{-6}, {1}), second_check);
  expect_error<IndexError>([] { queue().finish(); }, "second: negative value -6");
  others_waited.set_value();
  other.join();
}

TEST(ErrorWord, OfAThreadThatEndedWithoutWaitingIsRaisedWithItsName) {
  std::thread([] { check_not_negative(upload(std::vector<std::int32_t>{-8}, {1}), first_check); }).join();
  expect_error<IndexError>([] { queue().finish(); },
                           "first: negative value -8 (in a call by the thread of native id ");
  EXPECT_NO_THROW(queue().finish());
}

TEST(ErrorWord, ReachesWhoUsesTheResults) {
  const Tensor before = upload(std::vector<std::int32_t>{1}, {1}),
               spoiled = queue().scratch({1}, DType::int32);
  Tensor derived;
  std::promise<void> launched, used;
  std::thread other([&] {
    check_not_negative(upload(std::vector<std::int32_t>{-9}, {1}), first_check.spoiling(spoiled));
    derived = queue().scratch({1}, DType::int32);
    queue().copy(spoiled, derived, 4);
    launched.set_value();
    used.get_future().wait();
    expect_error<IndexError>([] { queue().finish(); }, "first: negative value -9");
  });
  launched.get_future().wait();
  EXPECT_NO_THROW(download<std::int32_t>(before));
  expect_error<IndexError>([&] { download<std::int32_t>(spoiled); }, "whose results this thread uses");
  const Tensor own = queue().scratch({1}, DType::int32);
  queue().copy(derived, own, 4);
  EXPECT_NO_THROW(download<std::int32_t>(own));  // this thread knows
  std::thread third([&] {
    const Tensor another = queue().scratch({1}, DType::int32);
    queue().copy(derived, another, 4);
    expect_error<IndexError>([&] { download<std::int32_t>(another); },
                             "first: negative value -9 (in a call by ");
  });
  third.join();
  EXPECT_NO_THROW(download<std::int32_t>(before));
  used.set_value();
  other.join();
  EXPECT_NO_THROW(download<std::int32_t>(derived));
}

// Like PyTorch's threads of backward passes: their error is raised where somebody reads their result, and a
// result that they compute after that is right.
TEST(ErrorWord, OfAThreadThatNeverWaits) {
  std::promise<void> ended;
  std::vector<std::promise<int>> values(4);
  std::vector<std::promise<Tensor>> results(4);
  std::thread other([&] {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Tensor result = queue().scratch({1}, DType::int32);
      check_not_negative(upload(std::vector<std::int32_t>{values[i].get_future().get()}, {1}),
                         first_check.spoiling(result));
      queue().zero(result);
      results[i].set_value(result);
    }
    ended.get_future().wait();
    EXPECT_THROW(queue().finish(), IndexError);  // the last one that it has not heard
  });
  const auto result_of = [&](std::size_t i, int value) {
    values[i].set_value(value);
    return results[i].get_future().get();
  };
  const Tensor first = result_of(0, -5);
  expect_error<IndexError>([&] { download<std::int32_t>(first); }, "negative value -5");
  const Tensor second = result_of(1, 5);
  EXPECT_NO_THROW(download<std::int32_t>(second));
  const Tensor third = result_of(2, -7);
  expect_error<IndexError>([&] { download<std::int32_t>(third); }, "negative value -7");
  const Tensor fourth = result_of(3, 7);
  EXPECT_NO_THROW(download<std::int32_t>(fourth));
  ended.set_value();
  other.join();
}

TEST(ErrorWord, Oclgrind) {
  check_not_negative(upload(std::vector<std::int32_t>{3, -1}, {2}), first_check);
  EXPECT_THROW(queue().finish(), IndexError);
}
