#include "dlprim/runtime/queue.h"

#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>

#include "tests/cpp/support/device_faults.h"
#include "tests/cpp/support/messages.h"
#include "tests/cpp/support/tensors.h"

using namespace dlprim;
using namespace testing_support;

namespace {

std::vector<std::int32_t> numbers(std::int64_t count) {
  std::vector<std::int32_t> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 1);
  return values;
}

/** A stretch of a contiguous tensor. */
Tensor part(const Tensor& whole, std::int64_t start, std::int64_t length) {
  Tensor t = whole.reshaped({whole.numel()});
  t.shape = Dims{length};
  t.offset = start;
  return t;
}

Kernel& test_kernel(const char* name) {
  return device().programs().generated_kernel("test queue kernels", name, "", [] {
    return expanded_source("core/common.cl") + R"(
      typedef struct { int a, b, c; } triple_t;
      __kernel void add_number(BUFFER(int, p), const int number) {
        BIND(int, p);
        p[get_global_id(0)] += number;
      }
      __kernel void take_all(BUFFER(int, p), BUFFER(const int, maybe), __local int *scratch, const triple_t triple) {
        BIND(int, p);
        BIND(const int, maybe);
        scratch[0] = triple.a + 10 * triple.b + 100 * triple.c;
        p[0] = scratch[0] + (maybe_buffer ? maybe[0] : 0);
      }
      __kernel void count_slowly(BUFFER(int, p), const int turns) {
        BIND(int, p);
        uint state = p[0];
        for (int i = 0; i < turns; ++i) state = state * 1664525 + 1013904223;
        p[0] = (int)state;
      }
      __kernel void coordinates(BUFFER(int, p), const int width, const int height) {
        BIND(int, p);
        const int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
        if (x < width && y < height) p[(z * height + y) * width + x] = x + 100 * y + 10000 * z;
      })";
  });
}

}  // namespace

TEST(Queue, WritesAndReads) {
  const auto values = numbers(1000);
  const Tensor t = upload(values, {1000});
  EXPECT_EQ(download<std::int32_t>(t), values);
  EXPECT_EQ(download<std::int32_t>(part(t, 990, 10)),
            std::vector<std::int32_t>(values.end() - 10, values.end()));
}

TEST(Queue, WritesInsideATensor) {
  const Tensor t = upload(numbers(6), {6});
  const std::vector<std::int32_t> two{-1, -2};
  queue().write(part(t, 3, 2), two.data(), 8);
  EXPECT_EQ(download<std::int32_t>(t), (std::vector<std::int32_t>{1, 2, 3, -1, -2, 6}));
}

TEST(Queue, HostMemoryIsFreeAfterAWrite) {
  const Tensor t = Tensor::empty(device(), {100000}, DType::int32);
  auto values = numbers(100000);
  const auto expected = values;
  queue().write(t, values.data(), values.size() * 4);
  std::fill(values.begin(), values.end(), -1);
  EXPECT_EQ(download<std::int32_t>(t), expected);
}

// Around the sizes at which transfers take another way, and several pieces of staging memory.
TEST(Queue, TransfersOfEverySize) {
  for (const std::int64_t count :
       {16383, 16384, 16385, 1 << 20, (1 << 20) + 1, (2 << 20) + 7, (5 << 20) + 3}) {
    auto values = numbers(count);
    const auto expected = values;
    const Tensor t = Tensor::empty(device(), {count + 2}, DType::int32);
    queue().write(part(t, 1, count), values.data(), values.size() * 4);
    std::fill(values.begin(), values.end(), -1);
    queue().launch(test_kernel("add_number"), Range::linear(count, 1), part(t, 1, count), 5);
    auto actual = download<std::int32_t>(part(t, 1, count));
    for (std::int32_t& value : actual) value -= 5;
    EXPECT_TRUE(actual == expected) << count << " elements";
  }
}

// More than all staging memory, many times over, from several threads at once.
TEST(Queue, TransfersOfSeveralThreads) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int k = 0; k < 3; ++k)
    threads.emplace_back([&wrong, k] {
      for (int i = 0; i < 4; ++i) {
        std::vector<std::int32_t> values(static_cast<std::size_t>(3 << 20), 100 * k + i);
        const Tensor t = upload(values, {3 << 20});
        if (download<std::int32_t>(t) != values) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Queue, AThreadLaunchesWhileAnotherWaits) {
  SKIP_WHERE_LOOPS_END_EARLY();
  Kernel& slow = test_kernel("count_slowly");
  const Tensor result = upload(numbers(1), {1}), other = upload(numbers(8), {8});
  queue().launch(test_kernel("add_number"), Range::linear(8, 1), other, 1);
  queue().launch(slow, Range::linear(1, 1), result, 1);  // a first launch waits for the compiler
  queue().finish();
  std::atomic<bool> has_read{false};
  queue().launch(slow, Range::linear(1, 1), result, 400'000'000);
  std::thread reader([&] {
    download<std::int32_t>(result);
    has_read = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the reader waits by now
  queue().launch(test_kernel("add_number"), Range::linear(8, 1), other, 1);
  EXPECT_FALSE(has_read) << "the launch waited for the other thread's read, or the kernel was too quick";
  reader.join();
  EXPECT_EQ(download<std::int32_t>(other), (std::vector<std::int32_t>{3, 4, 5, 6, 7, 8, 9, 10}));
}

TEST(Queue, MarksStandForWhatCameBefore) {
  SKIP_WHERE_LOOPS_END_EARLY();
  SKIP_WHERE_NOTHING_CALLS_BACK();
  Kernel& slow = test_kernel("count_slowly");
  const Tensor word = upload(numbers(1), {1});
  const Mark before = queue().mark(true);
  queue().launch(slow, Range::linear(1, 1), word, 20'000'000);
  const Mark after = queue().mark(true);
  EXPECT_LT(before.commands, after.commands);
  queue().wait_for(before);
  EXPECT_TRUE(queue().has_reached(before));
  queue().wait_for(after);
  EXPECT_TRUE(queue().has_reached(after));
  EXPECT_TRUE(queue().has_passed(after.commands));
  // At least the chain of multiply-adds lies between them.
  EXPECT_GT(after.time.get() - before.time.get(), std::chrono::milliseconds(5));
  EXPECT_FALSE(queue().mark().time.valid());
}

TEST(Queue, AMarkComesAfterUploads) {
  const std::vector<float> values(1 << 20, 3.0F);
  const Tensor there = Tensor::empty(device(), {1 << 20});
  queue().write(there, values.data(), values.size() * sizeof(float));
  queue().wait_for(queue().mark());
  EXPECT_EQ(download<float>(there), values);
}

// Values that have not changed are not set again; one that has, is.
TEST(Queue, ArgumentsChangeBetweenLaunches) {
  const Tensor t = upload(std::vector<std::int32_t>(4, 0), {4});
  for (const std::int32_t number : {1, 1, 2, 1, 0, 5}) {
    queue().launch(test_kernel("add_number"), Range::linear(4, 1), t, number);
    queue().launch(test_kernel("add_number"), Range::linear(1, 1), part(t, 2, 2), number);
  }
  EXPECT_EQ(download<std::int32_t>(t), (std::vector<std::int32_t>{10, 10, 20, 10}));
}

TEST(Queue, Copies) {
  const Tensor source = upload(numbers(8), {8}), destination = upload(std::vector<std::int32_t>(8, 0), {8});
  queue().copy(part(source, 2, 3), part(destination, 4, 3), 12);
  EXPECT_EQ(download<std::int32_t>(destination), (std::vector<std::int32_t>{0, 0, 0, 0, 3, 4, 5, 0}));
}

TEST(Queue, Zeroes) {
  const Tensor t = upload(numbers(8), {8});
  queue().zero(part(t, 1, 5));
  EXPECT_EQ(download<std::int32_t>(t), (std::vector<std::int32_t>{1, 0, 0, 0, 0, 0, 7, 8}));
  const Tensor bytes = upload(std::vector<std::uint8_t>(7, 9), {7});
  queue().zero(part(bytes, 3, 3));
  EXPECT_EQ(download<std::uint8_t>(bytes), (std::vector<std::uint8_t>{9, 9, 9, 0, 0, 0, 9}));
}

TEST(Queue, EmptyTensorsAreFine) {
  const Tensor none = Tensor::empty(device(), {0});
  queue().write(none, nullptr, 0);
  queue().read(none, nullptr, 0);
  queue().copy(none, none, 0);
  queue().zero(none);
  queue().launch(test_kernel("add_number"), Range::linear(0, 16), none, 1);
  queue().finish();
}

TEST(Queue, LaunchesInOrder) {
  const Tensor t = upload(std::vector<std::int32_t>(64, 0), {64});
  for (int i = 0; i < 100; ++i) queue().launch(test_kernel("add_number"), Range::linear(64, 16), t, i);
  EXPECT_EQ(download<std::int32_t>(t), std::vector<std::int32_t>(64, 4950));
}

TEST(Queue, OffsetsTravelAsArguments) {
  const Tensor t = upload(std::vector<std::int32_t>(10, 0), {10});
  queue().launch(test_kernel("add_number"), Range::linear(3, 1), part(t, 4, 3), 5);
  EXPECT_EQ(download<std::int32_t>(t), (std::vector<std::int32_t>{0, 0, 0, 0, 5, 5, 5, 0, 0, 0}));
}

TEST(Queue, EveryKindOfArgument) {
  const Tensor result = upload(std::vector<std::int32_t>{0}, {1}),
               more = upload(std::vector<std::int32_t>{7, 1000}, {2});
  const auto launch = [&](Optional maybe, const auto& triple) {
    queue().launch(test_kernel("take_all"), Range::groups(1, 1), result, maybe, LocalMemory{16}, triple);
    return download<std::int32_t>(result)[0];
  };
  struct Triple {
    cl_int a, b, c;
  };
  EXPECT_EQ(launch(Optional{nullptr}, Triple{1, 2, 3}), 321);
  const Tensor second = part(more, 1, 1);
  EXPECT_EQ(launch(Optional{&second}, std::vector<cl_int>{4, 5, 6}), 1654);
}

TEST(Queue, RangesInThreeDimensions) {
  const Tensor t = Tensor::empty(device(), {3, 2, 5}, DType::int32);
  queue().launch(test_kernel("coordinates"), {{5, 2, 3}, {4, 2, 1}}, t, 5,
                 2);  // 5 is rounded up to two groups of 4
  const auto values = download<std::int32_t>(t);
  for (int z = 0; z < 3; ++z)
    for (int y = 0; y < 2; ++y)
      for (int x = 0; x < 5; ++x)
        EXPECT_EQ(values[static_cast<std::size_t>((z * 2 + y) * 5 + x)], x + 100 * y + 10000 * z);
}

TEST(Queue, WrongArgumentsAreErrors) {
  const Tensor t = upload(std::vector<std::int32_t>(4, 0), {4});
  Kernel& kernel = test_kernel("add_number");
  expect_error<DeviceError>([&] { queue().launch(kernel, Range::linear(4, 1), t, 1.0); },
                            "kernel add_number: argument 2 of 8 bytes refused");
  expect_error<DeviceError>([&] { queue().launch(kernel, Range::linear(4, 1), t, 1, 2); }, "argument 3");
  queue().launch(kernel, Range::linear(4, 1), t, 3);
  EXPECT_EQ(download<std::int32_t>(t), std::vector<std::int32_t>(4, 3));
}

TEST(Queue, TooLargeAWorkGroupIsAnError) {
  const Tensor t = upload(std::vector<std::int32_t>(4, 0), {4});
  const int group = device().info().max_work_group * 2;
  expect_error<DeviceError>([&] { queue().launch(test_kernel("add_number"), Range::linear(4, group), t, 1); },
                            "kernel add_number");
}

TEST(Queue, ATensorOfAnotherDeviceIsAnError) {
  Device* other = nullptr;
  for (int i = 0; i < Device::count() && !other; ++i)
    if (i != device().index()) other = &Device::get(i);
  if (!other) GTEST_SKIP() << "one device only";
  const Tensor foreign = Tensor::empty(*other, {4}, DType::int32);
  expect_error<ValueError>(
      [&] { queue().launch(test_kernel("add_number"), Range::linear(4, 1), foreign, 1); },
      "a tensor of " + other->name() + " was given to a queue of " + device().name());
}

TEST(Queue, ManyThreads) {
  const Tensor sum = upload(std::vector<std::int32_t>(16, 0), {16});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        queue().launch(test_kernel("add_number"), Range::linear(16, 4), sum, t);
        const Tensor own = upload(std::vector<std::int32_t>{i, t}, {2});
        queue().launch(test_kernel("add_number"), Range::linear(2, 1), own, 1);
        if (i % 50) continue;
        EXPECT_EQ(download<std::int32_t>(own), (std::vector<std::int32_t>{i + 1, t + 1}));
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(download<std::int32_t>(sum), std::vector<std::int32_t>(16, 200 * (0 + 1 + 2 + 3)));
}

TEST(Queue, Oclgrind) {
  const Tensor t = upload(std::vector<std::int32_t>(6, 1), {6});
  queue().launch(test_kernel("add_number"), Range::linear(6, 3), t, 2);
  queue().zero(part(t, 0, 2));
  EXPECT_EQ(download<std::int32_t>(t), (std::vector<std::int32_t>{0, 0, 3, 3, 3, 3}));
}
