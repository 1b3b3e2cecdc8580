#include "runtime/devices.h"

#include <c10/util/Exception.h>

#include "dlprim/runtime/device.h"

namespace torch_ocl {
namespace {

thread_local c10::DeviceIndex current = 0;

}  // namespace

c10::DeviceIndex device_count() noexcept {
  try {
    return static_cast<c10::DeviceIndex>(dlprim::Device::count());
  } catch (const std::exception&) {
    return 0;
  }
}

c10::DeviceIndex current_device() noexcept {
  return current;
}

void set_device(c10::DeviceIndex index) {
  TORCH_CHECK(index >= 0 && index < device_count(), "there is no device ocl:", static_cast<int>(index),
              ", of ", static_cast<int>(device_count()),
              device_count() == 0
                  ? ": no OpenCL driver shows one; pip install \"tapecl[cpu]\" brings one for processors"
                  : "");
  current = index;
}

c10::DeviceIndex exchange_device(c10::DeviceIndex index) {
  const c10::DeviceIndex before = current;
  if (index >= 0) set_device(index);
  return before;
}

}  // namespace torch_ocl
