#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include "dlprim/runtime/opencl.h"

namespace dlprim {

class BarredImplementations;

/**
 * Which shape of kernel a device runs best. `cpu`: one work item a work group walks a whole tile with
 * explicit vectors and the compiler's loop vectoriser (PoCL, Intel's CPU runtime). `simt`: many work items a
 * group share local memory (GPUs, and llvmpipe, which is a CPU but maps one work item to one SIMD lane).
 */
enum class KernelShape { cpu, simt };

/** The properties and abilities of a device, found out once when it is opened. Kernel choice reads nothing
 * else. */
struct DeviceInfo {
  std::string name, vendor, version, driver_version;
  std::string platform_name, platform_version;
  bool is_cpu = false;  // CL_DEVICE_TYPE_CPU
  KernelShape shape = KernelShape::simt;
  /**
   * Whether a family that has kernels of the two base shapes alone runs those for CPUs here. A class of
   * device with a shape of its own decides here which of the two serves it until a family has kernels of that
   * shape and asks for it.
   */
  bool runs_cpu_kernels() const { return shape == KernelShape::cpu; }
  int compute_units = 1;
  int max_work_group = 1;
  std::uint64_t local_memory = 0, global_memory = 0, max_allocation = 0;  // bytes
  /** Bytes of local memory that a kernel may declare. NVIDIA's driver says 48 KiB; for Hopper it takes 96. */
  std::uint64_t usable_local_memory() const {
    constexpr std::uint64_t of_hopper = 96 << 10;
    return compute_capability == 90 ? std::max(of_hopper, local_memory) : local_memory;
  }
  int max_parameter_bytes = 256;
  bool fp64 = false, fp16 = false, subgroups = false;
  bool correctly_rounded_divide = false;  // float division and square root can be asked to round correctly
  bool shares_host_memory = false;        // a transfer is a copy, and no faster from page-locked memory
  bool shares_page_locks = false;         // NVIDIA: memory locked for one device is so for all of the driver
  bool inline_ptx = false;                // NVIDIA: asm() in OpenCL C
  int compute_capability = 0;             // NVIDIA: ten times it; else 0
  bool needs_main_thread = false;         // Oclgrind: no call after the main thread's objects are destroyed
  bool compiles_at_launch = false;  // PoCL: machine code is made at a kernel's first launch, not at build
  std::shared_ptr<BarredImplementations> barred;  // what gives wrong results here; null: nothing
};

/** The environment variable OCL_KERNEL_SHAPE=cpu|simt overrides `shape`, to run either set of kernels
 * anywhere; OCL_STAGED_TRANSFERS, if set, unsets `shares_host_memory`. */
DeviceInfo describe(const cl::Device& device);

}  // namespace dlprim
