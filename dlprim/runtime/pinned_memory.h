#pragma once

#include <cstddef>
#include <memory>

#include "dlprim/runtime/opencl.h"

namespace dlprim {

class Device;

/** A buffer in page-locked memory of the host that stays mapped. */
struct MappedBuffer {
  cl::Buffer buffer;
  void* memory = nullptr;

  /** Waits for nothing that is enqueued elsewhere. The caller holds a DeviceLock. */
  static MappedBuffer create(const Device& device, std::size_t bytes);
  /** The end of the mapping; the caller holds a DeviceLock. */
  void unmap(const Device& device);
};

/**
 * Page-locked memory of the host, which its device reads and writes at the bus's full rate, without the copy
 * through staging memory that ordinary memory takes. Queue::write and Queue::read find it by its addresses.
 * Locking pages takes long, so that freed memory is kept for the next request.
 */
class PinnedMemory {
 public:
  /** Contents undefined. Throws OutOfMemoryError. */
  static std::shared_ptr<PinnedMemory> allocate(Device& device, std::size_t bytes);
  /** The owner of all of that memory, or null. */
  static std::shared_ptr<PinnedMemory> around(const void* start, std::size_t bytes);
  /** Gives what is kept for the next request back to the system. */
  static void empty_cache();
  /** See Device::shut_down. */
  static void lock_for_exit();

  PinnedMemory(Device& device, MappedBuffer mapped, std::size_t bytes)
      : device_(device), mapped_(std::move(mapped)), bytes_(bytes) {}
  ~PinnedMemory() { mapped_.unmap(device_); }
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;

  void* data() const { return mapped_.memory; }
  std::size_t bytes() const { return bytes_; }
  Device& device() const { return device_; }

 private:
  static void recycle(PinnedMemory* memory);

  Device& device_;
  MappedBuffer mapped_;
  std::size_t bytes_;
};

}  // namespace dlprim
