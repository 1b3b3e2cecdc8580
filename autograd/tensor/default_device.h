#pragma once

#include <optional>

#include "autograd/tensor/device.h"

namespace ocl {

/**
 * Sets the device of tensors that name none, for this thread and before what set_default_device says; without
 * one, that counts again. Gives back what was set before.
 */
std::optional<Device> exchange_thread_device(std::optional<Device> device);

}  // namespace ocl
