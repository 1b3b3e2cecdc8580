// Transfers beside the device's queue: on a device that shares the host's memory straight from and to the
// caller's, else through queues of their own. OCL_STAGED_TRANSFERS=1 makes any device one of the latter.
#include "dlprim/runtime/transfers.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "dlprim/core/recorder.h"
#include "dlprim/ops/creation/upload.h"
#include "dlprim/runtime/pinned_memory.h"
#include "tests/cpp/support/device_faults.h"
#include "tests/cpp/support/messages.h"
#include "tests/cpp/support/tensors.h"

using namespace dlprim;
using namespace testing_support;

namespace {

constexpr std::int64_t slot = static_cast<std::int64_t>(Staging::slot_bytes);

Tensor bytes_on_device(std::int64_t count) {
  return Tensor::empty(device(), {count}, DType::uint8);
}

/** Bytes that follow no period of pieces or pages. */
std::vector<std::uint8_t> pattern(std::int64_t count, std::uint32_t seed) {
  std::vector<std::uint8_t> values(static_cast<std::size_t>(count));
  std::uint32_t state = seed * 2654435761u + 1;
  for (std::uint8_t& value : values) {
    state = state * 1664525 + 1013904223;
    value = static_cast<std::uint8_t>(state >> 24);
  }
  return values;
}

Kernel& test_kernel(const char* name) {
  return device().programs().generated_kernel("test transfer kernels", name, "", [] {
    return expanded_source("core/common.cl") + R"(
      __kernel void copy_slowly(BUFFER(const uchar, from), BUFFER(uchar, to), const ulong count, const int turns) {
        BIND(const uchar, from);
        BIND(uchar, to);
        uint state = (uint)count;
        for (int i = 0; i < turns; ++i) state = state * 1664525 + 1013904223;
        const uchar zero = state == 12345 ? 1 : 0;
        for (ulong i = 0; i < count; ++i) to[i] = from[i] + zero;
      })";
  });
}

/** Enqueues a copy that begins after a few tenths of a second. */
void copy_slowly(const Tensor& from, const Tensor& to) {
  queue().launch(test_kernel("copy_slowly"), Range::linear(1, 1), from, to,
                 static_cast<std::uint64_t>(from.numel()), 300'000'000);
}

void build_kernels() {
  const Tensor one = upload(std::vector<std::uint8_t>{1}, {1}), other = bytes_on_device(1);
  queue().launch(test_kernel("copy_slowly"), Range::linear(1, 1), one, other, std::uint64_t{1}, 1);
  queue().finish();
}

/** A tensor over the memory that `t`, the only handle, had: of as many bytes, and never used as that. */
Tensor in_memory_of(Tensor&& t) {
  const cl_mem buffer = t.storage->buffer()();
  const std::size_t offset = t.storage->byte_offset();
  const std::int64_t count = t.numel();
  t = Tensor();
  Tensor next = bytes_on_device(count);
  EXPECT_EQ(next.storage->buffer_for_transfer()(), buffer) << "the allocator gave other memory";
  EXPECT_EQ(next.storage->byte_offset(), offset);
  EXPECT_TRUE(next.storage->is_untouched());
  return next;
}

/** Expects an upload to the tensor that `memory` makes, behind a kernel that takes its time, to be over
 * before the kernel is. */
template <class Memory>
void expect_uploaded_beside_a_kernel(const Memory& memory) {
  build_kernels();
  const Tensor small = upload(std::vector<std::uint8_t>{1}, {1}), result = bytes_on_device(1);
  std::atomic<bool> is_over{false};
  copy_slowly(small, result);
  std::thread waiting([&] {
    download<std::uint8_t>(result);
    is_over = true;
  });
  const Tensor t = memory();
  const auto values = pattern(t.numel(), 12);
  queue().write(t, values.data(), values.size());
  EXPECT_FALSE(is_over) << "the upload waited for a kernel that has nothing to do with it";
  waiting.join();
  EXPECT_TRUE(download<std::uint8_t>(t) == values);
}

}  // namespace

TEST(Transfers, OfEverySize) {
  for (const std::int64_t count : {std::int64_t{1}, std::int64_t{65535}, std::int64_t{65536}, slot - 1, slot,
                                   slot + 1, 3 * slot + 5, 18 * slot + 3})
    for (const bool was_used : {false, true}) {
      auto values = pattern(count, 1);
      const auto expected = values;
      const Tensor t = bytes_on_device(count);
      if (was_used) queue().zero(t);
      queue().write(t, values.data(), values.size());
      std::fill(values.begin(), values.end(), std::uint8_t{0});
      EXPECT_TRUE(download<std::uint8_t>(t) == expected) << count << " bytes, used before: " << was_used;
    }
}

TEST(Transfers, OfPinnedMemoryAndPartsOfIt) {
  const std::int64_t count = 3 * slot + 7;
  const auto pinned = PinnedMemory::allocate(device(), static_cast<std::size_t>(count));
  auto* memory = static_cast<std::uint8_t*>(pinned->data());
  const auto values = pattern(count, 2);
  std::copy(values.begin(), values.end(), memory);
  for (const std::int64_t start : {std::int64_t{0}, std::int64_t{1}, slot, count - 70000}) {
    const Tensor t = bytes_on_device(count - start);
    queue().write(t, memory + start, static_cast<std::size_t>(count - start));
    memory[count - 1] ^= 1;  // it may be changed at once
    EXPECT_TRUE(download<std::uint8_t>(t) == std::vector<std::uint8_t>(values.begin() + start, values.end()));
    memory[count - 1] ^= 1;
  }
  const Tensor t = upload(pattern(count - 5, 3), {count - 5});
  queue().read(t, memory + 5, static_cast<std::size_t>(count - 5));
  EXPECT_TRUE(std::vector<std::uint8_t>(memory + 5, memory + count) == pattern(count - 5, 3));
  EXPECT_EQ(memory[4], values[4]);
}

TEST(Transfers, PinnedMemoryIsFoundByItsAddresses) {
  auto pinned = PinnedMemory::allocate(device(), 100000);
  auto other = PinnedMemory::allocate(device(), 100000);
  const auto* start = static_cast<const char*>(pinned->data());
  const std::size_t bytes = pinned->bytes();
  EXPECT_GE(bytes, 100000u);
  EXPECT_EQ(PinnedMemory::around(start, bytes), pinned);
  EXPECT_EQ(PinnedMemory::around(start + bytes - 1, 1), pinned);
  EXPECT_EQ(PinnedMemory::around(start + 1, bytes), nullptr);
  EXPECT_EQ(PinnedMemory::around(other->data(), 5), other);
  EXPECT_EQ(PinnedMemory::around(&bytes, sizeof bytes), nullptr);
  pinned.reset();
  EXPECT_EQ(PinnedMemory::around(start, 1), nullptr);
  pinned = PinnedMemory::allocate(device(), 90000);  // of the same rounded size: taken again
  EXPECT_EQ(pinned->data(), start);
  pinned.reset();
  PinnedMemory::empty_cache();
  EXPECT_THROW(PinnedMemory::allocate(device(), SIZE_MAX), OutOfMemoryError);
}

TEST(Transfers, PinnedMemoryLivesUntilItsUploadIsOver) {
  SKIP_WHERE_LOOPS_END_EARLY();
  build_kernels();
  const std::int64_t count = 2 * slot;
  const auto values = pattern(count, 4);
  const Tensor t = upload(pattern(count, 5), {count}), seen = bytes_on_device(count);
  copy_slowly(t, seen);  // the upload waits for it
  {
    const auto pinned = PinnedMemory::allocate(device(), values.size());
    std::copy(values.begin(), values.end(), static_cast<std::uint8_t*>(pinned->data()));
    queue().write(t, pinned->data(), values.size(), true);
  }
  const auto next = PinnedMemory::allocate(device(), values.size());  // whoever gets memory now writes to it
  std::memset(next->data(), 0, values.size());
  EXPECT_TRUE(download<std::uint8_t>(t) == values);
  EXPECT_TRUE(download<std::uint8_t>(seen) == pattern(count, 5));
}

TEST(Transfers, AKernelLaunchedAfterAnUploadSeesIt) {
  const std::int64_t count = slot + 9;
  for (std::uint32_t i = 0; i < 12; ++i) {
    const auto values = pattern(count, i);
    const Tensor t = bytes_on_device(count), copied = bytes_on_device(count);
    queue().write(t, values.data(), values.size());
    queue().copy(t, copied, values.size());
    EXPECT_TRUE(download<std::uint8_t>(copied) == values) << "round " << i;
  }
}

TEST(Transfers, AnUploadWaitsForKernelsThatReadWhatItReplaces) {
  SKIP_WHERE_LOOPS_END_EARLY();
  build_kernels();
  for (const std::int64_t count : {std::int64_t{100000}, slot + 1, 3 * slot}) {
    const auto old = pattern(count, 6), fresh = pattern(count, 7);
    const Tensor t = upload(old, {count}), seen = bytes_on_device(count);
    copy_slowly(t, seen);
    queue().write(t, fresh.data(), fresh.size());
    EXPECT_TRUE(download<std::uint8_t>(seen) == old) << count;
    EXPECT_TRUE(download<std::uint8_t>(t) == fresh) << count;
  }
}

// Memory is given to the next as soon as what uses it is enqueued.
TEST(Transfers, AnUploadWaitsForKernelsThatReadWhatItsMemoryHeld) {
  SKIP_WHERE_LOOPS_END_EARLY();
  build_kernels();
  const std::int64_t count = 3 * slot + 512;
  const auto old = pattern(count, 8), fresh = pattern(count, 9);
  Tensor t = upload(old, {count});
  const Tensor seen = bytes_on_device(count);
  queue().zero(seen);
  copy_slowly(t, seen);
  const Tensor next = in_memory_of(std::move(t));
  queue().write(next, fresh.data(), fresh.size());
  EXPECT_TRUE(download<std::uint8_t>(seen) == old);
  EXPECT_TRUE(download<std::uint8_t>(next) == fresh);
}

TEST(Transfers, MemoryGivenBackDuringAnUploadIsUsedAfterIt) {
  build_kernels();
  const std::int64_t count = 3 * slot + 512;
  const auto values = pattern(count, 10);
  Tensor t = upload(values, {count});
  const Tensor seen = bytes_on_device(count);
  copy_slowly(t, seen);
  queue().write(t, values.data(), values.size());  // which waits for the kernel
  const Tensor next = in_memory_of(std::move(t));
  queue().zero(next);
  EXPECT_TRUE(download<std::uint8_t>(next) == std::vector<std::uint8_t>(values.size(), 0));
}

TEST(Transfers, ASynchronizedDeviceHasNoUploadUnderWay) {
  const std::int64_t count = 4 * slot;
  const Tensor t = bytes_on_device(count);
  queue().write(t, pattern(count, 11).data(), static_cast<std::size_t>(count));
  EXPECT_EQ(t.storage->is_arriving(), !device().info().shares_host_memory);
  queue().finish();
  EXPECT_FALSE(t.storage->is_arriving());
}

TEST(Transfers, AnUploadToUnusedMemoryWaitsForNoKernel) {
  SKIP_WHERE_LOOPS_END_EARLY();
  build_kernels();
  const Tensor t = bytes_on_device(2 * slot);
  queue().finish();
  expect_uploaded_beside_a_kernel([&] { return t; });
}

TEST(Transfers, AnUploadToMemoryThatTheDeviceHasJustGivenWaitsForNoKernel) {
  SKIP_WHERE_LOOPS_END_EARLY();
  device().allocator().empty_cache();
  expect_uploaded_beside_a_kernel([] { return Tensor::empty(device(), {2 * slot}, DType::uint8); });
}

TEST(Transfers, AnUploadGetsMemoryThatNoKernelUses) {
  SKIP_WHERE_LOOPS_END_EARLY();
  device().allocator().empty_cache();
  Tensor used = bytes_on_device(2 * slot);
  expect_uploaded_beside_a_kernel([&] {
    copy_slowly(bytes_on_device(1), used);
    used = Tensor();
    return Tensor::empty_for_upload(device(), {2 * slot}, DType::uint8);
  });
}

TEST(Transfers, BetweenTensorsThroughTheHost) {
  for (const std::int64_t count : {std::int64_t{0}, std::int64_t{4}, 2 * slot, 2 * slot + 4, 20 * slot})
    for (const bool was_used : {false, true}) {
      const auto values = pattern(count, 13);
      const Tensor source = upload(values, {count}), destination = bytes_on_device(count);
      if (was_used) queue().zero(destination);
      copy_to_device(queue(), source, destination);
      EXPECT_TRUE(download<std::uint8_t>(destination) == values) << count;
    }
  expect_error<ValueError>([] { copy_to_device(queue(), bytes_on_device(4), bytes_on_device(5)); },
                           "copy_to_device: expected contiguous tensors of as many bytes");
}

TEST(Transfers, ARecordedUploadHasTheBytesOfThen) {
  const std::int64_t count = slot + 5;
  const auto values = pattern(count, 15);
  const auto pinned = PinnedMemory::allocate(device(), values.size());
  std::copy(values.begin(), values.end(), static_cast<std::uint8_t*>(pinned->data()));
  const Tensor t = bytes_on_device(count), other = bytes_on_device(count);
  Recorder recorder;
  upload(queue(), {pinned->data(), values.size(), true}, t);
  copy_to_device(queue(), t, other);
  recorder.stop();
  EXPECT_TRUE(recorder.escapes().empty());
  EXPECT_TRUE(download<std::uint8_t>(other) == values);
  std::memset(pinned->data(), 0, values.size());
  MemoryMap memory([](const Tensor& original) {
    return bytes_on_device(static_cast<std::int64_t>(original.storage->bytes())).storage;
  });
  recorder.replay(queue(), memory);
  EXPECT_TRUE(download<std::uint8_t>(memory.of(t)) == values);
  EXPECT_TRUE(download<std::uint8_t>(memory.of(other)) == values);
}

TEST(Transfers, TakeNoStagingMemoryWhereTheHostSharesTheDevices) {
  const std::int64_t count = 3 * slot;
  const auto values = pattern(count, 14);
  EXPECT_TRUE(download<std::uint8_t>(upload(values, {count})) == values);
  if (device().info().shares_host_memory)
    EXPECT_EQ(queue().staging_slots(), 0u);
  else
    EXPECT_GT(queue().staging_slots(), 0u);
}

TEST(Transfers, OfSeveralThreadsThatCompute) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (std::uint32_t k = 0; k < 3; ++k)
    threads.emplace_back([&wrong, k] {
      for (std::uint32_t i = 0; i < 12; ++i) {
        const std::int64_t count = 100000 + 999999 * static_cast<std::int64_t>(i % 4);
        const auto values = pattern(count, 20 * k + i);
        const Tensor t = upload(values, {count}), copied = bytes_on_device(count);
        queue().copy(t, copied, values.size());
        queue().write(t, pattern(count, i).data(), values.size());
        if (download<std::uint8_t>(copied) != values) ++wrong;
        if (i % 3 == 0 && download<std::uint8_t>(t) != pattern(count, i)) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}
