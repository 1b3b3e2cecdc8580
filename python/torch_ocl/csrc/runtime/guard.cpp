#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <map>
#include <mutex>

#include "dlprim/runtime/mark.h"
#include "runtime/devices.h"
#include "runtime/errors.h"
#include "runtime/graph.h"
#include "tensors.h"

namespace torch_ocl {
namespace {

/** The content of torch.Event: a place in the queue of a device. */
struct Event {
  c10::DeviceIndex device;
  dlprim::Mark mark;
};

Event& event_at(void* event) {
  return *static_cast<Event*>(event);
}

/** A device has one queue, in order: its only stream. Nothing there comes before an event that was recorded
 * earlier, so that no stream need wait for one. */
struct Guard final : c10::impl::DeviceGuardImplInterface {
  static constexpr c10::DeviceType static_type = c10::DeviceType::PrivateUse1;

  Guard() = default;
  explicit Guard(c10::DeviceType) {}

  c10::DeviceType type() const override { return static_type; }
  c10::Device exchangeDevice(c10::Device device) const override {
    return {static_type, exchange_device(device.index())};
  }
  c10::Device getDevice() const override { return {static_type, current_device()}; }
  void setDevice(c10::Device device) const override { set_device(device.index()); }
  void uncheckedSetDevice(c10::Device device) const noexcept override {
    if (device.index() >= 0 && device.index() < device_count()) set_device(device.index());
  }
  c10::Stream getStream(c10::Device device) const override {
    return c10::Stream(c10::Stream::DEFAULT,
                       c10::Device(static_type, device.has_index() ? device.index() : current_device()));
  }
  c10::Stream getDefaultStream(c10::Device device) const override { return getStream(device); }
  c10::Stream getNewStream(c10::Device device, int) const override { return getStream(device); }
  c10::Stream exchangeStream(c10::Stream stream) const override { return stream; }
  c10::DeviceIndex deviceCount() const noexcept override { return device_count(); }
#if __has_include(<c10/core/DeviceCapability.h>)  // of PyTorch 2.10 and later
  /** The dtypes that there are kernels for. */
  c10::DeviceCapability getDeviceCapability(c10::Device device) const override {
    c10::DeviceCapability capability;
    capability.capability_data.capability_bits = 0;
    auto& has = capability.capability_data.supported_scalar_types;
    has.has_Float = has.has_Half = has.has_BFloat16 = has.has_Long = has.has_Int = has.has_Byte =
        has.has_Bool = 1;
    has.has_Double = device_of(device.index()).info().fp64;
    return capability;
  }
#endif

  bool queryStream(const c10::Stream& stream) const override {
    dlprim::Queue& queue = device_of(stream.device_index()).queue();
    if (queue.has_passed(queue.commands())) return true;
    // Who asks again and again asks of one mark, as long as nothing is added.
    static std::mutex mutex;
    static auto& asked = *new std::map<c10::DeviceIndex, dlprim::Mark>;
    const std::lock_guard lock(mutex);
    dlprim::Mark& mark = asked[stream.device_index()];
    if (mark.commands != queue.commands()) mark = queue.mark();
    return queue.has_reached(mark);
  }
  void synchronizeStream(const c10::Stream& stream) const override {
    synchronizeDevice(stream.device_index());
  }
  void synchronizeDevice(const c10::DeviceIndex index) const override {
    with_errors_of_torch([&] { device_of(index).synchronize(); });
  }

  // Overrides what PyTorch 2.10 and later have.
  bool isStreamCapturing(const c10::Stream& stream) const {
    return capturing(stream.device_index()) != nullptr;
  }

  void record(void** event, const c10::Stream& stream, c10::DeviceIndex, c10::EventFlag flag) const override {
    const c10::DeviceIndex device = stream.device_index();
    dlprim::Mark mark = device_of(device).queue().mark(flag == c10::EventFlag::BACKEND_DEFAULT);
    if (!*event) *event = new Event;
    event_at(*event) = {device, std::move(mark)};
  }
  void block(void* event, const c10::Stream& stream) const override {
    if (event && event_at(event).device != stream.device_index()) synchronizeEvent(event);
  }
  bool queryEvent(void* event) const override {
    return !event || device_of(event_at(event).device).queue().has_reached(event_at(event).mark);
  }
  void synchronizeEvent(void* event) const override {
    if (!event) return;
    with_errors_of_torch([&] { device_of(event_at(event).device).queue().wait_for(event_at(event).mark); });
  }
  double elapsedTime(void* start, void* end, c10::DeviceIndex) const override {
    for (void* event : {start, end})
      TORCH_CHECK_VALUE(event && event_at(event).mark.time.valid(),
                        "both events must have been recorded, with enable_timing=True");
    const auto between = event_at(end).mark.time.get() - event_at(start).mark.time.get();
    return std::chrono::duration<double, std::milli>(between).count();
  }
  void destroyEvent(void* event, c10::DeviceIndex) const noexcept override {
    delete static_cast<Event*>(event);
  }

  void recordDataPtrOnStream(const c10::DataPtr&, const c10::Stream&) const override {}
};

C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard)

}  // namespace
}  // namespace torch_ocl
