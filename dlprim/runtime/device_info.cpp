#include "dlprim/runtime/device_info.h"

#include <cstdlib>

#include "dlprim/core/error.h"
#include "dlprim/runtime/barred_implementations.h"

namespace dlprim {
namespace {

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

// rusticl's llvmpipe says that it is a CPU, but vectorises across work items only.
KernelShape shape_of(const DeviceInfo& info) {
  const char* wanted = std::getenv("OCL_KERNEL_SHAPE");
  if (wanted && std::string(wanted) == "cpu") return KernelShape::cpu;
  if (wanted && std::string(wanted) == "simt") return KernelShape::simt;
  if (wanted) warn_once(concat("OCL_KERNEL_SHAPE=", wanted, " is neither cpu nor simt and is ignored"));
  return info.is_cpu && !contains(info.platform_name, "rusticl") ? KernelShape::cpu : KernelShape::simt;
}

int compute_capability_of(const cl::Device& device, const std::string& extensions) {
  if (!contains(extensions, "cl_nv_device_attribute_query")) return 0;
  constexpr cl_device_info major = 0x4000, minor = 0x4001;  // CL_DEVICE_COMPUTE_CAPABILITY_…_NV
  cl_uint version[2] = {0, 0};
  if (device.getInfo(major, &version[0]) != CL_SUCCESS || device.getInfo(minor, &version[1]) != CL_SUCCESS)
    return 0;
  return static_cast<int>(10 * version[0] + version[1]);
}

}  // namespace

DeviceInfo describe(const cl::Device& device) {
  const cl::Platform platform(device.getInfo<CL_DEVICE_PLATFORM>());
  const std::string extensions = device.getInfo<CL_DEVICE_EXTENSIONS>();
  DeviceInfo info;
  info.name = device.getInfo<CL_DEVICE_NAME>();
  info.vendor = device.getInfo<CL_DEVICE_VENDOR>();
  info.version = device.getInfo<CL_DEVICE_VERSION>();
  info.driver_version = device.getInfo<CL_DRIVER_VERSION>();
  info.platform_name = platform.getInfo<CL_PLATFORM_NAME>();
  info.platform_version = platform.getInfo<CL_PLATFORM_VERSION>();
  info.is_cpu = device.getInfo<CL_DEVICE_TYPE>() & CL_DEVICE_TYPE_CPU;
  info.shape = shape_of(info);
  info.compute_units = static_cast<int>(device.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>());
  info.max_work_group = static_cast<int>(device.getInfo<CL_DEVICE_MAX_WORK_GROUP_SIZE>());
  info.local_memory = device.getInfo<CL_DEVICE_LOCAL_MEM_SIZE>();
  info.global_memory = device.getInfo<CL_DEVICE_GLOBAL_MEM_SIZE>();
  info.max_allocation = device.getInfo<CL_DEVICE_MAX_MEM_ALLOC_SIZE>();
  info.max_parameter_bytes = static_cast<int>(device.getInfo<CL_DEVICE_MAX_PARAMETER_SIZE>());
  info.fp64 = contains(extensions, "cl_khr_fp64");
  info.fp16 = contains(extensions, "cl_khr_fp16");
  info.subgroups = contains(extensions, "cl_khr_subgroups");
  info.correctly_rounded_divide =
      device.getInfo<CL_DEVICE_SINGLE_FP_CONFIG>() & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT;
  info.shares_host_memory = (info.is_cpu || device.getInfo<CL_DEVICE_HOST_UNIFIED_MEMORY>()) &&
                            !std::getenv("OCL_STAGED_TRANSFERS");
  info.inline_ptx = contains(info.platform_name, "NVIDIA");
  info.shares_page_locks = info.inline_ptx;
  info.compute_capability = compute_capability_of(device, extensions);
  info.needs_main_thread = contains(info.platform_name, "Oclgrind");
  info.compiles_at_launch = contains(info.platform_name, "Portable Computing Language");
  info.barred = std::make_shared<BarredImplementations>(info.name, info.driver_version);
  return info;
}

}  // namespace dlprim
