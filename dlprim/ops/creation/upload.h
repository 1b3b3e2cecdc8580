#pragma once

#include <cstddef>
#include <vector>

#include "dlprim/core/arguments.h"
#include "dlprim/core/tensor.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

/** Memory of the host. A call that is kept has a copy. */
struct HostBytes {
  const void* data;
  std::size_t size;
  /** Whether page-locked memory (PinnedMemory) may still be read after the call; it is kept that long, and
   * must stay as it is. */
  bool non_blocking = false;
};

/** Enqueues a copy of the host's bytes, elements in row-major order, to a contiguous tensor of that many
 * bytes; bytes of bool other than 0 become 1. The host memory is free on return, but for
 * HostBytes::non_blocking. Throws ValueError. Back to the host: Queue::read. */
void upload(Queue& queue, const HostBytes& bytes, const Tensor& destination);

/** Copies a contiguous tensor to one of as many bytes on another device, the queue's, through host memory in
 * pieces that overlap. Waits for the source, not for the upload. Throws ValueError, and what the source's
 * device reported. */
void copy_to_device(Queue& queue, const Tensor& source, const Tensor& destination);

inline ArgumentValue argument_value(const HostBytes& bytes) {
  return static_cast<std::int64_t>(bytes.size);
}

template <>
class Kept<HostBytes> {
 public:
  explicit Kept(const HostBytes& bytes)
      : copy_(static_cast<const char*>(bytes.data), static_cast<const char*>(bytes.data) + bytes.size) {}
  void adopt(MemoryMap&, std::deque<Tensor>&) {}
  HostBytes get() const { return {copy_.data(), copy_.size(), false}; }

 private:
  std::vector<char> copy_;
};

}  // namespace dlprim
