#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "dlprim/core/call_state.h"
#include "dlprim/runtime/opencl.h"
#include "dlprim/runtime/suspicion.h"

namespace dlprim {

class Allocator;
class Device;
struct Block;

/**
 * Memory set apart for the commands of a CommandGraph, whose it stays when the tensors over it are gone.
 * Memory that is freed from it serves requests of the same pool alone. When its last owner lets go, it is
 * memory as any other.
 */
class MemoryPool {
 public:
  explicit MemoryPool(const Device& device);
  virtual ~MemoryPool() = default;
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;
  /** Never another's; 0 is that of memory without a pool. */
  std::uint64_t number() const { return number_; }
  const Device& device() const { return device_; }

 private:
  const Device& device_;
  std::uint64_t number_;
};

/**
 * A piece of device memory: a range of an OpenCL buffer. The memory goes back to its allocator with the last
 * tensor over it. Work already enqueued may still use it, since a device has one in-order queue, with which
 * transfers keep order (transfers.h).
 */
class Storage {
 public:
  /** Memory of an allocator. `block` is the allocator's own note of it; the commands of the device's queue
   * up to number `last_use` may still use it. `pool` is the number of its pool. */
  Storage(Device& device, cl::Buffer buffer, std::size_t byte_offset, std::size_t bytes, Allocator* owner,
          Block* block, std::uint64_t last_use, std::uint64_t pool = 0)
      : device_(device),
        buffer_(std::move(buffer)),
        byte_offset_(byte_offset),
        bytes_(bytes),
        owner_(owner),
        block_(block),
        last_use_(last_use),
        pool_(pool),
        suspect_(suspect_of_new_memory(device)) {}
  /** Memory that somebody else owns, wrapped; the caller keeps it alive. */
  Storage(Device& device, cl::Buffer buffer, std::size_t bytes)
      : Storage(device, std::move(buffer), 0, bytes, nullptr, nullptr, any_command) {}
  /** None: of a tensor that is a shape only (core/shapes_only.h). */
  Storage(Device& device, std::size_t bytes) : Storage(device, cl::Buffer(), bytes) {}
  /** Commands enqueued from now on come after an upload that is still under way. */
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  Device& device() const { return device_; }
  /** The buffer, for a command that is enqueued on the device's queue. */
  const cl::Buffer& buffer() const {
    if (is_untouched()) last_use_.store(any_command, std::memory_order_relaxed);
    return buffer_for_transfer();
  }
  std::size_t byte_offset() const { return byte_offset_; }
  std::size_t bytes() const { return bytes_; }
  /** MemoryPool::number. */
  std::uint64_t pool() const { return pool_; }

  /** Counts the writes in place; whoever saved the contents can tell whether they still stand. */
  std::uint32_t version() const { return version_.load(std::memory_order_relaxed); }
  void bump_version() { version_.fetch_add(1, std::memory_order_relaxed); }

  /** The thread whose kernels may have left the contents wrong when this memory was made or last written
   * under a check, if any (ErrorWords). */
  Suspicion suspect() const { return suspect_.load(std::memory_order_relaxed); }
  void set_suspect(Suspicion whom) { suspect_.store(whom, std::memory_order_relaxed); }

  /** Other copies of the library use the memory too from now on (core/dlpack.h): what is enqueued here on it
   * keeps order with what they enqueue. */
  void share();
  bool is_shared() const { return is_shared_.load(std::memory_order_acquire); }

  /** Whether the memory is an allocator's: nobody outside of the library reaches it unseen. */
  bool is_allocated() const { return owner_ != nullptr; }

  // For transfers (Queue), which do not go through the device's queue.

  /** The buffer, for a command that keeps order with the device's queue by itself. */
  const cl::Buffer& buffer_for_transfer() const {
    if (!buffer_() && bytes_ > 0 && call_state.has_elements)
      throw_no_elements("the tensor is a shape, its elements were asked for");
    return buffer_;
  }
  /** Whether nobody has asked for the buffer since the memory was allocated. */
  bool is_untouched() const { return last_use() != any_command; }
  /** The number of the last command of the device's queue that may use this memory. */
  static constexpr std::uint64_t any_command = UINT64_MAX;
  std::uint64_t last_use() const { return last_use_.load(std::memory_order_relaxed); }
  /** Whether an upload is under way that the device's queue does not wait for yet. */
  bool is_arriving() const { return is_arriving_.load(std::memory_order_acquire); }
  void set_arriving(bool is_arriving) { is_arriving_.store(is_arriving, std::memory_order_release); }

 private:
  static Suspicion suspect_of_new_memory(const Device& device);

  Device& device_;
  cl::Buffer buffer_;
  std::size_t byte_offset_;
  std::size_t bytes_;
  Allocator* owner_;
  Block* block_;
  mutable std::atomic<std::uint64_t> last_use_;
  std::uint64_t pool_;
  std::atomic<bool> is_arriving_{false};
  std::atomic<bool> is_shared_{false};
  std::atomic<std::uint32_t> version_{0};
  std::atomic<Suspicion> suspect_;
};

/** Figures of an allocator, in bytes (counts where named so). */
struct MemoryStats {
  std::uint64_t allocated = 0;      // in use by tensors
  std::uint64_t reserved = 0;       // taken from the device
  std::uint64_t max_allocated = 0;  // peaks since the start or the last reset
  std::uint64_t max_reserved = 0;
  std::uint64_t segments = 0;     // OpenCL buffers
  std::uint64_t allocations = 0;  // requests served since the start
};

/** Where all device memory comes from: results, gradients and the scratch of operators. Thread safe. */
class Allocator {
 public:
  virtual ~Allocator() = default;
  /** At least `bytes` of memory, contents undefined; of the graph's pool where the calling thread captures
   * (command_graph.h). Throws OutOfMemoryError. */
  virtual std::shared_ptr<Storage> allocate(std::size_t bytes) = 0;
  /** Like allocate, but rather memory that no command under way uses: an upload to it need not wait. */
  virtual std::shared_ptr<Storage> allocate_for_upload(std::size_t bytes) = 0;
  virtual std::shared_ptr<MemoryPool> make_pool() = 0;
  /** Gives cached memory that nothing uses back to the device. */
  virtual void empty_cache() = 0;
  virtual MemoryStats stats() const = 0;
  virtual void reset_peaks() = 0;
  /** Refuses to reserve more than that many bytes; 0 lifts the limit. */
  virtual void set_limit(std::uint64_t bytes) = 0;
  /** See Device::shut_down. */
  virtual void lock_for_exit() = 0;

 protected:
  friend class Storage;
  virtual void release(Block* block, std::size_t bytes) = 0;
};

/**
 * Keeps freed memory for the next request, in segments that are split and merged (the scheme of PyTorch's
 * CUDA caching allocator). Many tensors share one OpenCL buffer, which lets one launch reach many parameters.
 */
std::unique_ptr<Allocator> make_caching_allocator(Device& device);

/** One OpenCL buffer of exact size per request, for tools that look for accesses out of bounds
 * (OCL_ALLOCATOR=direct). */
std::unique_ptr<Allocator> make_direct_allocator(Device& device);

}  // namespace dlprim
