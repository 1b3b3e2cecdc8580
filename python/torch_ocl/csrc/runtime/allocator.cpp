#include "runtime/allocator.h"

#include <c10/core/CachingDeviceAllocator.h>

#include <mutex>
#include <unordered_set>

#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/runtime/allocator.h"
#include "runtime/devices.h"
#include "runtime/errors.h"
#include "runtime/place.h"
#include "runtime/threads.h"
#include "tensors.h"

namespace torch_ocl {
namespace {

/** All places that there are: a pointer that PyTorch has made a tensor of anew, as its reader and writer of
 * old files do (`at::from_blob`), comes without what it came with. */
class Places {
 public:
  void add(const Place* place) {
    const std::lock_guard locked(using_them_);
    all_.insert(place);
  }
  void remove(const Place* place) {
    const std::lock_guard locked(using_them_);
    all_.erase(place);
  }
  Place* find(void* pointer) const {
    const std::lock_guard locked(using_them_);
    return all_.count(pointer) > 0 ? static_cast<Place*>(pointer) : nullptr;
  }

 private:
  mutable std::mutex using_them_;
  std::unordered_set<const void*> all_;
};
Places& places() {
  static auto& places = *new Places;  // never destroyed: tensors may live as long as the process
  return places;
}

void release(void* memory) {
  auto* place = static_cast<Place*>(memory);
  places().remove(place);
  delete place;
}

}  // namespace

c10::DataPtr pointer_to(Memory memory, c10::Device device, bool is_shared) {
  auto* place = new Place(std::move(memory));
  place->is_shared = is_shared;
  places().add(place);
  return {place, place, &release, device};
}

namespace {

/** The pointer that PyTorch sees is the address of the Place on the host: OpenCL's buffers have none. */
struct Allocator final : c10::DeviceAllocator {
  c10::DataPtr allocate(std::size_t bytes) override {
    announce_thread();
    const c10::Device device(c10::kPrivateUse1, current_device());
    return pointer_to(
        with_errors_of_torch([&] { return device_of(device.index()).allocator().allocate(bytes); }), device,
        false);
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* destination, const void* source, std::size_t bytes) const override {
    const auto all = [&](const void* pointer) {
      auto* place = static_cast<Place*>(const_cast<void*>(pointer));
      place->settle();
      dlprim::Tensor whole;
      whole.storage = place->memory;
      whole.dtype = dlprim::DType::uint8;
      whole.shape = {static_cast<std::int64_t>(bytes)};
      whole.strides = {1};
      return whole;
    };
    const dlprim::Tensor from = all(source), to = all(destination);
    dlprim::copy(from.device().queue(), from, to);
  }

  bool initialized() override { return true; }
  void emptyCache(c10::MempoolId_t) override {
    for (dlprim::Device* device : dlprim::Device::opened()) device->allocator().empty_cache();
  }
  void recordStream(const c10::DataPtr&, c10::Stream) override {}  // a device has one
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex index) override {
    const dlprim::MemoryStats held = device_of(index).allocator().stats();
    c10::CachingDeviceAllocator::DeviceStats stats;
    const auto set = [](auto& pools, std::uint64_t now, std::uint64_t peak) {
      auto& all = pools[static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE)];
      all.current = static_cast<std::int64_t>(now);
      all.peak = static_cast<std::int64_t>(peak);
    };
    set(stats.allocated_bytes, held.allocated, held.max_allocated);
    set(stats.active_bytes, held.allocated, held.max_allocated);
    set(stats.requested_bytes, held.allocated, held.max_allocated);
    set(stats.reserved_bytes, held.reserved, held.max_reserved);
    set(stats.segment, held.segments, held.segments);
    stats.num_device_alloc = static_cast<std::int64_t>(held.segments);
    return stats;
  }
  void resetAccumulatedStats(c10::DeviceIndex) override {}  // none is kept
  void resetPeakStats(c10::DeviceIndex index) override { device_of(index).allocator().reset_peaks(); }
  std::pair<std::size_t, std::size_t> getMemoryInfo(c10::DeviceIndex index) override {
    dlprim::Device& device = device_of(index);
    const std::uint64_t total = device.info().global_memory, taken = device.allocator().stats().reserved;
    return {total - std::min(total, taken), total};
  }
};

Allocator allocator;
REGISTER_ALLOCATOR(c10::DeviceType::PrivateUse1, &allocator)

}  // namespace

Place* place_behind(const c10::DataPtr& pointer) {
  if (pointer.get_deleter() == &release) return static_cast<Place*>(pointer.get_context());
  return places().find(pointer.get());
}

}  // namespace torch_ocl
