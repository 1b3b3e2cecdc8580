#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include "dlprim/runtime/mark.h"
#include "dlprim/runtime/pinned_memory.h"
#include "dlprim/runtime/transfers.h"

namespace dlprim {

class Device;
struct Tensor;

/** Where the elements of a contiguous tensor lie. */
Region region_of(const Tensor& contiguous);

/**
 * An in-order OpenCL queue beside the device's own, for a thread that moves memory in the background. It
 * keeps no order with the device's queue. The caller waits for a mark of that one before it touches what its
 * commands write, and for the events of this one before others touch what it has written.
 *
 * One thread uses it.
 */
class SideQueue {
 public:
  explicit SideQueue(const Device& device);
  ~SideQueue();
  SideQueue(const SideQueue&) = delete;
  SideQueue& operator=(const SideQueue&) = delete;

  /** Waits until the device's queue has reached the mark. Raises nothing of what its commands reported: that
   * belongs to the threads that launched them. */
  void wait_for(const Mark& mark) { wait(mark.reached); }
  /** Enqueues a copy to the host; `to` must stay until the event. */
  cl::Event read(const Region& from, void* to);
  /** Enqueues a copy to the device; `from` must stay as it is until the event. */
  cl::Event write(const Region& to, const void* from);
  /** Waits; nothing for a null event. */
  void wait(const cl::Event& event);
  /** Asks the driver to lock the pages of memory that it has not allocated, as long as this object lives.
   * Transfers from and to it are right, and perhaps slower, where it does not. */
  void lock_pages(void* memory, std::size_t bytes);

  /** See Device::shut_down. */
  static void lock_for_exit();

 private:
  const Device& device_;
  std::mutex mutex_;
  cl::CommandQueue queue_;
  std::vector<MappedBuffer> locked_;
};

}  // namespace dlprim
