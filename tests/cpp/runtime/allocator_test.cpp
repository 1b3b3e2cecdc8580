#include "dlprim/runtime/allocator.h"

#include <thread>

#include "tests/cpp/support/messages.h"
#include "tests/cpp/support/tensors.h"

using namespace dlprim;
using namespace testing_support;

namespace {

constexpr std::size_t kib = 1024, mib = 1024 * 1024;

/** Each test has an allocator of its own, whatever other tests hold. */
class CachingAllocatorTest : public testing::Test {
 protected:
  std::unique_ptr<Allocator> allocator_ = make_caching_allocator(device());
};

}  // namespace

TEST_F(CachingAllocatorTest, NothingForZeroBytes) {
  const auto storage = allocator_->allocate(0);
  EXPECT_EQ(storage->bytes(), 0u);
  EXPECT_EQ(allocator_->stats().reserved, 0u);
}

TEST_F(CachingAllocatorTest, SmallRequestsShareASegment) {
  const auto a = allocator_->allocate(100), b = allocator_->allocate(1000);
  EXPECT_EQ(a->buffer()(), b->buffer()());
  EXPECT_EQ(a->bytes(), 100u);
  EXPECT_EQ(a->byte_offset() % 512, 0u);
  EXPECT_EQ(b->byte_offset(), 512u);
  const MemoryStats stats = allocator_->stats();
  EXPECT_EQ(stats.allocated, 512u + 1024u);
  EXPECT_EQ(stats.reserved, 2 * mib);
  EXPECT_EQ(stats.segments, 1u);
  EXPECT_EQ(stats.allocations, 2u);
}

TEST_F(CachingAllocatorTest, FreedMemoryIsUsedAgain) {
  auto a = allocator_->allocate(300 * kib);
  const cl_mem buffer = a->buffer()();
  const std::size_t offset = a->byte_offset();
  a.reset();
  EXPECT_EQ(allocator_->stats().allocated, 0u);
  const auto b = allocator_->allocate(300 * kib);
  EXPECT_EQ(b->buffer()(), buffer);
  EXPECT_EQ(b->byte_offset(), offset);
  EXPECT_EQ(allocator_->stats().segments, 1u);
}

// Blocks whose last command is not known to be over, as the device has not been waited for since.
TEST_F(CachingAllocatorTest, AnUploadGetsMemoryThatIsNotInUseAndNoMoreThanIsNeeded) {
  const auto forget = [this](std::shared_ptr<Storage> storage) {
    queue().zero(Tensor::empty(device(), {8}));  // so that no command after which it was given back is over
    const cl_mem buffer = storage->buffer()();
    storage.reset();
    return buffer;
  };
  queue().finish();
  const cl_mem first = forget(allocator_->allocate(13 * mib));
  auto upload = allocator_->allocate_for_upload(13 * mib);
  EXPECT_NE(upload->buffer_for_transfer()(), first);
  EXPECT_EQ(upload->last_use(), 0u);
  const cl_mem second = forget(std::move(upload));
  upload = allocator_->allocate_for_upload(13 * mib);
  EXPECT_EQ(upload->buffer_for_transfer()(), first) << "of two that wait, the one that waits least";
  EXPECT_TRUE(upload->is_untouched());
  upload.reset();
  queue().finish();
  EXPECT_EQ(allocator_->stats().segments, 2u);
  auto a = allocator_->allocate_for_upload(13 * mib), b = allocator_->allocate_for_upload(12 * mib);
  EXPECT_EQ(a->buffer()(), first);
  EXPECT_EQ(b->buffer()(), second);
  EXPECT_EQ(allocator_->stats().segments, 2u);
  EXPECT_EQ(allocator_->allocate_for_upload(0)->bytes(), 0u);
  EXPECT_EQ(allocator_->allocate_for_upload(100 * kib)->bytes(), 100 * kib);
}

TEST_F(CachingAllocatorTest, TheBestFitIsTaken) {
  auto wide = allocator_->allocate(64 * kib);
  const auto wall = allocator_->allocate(512);
  auto narrow = allocator_->allocate(8 * kib);
  const auto end = allocator_->allocate(512);
  const std::size_t narrow_offset = narrow->byte_offset();
  wide.reset();
  narrow.reset();
  EXPECT_EQ(allocator_->allocate(8 * kib)->byte_offset(), narrow_offset);
}

TEST_F(CachingAllocatorTest, NeighboursMergeInEveryOrder) {
  const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  for (const auto& order : orders) {
    std::vector<std::shared_ptr<Storage>> parts;
    for (int i = 0; i < 3; ++i) parts.push_back(allocator_->allocate(600 * kib));  // fill a segment of 2 MiB
    for (const int i : order) parts[static_cast<std::size_t>(i)].reset();
    const auto whole = allocator_->allocate(1 * mib);
    EXPECT_EQ(whole->byte_offset(), 0u);
    EXPECT_EQ(allocator_->stats().segments, 1u);
  }
}

TEST_F(CachingAllocatorTest, LargeRequests) {
  const auto a = allocator_->allocate(1 * mib), b = allocator_->allocate(1 * mib);
  EXPECT_EQ(a->buffer()(), b->buffer()());  // both from one segment of 2 MiB
  EXPECT_EQ(allocator_->stats().reserved, 2 * mib);
  const auto c = allocator_->allocate(13 * mib);
  EXPECT_NE(c->buffer()(), a->buffer()());  // one of its own, of its size
  EXPECT_EQ(allocator_->stats().reserved, 15 * mib);
}

TEST_F(CachingAllocatorTest, SharedSegmentsGrowWithWhatIsReserved) {
  const auto large = allocator_->allocate(64 * mib), a = allocator_->allocate(2 * mib);
  EXPECT_EQ(allocator_->stats().reserved, 64 * mib + 64 * mib / 8);
  const auto b = allocator_->allocate(6 * mib);
  EXPECT_EQ(a->buffer()(), b->buffer()());
}

TEST_F(CachingAllocatorTest, IdleSegmentsBecomeOneThatIsLargeEnough) {
  auto a = allocator_->allocate(5 * mib), b = allocator_->allocate(6 * mib);
  const auto in_use = allocator_->allocate(4 * mib);
  a.reset();
  b.reset();
  const auto c = allocator_->allocate(9 * mib);
  EXPECT_EQ(allocator_->stats().reserved, 15 * mib);
  EXPECT_EQ(allocator_->stats().segments, 2u);
  const auto rest = allocator_->allocate(2 * mib);
  EXPECT_EQ(rest->buffer()(), c->buffer()());
  EXPECT_EQ(allocator_->stats().max_reserved, 15 * mib);
}

TEST_F(CachingAllocatorTest, Peaks) {
  auto a = allocator_->allocate(3 * mib), b = allocator_->allocate(3 * mib);
  a.reset();
  EXPECT_EQ(allocator_->stats().max_allocated, 6 * mib);
  EXPECT_EQ(allocator_->stats().allocated, 3 * mib);
  allocator_->reset_peaks();
  EXPECT_EQ(allocator_->stats().max_allocated, 3 * mib);
  b.reset();
  allocator_->empty_cache();
  EXPECT_EQ(allocator_->stats().max_reserved, 6 * mib);
  allocator_->reset_peaks();
  EXPECT_EQ(allocator_->stats().max_reserved, 0u);
  EXPECT_EQ(allocator_->stats().max_allocated, 0u);
}

TEST_F(CachingAllocatorTest, EmptyCacheKeepsWhatIsInUse) {
  auto a = allocator_->allocate(100), b = allocator_->allocate(200);
  auto c = allocator_->allocate(12 * mib);
  c.reset();
  a.reset();
  allocator_->empty_cache();
  EXPECT_EQ(allocator_->stats().reserved, 2 * mib);
  b.reset();
  allocator_->empty_cache();
  EXPECT_EQ(allocator_->stats().reserved, 0u);
  EXPECT_EQ(allocator_->stats().segments, 0u);
  EXPECT_EQ(allocator_->allocate(100)->bytes(), 100u);
}

TEST_F(CachingAllocatorTest, TheLimitIsAnErrorWithFigures) {
  allocator_->set_limit(8 * mib);
  const auto small = allocator_->allocate(200 * kib);
  try {
    allocator_->allocate(30 * mib);
    FAIL() << "the limit was passed";
  } catch (const OutOfMemoryError& e) {
    EXPECT_EQ(e.requested_bytes, 30 * mib);
    const std::string text = e.what();
    for (const std::string& part :
         {"out of memory on " + device().name(), std::string("tried to allocate 30 MiB"),
          std::string("in use by tensors: 0.195312 MiB"), std::string("cached: 1.80469 MiB"),
          std::string("limit set: 8 MiB")})
      EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  }
  EXPECT_NO_THROW(allocator_->allocate(4 * mib));  // a smaller one goes on
  allocator_->set_limit(0);
  EXPECT_NO_THROW(allocator_->allocate(30 * mib));
}

TEST_F(CachingAllocatorTest, TheCacheIsFreedBeforeGivingUp) {
  allocator_->set_limit(40 * mib);
  allocator_->allocate(24 * mib).reset();
  EXPECT_EQ(allocator_->stats().reserved, 24 * mib);
  const auto other = allocator_->allocate(30 * mib);
  EXPECT_EQ(allocator_->stats().reserved, 30 * mib);
}

TEST_F(CachingAllocatorTest, MoreThanTheDeviceHas) {
  const auto small = allocator_->allocate(1 * mib);
  for (const std::size_t impossible : {std::size_t{1} << 60, std::size_t{1} << 63, SIZE_MAX - 100, SIZE_MAX})
    expect_error<OutOfMemoryError>([&] { allocator_->allocate(impossible); },
                                   "out of memory on " + device().name());
  EXPECT_EQ(allocator_->stats().allocated, 1 * mib);
  EXPECT_NO_THROW(allocator_->allocate(1 * mib));
}

TEST_F(CachingAllocatorTest, Threads) {
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      std::vector<std::shared_ptr<Storage>> held(8);
      for (std::size_t i = 0; i < 2000; ++i)
        held[(i * 7 + t) % 8] = allocator_->allocate((i * 37 % 100 + 1) * 3 * kib);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(allocator_->stats().allocated, 0u);
  allocator_->empty_cache();  // only whole segments go: everything must have merged again
  EXPECT_EQ(allocator_->stats().reserved, 0u);
}

TEST_F(CachingAllocatorTest, LiveStoragesNeverOverlap) {
  std::vector<std::shared_ptr<Storage>> held(50);
  for (std::size_t i = 0; i < 3000; ++i) {
    auto fresh = allocator_->allocate(i * 7919 % 90000 + 1);
    for (const auto& other : held) {
      if (!other || other->buffer()() != fresh->buffer()()) continue;
      const bool apart = other->byte_offset() + other->bytes() <= fresh->byte_offset() ||
                         fresh->byte_offset() + fresh->bytes() <= other->byte_offset();
      ASSERT_TRUE(apart) << i;
    }
    held[i * 31 % 50] = std::move(fresh);
  }
}

TEST(DirectAllocator, OneBufferOfExactSizeEach) {
  const auto allocator = make_direct_allocator(device());
  auto a = allocator->allocate(100);
  const auto b = allocator->allocate(100);
  EXPECT_NE(a->buffer()(), b->buffer()());
  EXPECT_EQ(a->byte_offset(), 0u);
  EXPECT_EQ(a->buffer().getInfo<CL_MEM_SIZE>(), 100u);
  EXPECT_EQ(allocator->stats().reserved, 200u);
  a.reset();
  EXPECT_EQ(allocator->stats().reserved, 100u);
  EXPECT_EQ(allocator->stats().max_allocated, 200u);
  allocator->set_limit(150);
  expect_error<OutOfMemoryError>([&] { allocator->allocate(100); }, "limit set");
  expect_error<OutOfMemoryError>([&] { allocator->allocate(SIZE_MAX); }, "tried to allocate");
  EXPECT_EQ(allocator->allocate(0)->bytes(), 0u);
}

TEST(Storage, WrapsForeignMemory) {
  const cl::Buffer buffer(device().context(), CL_MEM_READ_WRITE, 64);
  const auto storage = std::make_shared<Storage>(device(), buffer, 64);
  EXPECT_EQ(storage->byte_offset(), 0u);
  EXPECT_EQ(storage->version(), 0u);
  storage->bump_version();
  EXPECT_EQ(storage->version(), 1u);
}
