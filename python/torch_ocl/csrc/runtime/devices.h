#pragma once

#include <c10/core/Device.h>

namespace torch_ocl {

/** 0 where there is no OpenCL platform; never throws. */
c10::DeviceIndex device_count() noexcept;
/** The current device of this thread. */
c10::DeviceIndex current_device() noexcept;
/** Throws where there is no such device. */
void set_device(c10::DeviceIndex index);
/** Returns the one before. */
c10::DeviceIndex exchange_device(c10::DeviceIndex index);

}  // namespace torch_ocl
