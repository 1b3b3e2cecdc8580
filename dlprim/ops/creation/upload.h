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
};

/** Enqueues a copy of the host's bytes, elements in row-major order, to a contiguous tensor of that many
 * bytes; bytes of bool other than 0 become 1. The host memory is free on return. Throws ValueError. Back to
 * the host: Queue::read. */
void upload(Queue& queue, const HostBytes& bytes, const Tensor& destination);

inline ArgumentValue argument_value(const HostBytes& bytes) {
  return static_cast<std::int64_t>(bytes.size);
}

template <>
class Kept<HostBytes> {
 public:
  explicit Kept(const HostBytes& bytes)
      : copy_(static_cast<const char*>(bytes.data), static_cast<const char*>(bytes.data) + bytes.size) {}
  void adopt(MemoryMap&, std::deque<Tensor>&) {}
  HostBytes get() const { return {copy_.data(), copy_.size()}; }

 private:
  std::vector<char> copy_;
};

}  // namespace dlprim
