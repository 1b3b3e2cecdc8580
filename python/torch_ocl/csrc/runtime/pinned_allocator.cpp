#include "runtime/pinned_allocator.h"

#include <ATen/core/CachingHostAllocator.h>

#include "dlprim/runtime/pinned_memory.h"
#include "tensors.h"

namespace torch_ocl {
namespace {

using Memory = std::shared_ptr<dlprim::PinnedMemory>;

void release(void* memory) {
  delete static_cast<Memory*>(memory);
}

/** Uploads keep their memory as long as they take (PinnedMemory), so that none needs events. */
struct PinnedAllocator final : at::HostAllocator {
  c10::DataPtr allocate(std::size_t bytes) override {
    if (bytes == 0) return {nullptr, c10::kCPU};
    auto* memory = new Memory(dlprim::PinnedMemory::allocate(device_of(c10::DeviceIndex{-1}), bytes));
    return {(*memory)->data(), memory, &release, c10::kCPU};
  }
  void copy_data(void* destination, const void* source, std::size_t bytes) const override {
    default_copy_data(destination, source, bytes);
  }
  bool record_event(void*, void*, c10::Stream) override { return true; }
  void empty_cache() override { dlprim::PinnedMemory::empty_cache(); }
  at::HostStats get_stats() override { return {}; }  // none is kept
  void reset_accumulated_stats() override {}
  void reset_peak_stats() override {}
};

PinnedAllocator allocator;
REGISTER_HOST_ALLOCATOR(c10::DeviceType::PrivateUse1, &allocator)

}  // namespace

c10::Allocator* pinned_allocator() {
  return &allocator;
}

}  // namespace torch_ocl
