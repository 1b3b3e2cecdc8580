#include <c10/util/ApproximateClock.h>
#include <torch/csrc/profiler/stubs/base.h>

#include "dlprim/runtime/mark.h"
#include "runtime/devices.h"
#include "tensors.h"

namespace torch_ocl {
namespace {

using torch::profiler::impl::ProfilerVoidEventStub;

/** The device's time of an operator for torch.profiler: marks in its queue before and after. */
struct ProfilerStubs final : torch::profiler::impl::ProfilerStubs {
  void record(c10::DeviceIndex* device, ProfilerVoidEventStub* event,
              std::int64_t* nanoseconds) const override {
    if (device) *device = current_device();
    *event = std::make_shared<dlprim::Mark>(device_of(c10::DeviceIndex{-1}).queue().mark(true));
    if (nanoseconds) *nanoseconds = c10::getTime();
  }
  float elapsed(const ProfilerVoidEventStub* start, const ProfilerVoidEventStub* end) const override {
    const auto time = [](const ProfilerVoidEventStub& event) {
      return static_cast<const dlprim::Mark*>(event.get())->time.get();
    };
    return std::chrono::duration<float, std::micro>(time(*end) - time(*start)).count();
  }
  void mark(const char*) const override {}
  void rangePush(const char*) const override {}
  void rangePop() const override {}
  bool enabled() const override { return true; }
  void onEachDevice(std::function<void(int)> visit) const override {
    for (int i = 0; i < device_count(); ++i) visit(i);
  }
  void synchronize() const override {
    for (dlprim::Device* device : dlprim::Device::opened()) device->synchronize();
  }
};

const bool is_registered = [] {
  torch::profiler::impl::registerPrivateUse1Methods(new ProfilerStubs);  // lives as long as the process
  return true;
}();

}  // namespace
}  // namespace torch_ocl
