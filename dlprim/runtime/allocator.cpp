#include "dlprim/runtime/allocator.h"

#include <algorithm>
#include <atomic>
#include <list>
#include <mutex>
#include <set>

#include "dlprim/core/error.h"
#include "dlprim/runtime/command_graph.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/lifetime.h"

namespace dlprim {

struct FreeMemory;

struct Segment {
  FreeMemory* home;  // where what is free of it waits
  cl::Buffer buffer;
  std::size_t bytes;
  std::uint64_t order;  // of creation: ties between free blocks break the same way every run
  bool small;
};

struct Block {
  Segment* segment;
  std::size_t offset, bytes;
  Block *previous, *next;  // neighbours in the segment
  bool in_use;
  std::uint64_t last_use;  // Storage::last_use of who gets it next
};

Storage::~Storage() {
  if (lifetime::is_forked()) {
    buffer_() = nullptr;  // not given back: OpenCL's locks may be held for ever
  } else {
    try {
      device_.queue().await_upload(*this);
    } catch (const Error& e) {
      warn_once(e.what());
    }
    if (owner_) owner_->release(block_, bytes_);
  }
}

void Storage::share() {
  device_.queue().enqueue_pending();
  buffer();  // no upload may count on knowing the last command that uses it
  is_shared_ = true;
  device_.queue().await_upload(*this);
}

Suspicion Storage::suspect_of_new_memory(const Device& device) {
  return suspicion_of_this_thread(device.index());
}

namespace {

constexpr std::size_t alignment = 512;
constexpr std::size_t small_limit = 1 << 20;  // requests up to this come from small segments
constexpr std::size_t small_segment = 2 << 20;
constexpr std::size_t least_shared_segment = 2 << 20;
constexpr std::size_t most_shared_segment = 32 << 20;

// An upload takes one of the waiting blocks that are large enough when there are as many. With fewer it takes
// new memory, so that the next batch can arrive while two are still needed.
constexpr int blocks_per_upload = 2;

std::size_t round_up(std::size_t n, std::size_t unit) {
  return (n + unit - 1) / unit * unit;
}

struct BySize {
  bool operator()(const Block* a, const Block* b) const {
    if (a->bytes != b->bytes) return a->bytes < b->bytes;
    if (a->segment != b->segment && a->segment && b->segment) return a->segment->order < b->segment->order;
    return a->offset < b->offset;
  }
};

using FreeBlocks = std::set<Block*, BySize>;

}  // namespace

/** Blocks that wait for the next request: of a pool, or of all that is in none. */
struct FreeMemory {
  FreeBlocks small, large;
  std::uint64_t pool = 0;

  FreeBlocks& of(const Segment& segment) { return segment.small ? small : large; }
  FreeBlocks& for_bytes(std::size_t bytes) { return bytes <= small_limit ? small : large; }
};

MemoryPool::MemoryPool(const Device& device) : device_(device) {
  static std::atomic<std::uint64_t> last{0};
  number_ = ++last;
}

namespace {

/** The bookkeeping that both allocators share: limits, peaks, buffers made and the error when none can be. */
class CountingAllocator : public Allocator {
 public:
  explicit CountingAllocator(Device& device) : device_(device) {}

  MemoryStats stats() const override {
    device_.queue().enqueue_pending();  // which keeps memory that nobody else has any more
    DeviceLock lock(mutex_);
    return stats_;
  }
  void reset_peaks() override {
    device_.queue().enqueue_pending();
    DeviceLock lock(mutex_);
    stats_.max_allocated = stats_.allocated;
    stats_.max_reserved = stats_.reserved;
  }
  void set_limit(std::uint64_t bytes) override {
    DeviceLock lock(mutex_);
    limit_ = bytes;
  }

  void lock_for_exit() override { mutex_.lock(); }

 protected:
  /** A new buffer, or a null one when the device or the limit refuses it. */
  cl::Buffer try_buffer(std::size_t bytes) {
    if (limit_ && stats_.reserved + bytes > limit_) return {};
    cl::Buffer buffer = device_.try_create_buffer(bytes);
    if (buffer()) {
      stats_.reserved += bytes;
      stats_.max_reserved = std::max(stats_.max_reserved, stats_.reserved);
      ++stats_.segments;
    }
    return buffer;
  }
  void count_freed_buffer(std::size_t bytes) {
    stats_.reserved -= bytes;
    --stats_.segments;
  }
  void count_allocated(std::size_t bytes) {
    ++stats_.allocations;
    stats_.allocated += bytes;
    stats_.max_allocated = std::max(stats_.max_allocated, stats_.allocated);
  }
  /** The memory that `make` gives; where there is none, what it gives once nothing pends that keeps memory.
   */
  template <class Make>
  std::shared_ptr<Storage> unless_pending_work_has_it(const Make& make) {
    try {
      return make();
    } catch (const OutOfMemoryError&) {
      device_.queue().enqueue_pending();
    }
    return make();
  }
  /** Refuses what no device holds, before it is rounded up or added to anything. */
  void require_possible(std::size_t bytes) const {
    if (bytes > PTRDIFF_MAX) out_of_memory(bytes);
  }
  [[noreturn]] void out_of_memory(std::size_t bytes) const {
    constexpr double mib = 1024.0 * 1024.0;
    std::string limit = limit_ ? concat("; limit set: ", limit_ / mib, " MiB") : std::string();
    throw OutOfMemoryError(
        concat("out of memory on ", device_.name(), ": tried to allocate ", bytes / mib,
               " MiB; in use by tensors: ", stats_.allocated / mib,
               " MiB; cached: ", (stats_.reserved - stats_.allocated) / mib,
               " MiB; device memory: ", device_.info().global_memory / mib,
               " MiB; largest single allocation: ", device_.info().max_allocation / mib, " MiB", limit),
        bytes);
  }

  Device& device_;
  mutable std::mutex mutex_;
  MemoryStats stats_;
  std::uint64_t limit_ = 0;
};

class CachingAllocator final : public CountingAllocator {
 public:
  using CountingAllocator::CountingAllocator;
  /** No storage and no pool of it may be left. */
  ~CachingAllocator() override {
    for (const FreeBlocks* blocks : {&common_.small, &common_.large})
      for (const Block* block : *blocks) delete block;
  }

  std::shared_ptr<Storage> allocate(std::size_t request) override {
    if (request == 0) return std::make_shared<Storage>(device_, cl::Buffer(), 0);
    return unless_pending_work_has_it([&] {
      const CommandGraph* graph = capturing(device_);
      DeviceLock lock(mutex_);
      FreeMemory& free = graph ? static_cast<CachingPool&>(*graph->pool()).free : common_;
      return serve(free, request, find_free(free, rounded(request)));
    });
  }

  std::shared_ptr<Storage> allocate_for_upload(std::size_t request) override {
    if (request == 0) return std::make_shared<Storage>(device_, cl::Buffer(), 0);
    return unless_pending_work_has_it([&] {
      DeviceLock lock(mutex_);
      const std::size_t bytes = rounded(request);
      Block* block = find_unused(bytes);
      return serve(common_, request,
                   block ? block : new_segment(common_, bytes, bytes <= small_limit ? small_segment : bytes));
    });
  }

  std::shared_ptr<MemoryPool> make_pool() override { return std::make_shared<CachingPool>(*this); }

  void empty_cache() override {
    device_.queue().enqueue_pending();
    DeviceLock lock(mutex_);
    free_idle_segments();
  }

 protected:
  void release(Block* block, std::size_t) override {
    DeviceLock lock(mutex_);
    stats_.allocated -= block->bytes;
    block->in_use = false;
    block->last_use = device_.queue().commands();
    merge_with(block, block->previous);
    merge_with(block, block->next);
    block->segment->home->of(*block->segment).insert(block);
  }

 private:
  struct CachingPool final : MemoryPool {
    explicit CachingPool(CachingAllocator& allocator) : MemoryPool(allocator.device_), owner(allocator) {
      free.pool = number();
    }
    ~CachingPool() override {
      if (!lifetime::is_forked()) owner.dissolve(free);
    }

    CachingAllocator& owner;
    FreeMemory free;
  };

  /** Memory that was set apart belongs to nobody in particular from now on. */
  void dissolve(FreeMemory& pool) {
    DeviceLock lock(mutex_);
    for (Segment& segment : segments_)
      if (segment.home == &pool) segment.home = &common_;
    const std::uint64_t now = device_.queue().commands();
    for (FreeBlocks* blocks : {&pool.small, &pool.large})
      for (Block* block : *blocks) {
        block->last_use = now;  // of replays
        common_.of(*block->segment).insert(block);
      }
  }

  std::size_t rounded(std::size_t request) const {
    require_possible(request);
    return round_up(request, alignment);
  }

  /** Memory for a request from that block, or if it is null from wherever there is some. */
  std::shared_ptr<Storage> serve(FreeMemory& free, std::size_t request, Block* block) {
    const std::size_t bytes = rounded(request);
    if (!block) block = find_free(free, bytes);
    if (!block) block = grow(free, bytes);
    if (!block) {
      free_idle_segments();
      block = grow(free, bytes);
    }
    if (!block) out_of_memory(request);
    split(block, bytes);
    block->in_use = true;
    count_allocated(block->bytes);
    return std::make_shared<Storage>(device_, block->segment->buffer, block->offset, request, this, block,
                                     block->last_use, free.pool);
  }

  static FreeBlocks::iterator first_of(FreeBlocks& blocks, std::size_t bytes) {
    Block key{nullptr, 0, bytes, nullptr, nullptr, false, 0};
    return blocks.lower_bound(&key);
  }

  static Block* find_free(FreeMemory& free, std::size_t bytes) {
    FreeBlocks& blocks = free.for_bytes(bytes);
    const auto found = first_of(blocks, bytes);
    if (found == blocks.end()) return nullptr;
    Block* block = *found;
    blocks.erase(found);
    return block;
  }

  /** The smallest block that no command under way uses, or where enough blocks wait for their commands the
   * one that waits least, or null. */
  Block* find_unused(std::size_t bytes) {
    FreeBlocks& blocks = common_.for_bytes(bytes);
    int waiting = 0;
    auto next = blocks.end();
    for (auto it = first_of(blocks, bytes); it != blocks.end(); ++it) {
      if (next == blocks.end() || (*it)->last_use < (*next)->last_use) next = it;
      if (device_.queue().has_passed((*it)->last_use)) break;
      ++waiting;
    }
    if (next == blocks.end()) return nullptr;
    Block* block = *next;
    if (!device_.queue().has_passed(block->last_use) && waiting < blocks_per_upload) return nullptr;
    blocks.erase(next);
    return block;
  }

  // A large segment takes the place of the idle ones, none of which was large enough: as many bytes, in one
  // piece. Requests share segments that grow with what is reserved. Over the requests of training steps of
  // seven nets (MNIST's, ResNets, MobileNet, EfficientNet, DenseNet, a vision transformer), under PoCL and on
  // an H200, that reserves 1.12 times the peak in use, at most 1.28 times. Segments of a quarter beside small
  // requests of up to 256 KiB took 1.15 and 1.56: weights of 0.8 MiB lay in the segments of activations of
  // 11 MiB and kept them from being used again.
  Block* grow(FreeMemory& free, std::size_t bytes) {
    const bool small = bytes <= small_limit;
    std::size_t size = small_segment;
    if (!small) {
      // Segments of a pool are what its commands use, idle or not.
      const std::size_t idle = &free == &common_ ? free_idle_segments(common_.large) : 0;
      const std::size_t shared =
          std::clamp<std::size_t>((stats_.reserved + idle) / 8, least_shared_segment, most_shared_segment);
      size = round_up(std::max({bytes, idle, bytes <= shared / 2 ? shared : 0}), alignment);
    }
    Block* block = new_segment(free, bytes, size);
    return block || size == bytes ? block : new_segment(free, bytes, bytes);
  }

  Block* new_segment(FreeMemory& home, std::size_t request, std::size_t size) {
    cl::Buffer buffer = try_buffer(size);
    if (!buffer()) return nullptr;
    segments_.push_back({&home, buffer, size, next_order_++, request <= small_limit});
    return new Block{&segments_.back(), 0, size, nullptr, nullptr, false, 0};
  }

  void split(Block* block, std::size_t bytes) {
    const std::size_t rest = block->bytes - bytes;
    const std::size_t least = block->segment->small ? alignment : small_limit;
    if (rest < least) return;
    auto* tail =
        new Block{block->segment, block->offset + bytes, rest, block, block->next, false, block->last_use};
    if (block->next) block->next->previous = tail;
    block->next = tail;
    block->bytes = bytes;
    block->segment->home->of(*block->segment).insert(tail);
  }

  void merge_with(Block* block, Block* neighbour) {
    if (!neighbour || neighbour->in_use) return;
    block->segment->home->of(*block->segment).erase(neighbour);
    block->offset = std::min(block->offset, neighbour->offset);
    block->bytes += neighbour->bytes;
    block->last_use = std::max(block->last_use, neighbour->last_use);
    if (neighbour == block->previous) {
      block->previous = neighbour->previous;
      if (block->previous) block->previous->next = block;
    } else {
      block->next = neighbour->next;
      if (block->next) block->next->previous = block;
    }
    delete neighbour;
  }

  /** Gives the segments of which nothing is in use back to the device; returns their bytes. */
  std::size_t free_idle_segments(FreeBlocks& blocks) {
    std::size_t freed = 0;
    for (auto it = blocks.begin(); it != blocks.end();) {
      Block* block = *it;
      if (block->previous || block->next) {
        ++it;
        continue;
      }
      it = blocks.erase(it);
      Segment* segment = block->segment;
      freed += segment->bytes;
      count_freed_buffer(segment->bytes);
      segments_.remove_if([segment](const Segment& s) { return &s == segment; });
      delete block;
    }
    return freed;
  }
  void free_idle_segments() {
    free_idle_segments(common_.small);
    free_idle_segments(common_.large);
  }

  FreeMemory common_;
  std::list<Segment> segments_;
  std::uint64_t next_order_ = 0;
};

class DirectAllocator final : public CountingAllocator {
 public:
  using CountingAllocator::CountingAllocator;

  std::shared_ptr<Storage> allocate(std::size_t bytes) override {
    if (bytes == 0) return std::make_shared<Storage>(device_, cl::Buffer(), 0);
    return unless_pending_work_has_it([&] {
      const CommandGraph* graph = capturing(device_);
      DeviceLock lock(mutex_);
      require_possible(bytes);
      cl::Buffer buffer = try_buffer(bytes);
      if (!buffer()) out_of_memory(bytes);
      count_allocated(bytes);
      const std::uint64_t pool = graph ? graph->pool()->number() : 0;
      if (graph) static_cast<KeepingPool&>(*graph->pool()).buffers.push_back(buffer);
      return std::make_shared<Storage>(device_, buffer, 0, bytes, this, nullptr, 0, pool);
    });
  }
  std::shared_ptr<Storage> allocate_for_upload(std::size_t bytes) override { return allocate(bytes); }
  std::shared_ptr<MemoryPool> make_pool() override { return std::make_shared<KeepingPool>(device_); }
  void empty_cache() override {}

 protected:
  void release(Block*, std::size_t bytes) override {
    DeviceLock lock(mutex_);
    stats_.allocated -= bytes;
    count_freed_buffer(bytes);
  }

 private:
  /** Nothing is given out twice: it is enough that it stays. */
  struct KeepingPool final : MemoryPool {
    using MemoryPool::MemoryPool;
    std::vector<cl::Buffer> buffers;
  };
};

}  // namespace

std::unique_ptr<Allocator> make_caching_allocator(Device& device) {
  return std::make_unique<CachingAllocator>(device);
}
std::unique_ptr<Allocator> make_direct_allocator(Device& device) {
  return std::make_unique<DirectAllocator>(device);
}

}  // namespace dlprim
