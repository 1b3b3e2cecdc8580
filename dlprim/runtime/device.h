#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dlprim/runtime/allocator.h"
#include "dlprim/runtime/device_info.h"
#include "dlprim/runtime/measured_choices.h"
#include "dlprim/runtime/program.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

/**
 * An OpenCL device with what belongs to it: context, one in-order queue (with others beside it for
 * transfers), allocator, programs. Devices are opened at first use and live until the process ends.
 */
class Device {
 public:
  /** Number of devices over all platforms. 0 when there is no OpenCL platform. */
  static int count();
  /** The N-th device in the order of `clinfo --list`. Throws DeviceError when there is none. */
  static Device& get(int index);
  /** "ocl:N", "ocl" (= ocl:0) or "cpu" (the first device of type CPU). Throws DeviceError or ValueError. */
  static Device& get(const std::string& name);
  /** Name and number of devices of each platform, in the loader's order. */
  static std::vector<std::pair<std::string, int>> platforms();
  /** The devices opened so far. */
  static std::vector<Device*> opened();

  /** Records the launches of every device, those opened later too, until stop_profiling returns them. Both
   * wait. */
  static void start_profiling();
  static std::vector<std::pair<Device*, std::vector<KernelRecord>>> stop_profiling();

  /**
   * For the thread that ends the process, before anything that OpenCL needs is destroyed. It waits until no
   * other thread is within OpenCL and keeps them all out from now on (DeviceLock). Then it waits for the work
   * of all devices and stores their programs. Nothing in a forked child. May be called again.
   */
  static void shut_down();

  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  int index() const { return index_; }
  /** "ocl:N". */
  std::string name() const { return "ocl:" + std::to_string(index_); }
  const DeviceInfo& info() const { return info_; }
  const cl::Context& context() const { return context_; }
  const cl::Device& handle() const { return device_; }
  Queue& queue() { return *queue_; }
  Allocator& allocator() { return *allocator_; }
  ProgramTable& programs() { return *programs_; }
  MeasuredChoices& measured_choices() { return measured_choices_; }

  /** A buffer whose memory is there already (drivers that allocate late are made to), or a null one. */
  cl::Buffer try_create_buffer(std::size_t bytes);

  /** Waits for all work; raises what the device could only see while it ran (an index out of range). */
  void synchronize();

 private:
  Device(int index, cl::Device device, bool profiling);

  int index_;
  cl::Device device_;
  DeviceInfo info_;
  MeasuredChoices measured_choices_{info_};
  cl::Context context_;
  cl::CommandQueue memory_queue_;  // that takes the memory of buffers
  std::unique_ptr<Allocator> allocator_;
  std::unique_ptr<ProgramTable> programs_;
  std::unique_ptr<Queue> queue_;
};

/** A description of an OpenCL error code: "CL_OUT_OF_RESOURCES (-5)". */
std::string error_name(int code);

}  // namespace dlprim
