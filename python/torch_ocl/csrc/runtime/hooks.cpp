#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/DeviceGuard.h>

#include "dlprim/runtime/pinned_memory.h"
#include "runtime/devices.h"
#include "runtime/generator.h"
#include "runtime/pinned_allocator.h"

namespace torch_ocl {
namespace {

struct Hooks final : at::PrivateUse1HooksInterface {
  void init() const override {}
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return device_count() > 0; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  c10::DeviceIndex deviceCount() const override { return device_count(); }
  void setCurrentDevice(c10::DeviceIndex index) const override { set_device(index); }
  c10::DeviceIndex getCurrentDevice() const override { return current_device(); }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex index) const override { return exchange_device(index); }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex index) const override {
    return exchange_device(index);
  }
  const at::Generator& getDefaultGenerator(c10::DeviceIndex index) const override {
    return default_generator(index);
  }
  at::Generator getNewGenerator(c10::DeviceIndex index) const override {
    return at::make_generator<Generator>(index < 0 ? current_device() : index);
  }
  bool isPinnedPtr(const void* data) const override {
    return dlprim::PinnedMemory::around(data, 1) != nullptr;
  }
  c10::Allocator* getPinnedMemoryAllocator() const override { return pinned_allocator(); }
  void resizePrivateUse1Bytes(const c10::Storage& storage, std::size_t bytes) const override {
    c10::StorageImpl& memory = *storage.unsafeGetStorageImpl();
    const c10::DeviceGuard on(memory.device());
    c10::DataPtr grown = memory.allocator()->allocate(bytes);
    const std::size_t kept = std::min(bytes, memory.nbytes());
    if (kept > 0) memory.allocator()->copy_data(grown.get(), memory.data(), kept);
    memory.set_data_ptr_noswap(std::move(grown));
    memory.set_nbytes(bytes);
  }
};

const bool is_registered = [] {
  at::RegisterPrivateUse1HooksInterface(new Hooks);  // lives as long as the process
  return true;
}();

}  // namespace
}  // namespace torch_ocl
