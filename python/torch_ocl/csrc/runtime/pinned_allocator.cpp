#include "runtime/pinned_allocator.h"

#include "dlprim/runtime/pinned_memory.h"
#include "tensors.h"

namespace torch_ocl {
namespace {

using Memory = std::shared_ptr<dlprim::PinnedMemory>;

void release(void* memory) {
  delete static_cast<Memory*>(memory);
}

struct PinnedAllocator final : c10::Allocator {
  c10::DataPtr allocate(std::size_t bytes) override {
    if (bytes == 0) return {nullptr, c10::kCPU};
    auto* memory = new Memory(dlprim::PinnedMemory::allocate(device_of(c10::DeviceIndex{-1}), bytes));
    return {(*memory)->data(), memory, &release, c10::kCPU};
  }
  void copy_data(void* destination, const void* source, std::size_t bytes) const override {
    default_copy_data(destination, source, bytes);
  }
};

}  // namespace

c10::Allocator* pinned_allocator() {
  static PinnedAllocator allocator;
  return &allocator;
}

}  // namespace torch_ocl
