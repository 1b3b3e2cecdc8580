#include <c10/core/impl/DeviceGuardImplInterface.h>

#include "runtime/devices.h"
#include "tensors.h"

namespace torch_ocl {
namespace {

/** A device has one queue, in order: its only stream. */
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

  bool queryStream(const c10::Stream&) const override { return true; }
  void synchronizeStream(const c10::Stream& stream) const override {
    device_of(stream.device_index()).synchronize();
  }
  void synchronizeDevice(const c10::DeviceIndex index) const override { device_of(index).synchronize(); }
  void recordDataPtrOnStream(const c10::DataPtr&, const c10::Stream&) const override {}
};

C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard)

}  // namespace
}  // namespace torch_ocl
