#include "autograd/tensor/device.h"

#include <atomic>
#include <utility>

#include "autograd/tensor/default_device.h"
#include "dlprim/runtime/pinned_memory.h"

namespace ocl {
namespace {

std::atomic<dlprim::Device*> default_device{nullptr};
thread_local dlprim::Device* thread_device = nullptr;

}  // namespace

Device::Device() : device_(thread_device ? thread_device : default_device.load()) {
  if (!device_) device_ = &dlprim::Device::get(0);
}

std::optional<Device> exchange_thread_device(std::optional<Device> device) {
  dlprim::Device* const before = std::exchange(thread_device, device ? &**device : nullptr);
  return before ? std::optional<Device>(*before) : std::nullopt;
}

void set_default_device(const Device& device) {
  thread_device = nullptr;
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
