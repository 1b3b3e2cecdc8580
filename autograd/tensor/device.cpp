#include "autograd/tensor/device.h"

#include <atomic>

#include "dlprim/runtime/pinned_memory.h"

namespace ocl {
namespace {

std::atomic<dlprim::Device*> default_device{nullptr};

}  // namespace

Device::Device() : device_(default_device.load()) {
  if (!device_) device_ = &dlprim::Device::get(0);
}

void set_default_device(const Device& device) {
  default_device = &*device;
}

void synchronize(const Device& device) {
  device->synchronize();
}

void synchronize() {
  for (dlprim::Device* device : dlprim::Device::opened()) device->synchronize();
}

void empty_cache() {
  for (dlprim::Device* device : dlprim::Device::opened()) device->allocator().empty_cache();
  dlprim::PinnedMemory::empty_cache();
}

}  // namespace ocl
