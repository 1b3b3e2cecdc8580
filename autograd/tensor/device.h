#pragma once

#include <string>

#include "dlprim/runtime/device.h"

namespace ocl {

/** A kind of device that programs name by libtorch's constants: the first CPU among the OpenCL devices, and
 * CUDA's, of which there are none. */
enum class DeviceType { cpu, cuda };
inline constexpr DeviceType kCPU = DeviceType::cpu, kCUDA = DeviceType::cuda;

/** A device by name or number; what is left out is the default device (ocl:0, see set_default_device). */
class Device {
 public:
  Device();
  /** "ocl:N" (N as in clinfo --list), "ocl" or "cpu". Throws DeviceError or ValueError. */
  Device(const std::string& name) : device_(&dlprim::Device::get(name)) {}
  Device(const char* name) : Device(std::string(name)) {}
  Device(int index) : device_(&dlprim::Device::get(index)) {}
  /** Throws DeviceError where no device is of that kind. */
  Device(DeviceType type) : Device(type == DeviceType::cpu ? "cpu" : "cuda") {}
  Device(dlprim::Device& device) : device_(&device) {}

  dlprim::Device& operator*() const { return *device_; }
  dlprim::Device* operator->() const { return device_; }
  bool is_cpu() const { return device_->info().is_cpu; }
  bool is_cuda() const { return false; }
  friend bool operator==(const Device& a, const Device& b) { return a.device_ == b.device_; }
  friend bool operator!=(const Device& a, const Device& b) { return !(a == b); }

 private:
  dlprim::Device* device_;
};

/** Programs for libtorch ask these before they choose CUDA. */
namespace cuda {
inline bool is_available() {
  return false;
}
inline std::size_t device_count() {
  return 0;
}
}  // namespace cuda

/** The device of tensors that name none. Thread safe. */
void set_default_device(const Device& device);

/** Waits for the work of one device, or of every opened one. Throws what the devices reported. */
void synchronize(const Device& device);
void synchronize();

/** Gives cached memory of every opened device back. */
void empty_cache();

}  // namespace ocl
