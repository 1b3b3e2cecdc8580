#include "dlprim/runtime/device.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "dlprim/core/call_state.h"
#include "dlprim/core/error.h"
#include "dlprim/platform/interrupts.h"
#include "dlprim/runtime/copies.h"
#include "dlprim/runtime/huge_pages.h"
#include "dlprim/runtime/implementation.h"
#include "dlprim/runtime/kernel_cache.h"
#include "dlprim/runtime/lifetime.h"
#include "dlprim/runtime/pinned_memory.h"
#include "dlprim/runtime/side_queue.h"

namespace dlprim {
namespace {

std::vector<cl::Platform> find_platforms() {
  std::vector<cl::Platform> platforms;
  try {
    cl::Platform::get(&platforms);
  } catch (const cl::Error&) {
    // The loader reports "no platform" as an error; to us it is a machine with no devices.
  }
  return platforms;
}

std::vector<cl::Device> devices_of(const cl::Platform& platform) {
  std::vector<cl::Device> devices;
  try {
    platform.getDevices(CL_DEVICE_TYPE_ALL, &devices);
  } catch (const cl::Error&) {
    // A platform reports "no device" as an error.
  }
  return devices;
}

std::vector<cl::Device> find_devices() {
  std::vector<cl::Device> found;
  for (const cl::Platform& platform : find_platforms()) {
    const std::vector<cl::Device> here = devices_of(platform);
    found.insert(found.end(), here.begin(), here.end());
  }
  return found;
}

struct OpenDevices {
  std::mutex mutex;
  std::map<int, std::unique_ptr<Device>> by_index;
  bool profiling = false;
};

// Never destroyed: tensors that outlive main() may still give memory back to their device.
OpenDevices& open_devices() {
  static auto* devices = new OpenDevices;
  return *devices;
}

std::mutex listing;

/** Devices of all platforms, in clinfo's order; platforms without a device are skipped. */
const std::vector<cl::Device>& all_devices() {
  static std::atomic<const std::vector<cl::Device>*> devices{nullptr};
  if (const auto* known = devices.load()) return *known;
  DeviceLock lock(listing);
  if (!devices.load()) {
    lifetime::note_use();
    const InterruptsHeld held;
    const SignalHandlersKept kept;
    devices = new std::vector<cl::Device>(find_devices());
  }
  return *devices.load();
}

std::string list_of_devices() {
  std::string text;
  for (std::size_t i = 0; i < all_devices().size(); ++i)
    text += concat(i ? ", " : "", "ocl:", i, " = ", all_devices()[i].getInfo<CL_DEVICE_NAME>());
  return text;
}

std::string list_of_platforms() {
  std::string text;
  for (const auto& [name, devices] : Device::platforms()) text += concat(text.empty() ? "" : ", ", name);
  return text;
}

[[noreturn]] void no_such_device(const std::string& name) {
  const std::string platforms = all_devices().empty() ? list_of_platforms() : "";
  if (!platforms.empty())
    throw DeviceError(concat("device '", name, "': these OpenCL platforms show no device: ", platforms,
                             ". PoCL shows none where it cannot write to its cache: set XDG_CACHE_HOME, or "
                             "POCL_CACHE_DIR, to a folder of yours"));
  if (all_devices().empty())
    throw DeviceError(
        concat("device '", name,
               "': no OpenCL device on this machine. Install an OpenCL implementation (on Debian and "
               "Ubuntu: apt install pocl-opencl-icd runs on any CPU; pip install \"tapecl[cpu]\" on x86-64) "
               "and check with python -m ocl doctor"));
  throw DeviceError(concat("device '", name, "' does not exist; there are: ", list_of_devices()));
}

bool wants_direct_allocator() {
  const char* choice = std::getenv("OCL_ALLOCATOR");
  return choice && std::string(choice) == "direct";
}

const std::thread::id main_thread = std::this_thread::get_id();
std::atomic<bool> main_thread_ended{false};

// For an exit() on another thread. Once the main thread's objects are gone, so are those of an implementation
// (Oclgrind), and no OpenCL function may be called any more.
void shut_down_unless_done() {
  if (!main_thread_ended) Device::shut_down();
}

#ifdef __GLIBC__
/** Leaves a forked child before the implementation's own exit handlers, which may wait for threads that only
 * the parent has (NVIDIA's do). */
void leave_forked_child(int status, void*) {
  if (!lifetime::is_forked()) return;
  std::cout.flush();
  std::cerr.flush();
  std::fflush(nullptr);
  _exit(status);
}
#endif

/**
 * Ends the use of devices when main() ends. PoCL may still have to compile what was launched last, and LLVM
 * destroys statics that it made for its first compilations before an exit handler registered earlier runs;
 * the main thread's own objects go first.
 */
struct ShutDownBeforeExit {
  ~ShutDownBeforeExit() {
    if (std::this_thread::get_id() != main_thread || main_thread_ended) return;
    Device::shut_down();
    main_thread_ended = true;
  }
};

void shut_down_with_this_thread() {
  static thread_local const ShutDownBeforeExit guard;
  (void)guard;
}

/** Where the implementation's calls need an object of the main thread's that their first made: it ends before
 * the guard below, and this one, which is made later, before it. */
void shut_down_before_implementation() {
  static thread_local const ShutDownBeforeExit guard;
  (void)guard;
}

// The main thread, which loads the library, may leave the use of devices to others.
const bool main_thread_is_guarded = (shut_down_with_this_thread(), true);

}  // namespace

int Device::count() {
  return static_cast<int>(all_devices().size());
}

std::vector<std::pair<std::string, int>> Device::platforms() {
  DeviceLock lock(listing);
  lifetime::note_use();
  const InterruptsHeld held;
  const SignalHandlersKept kept;
  std::vector<std::pair<std::string, int>> platforms;
  for (const cl::Platform& platform : find_platforms())
    platforms.emplace_back(platform.getInfo<CL_PLATFORM_NAME>(),
                           static_cast<int>(devices_of(platform).size()));
  return platforms;
}

Device& Device::get(int index) {
  if (index < 0 || index >= count()) no_such_device("ocl:" + std::to_string(index));
  OpenDevices& devices = open_devices();
  DeviceLock lock(devices.mutex);
  std::unique_ptr<Device>& slot = devices.by_index[index];
  if (!slot) {
    apply_implementations_of_environment();
    const InterruptsHeld held;
    const SignalHandlersKept kept;
    try {
      slot.reset(new Device(index, all_devices()[static_cast<std::size_t>(index)], devices.profiling));
    } catch (const cl::Error& e) {
      throw DeviceError(concat("device ocl:", index, " does not open: ", e.what(), " ", error_name(e.err())));
    }
    copies::note_opened(*slot);
    KernelCache::global();  // whose own exit handler must run after ours
    static const int registered = std::atexit(shut_down_unless_done);
    (void)registered;
#ifdef __GLIBC__
    static const int registered_for_children = on_exit(leave_forked_child, nullptr);
    (void)registered_for_children;
#endif
  }
  shut_down_with_this_thread();
  if (slot->info().needs_main_thread) shut_down_before_implementation();
  return *slot;
}

Device& Device::get(const std::string& name) {
  if (name == "ocl") return get(0);
  if (name == "cpu") {
    for (std::size_t i = 0; i < all_devices().size(); ++i)
      if (all_devices()[i].getInfo<CL_DEVICE_TYPE>() & CL_DEVICE_TYPE_CPU) return get(static_cast<int>(i));
    no_such_device(name);
  }
  const bool numbered = name.size() > 4 && name.size() < 10 && name.compare(0, 4, "ocl:") == 0 &&
                        name.find_first_not_of("0123456789", 4) == std::string::npos;
  require(
      numbered, "device '", name,
      "' is not a device name; expected 'ocl:N' (N as in clinfo --list, or python -m ocl), 'ocl' or 'cpu'");
  return get(std::stoi(name.substr(4)));
}

std::vector<Device*> Device::opened() {
  OpenDevices& devices = open_devices();
  DeviceLock lock(devices.mutex);
  std::vector<Device*> list;
  for (auto& [index, device] : devices.by_index)
    if (device) list.push_back(device.get());
  return list;
}

void Device::shut_down() {
  if (!lifetime::begin_exit()) return;
  OpenDevices& devices = open_devices();
  static bool others_are_out = false;
  if (!others_are_out) {
    others_are_out = true;
    listing.lock();
    devices.mutex.lock();
    for (auto& [index, device] : devices.by_index) {
      if (!device) continue;
      device->programs_->lock_for_exit();
      device->allocator_->lock_for_exit();
      device->queue_->lock_for_exit();
    }
    PinnedMemory::lock_for_exit();
    SideQueue::lock_for_exit();
  }
  for (Device* device : opened()) {
    try {
      device->synchronize();
      device->programs().store_rest();
    } catch (const Error& e) {
      warn_once(concat("at exit: ", e.what()));
    }
  }
}

namespace {
/** Sets whether devices record their launches from now on, those opened later too. False where it was so. */
bool set_profiling(bool profiling) {
  OpenDevices& devices = open_devices();
  DeviceLock lock(devices.mutex);
  return std::exchange(devices.profiling, profiling) != profiling;
}
}  // namespace

void Device::start_profiling() {
  if (set_profiling(true)) ++module_name_users;
  for (Device* device : opened()) device->queue().start_profiling();
}

std::vector<std::pair<Device*, std::vector<KernelRecord>>> Device::stop_profiling() {
  if (set_profiling(false)) --module_name_users;
  std::vector<std::pair<Device*, std::vector<KernelRecord>>> records;
  for (Device* device : opened()) records.emplace_back(device, device->queue().stop_profiling());
  return records;
}

Device::Device(int index, cl::Device device, bool profiling)
    : index_(index),
      device_(std::move(device)),
      info_(describe(device_)),
      context_(copies::context_of(device_)),
      memory_queue_(context_, device_) {
  allocator_ = wants_direct_allocator() ? make_direct_allocator(*this) : make_caching_allocator(*this);
  programs_ = std::make_unique<ProgramTable>(*this);
  queue_ = std::make_unique<Queue>(*this, profiling);
}

namespace {
/** For a buffer in the host's memory. */
void ask_for_huge_pages(const cl::CommandQueue& queue, const cl::Buffer& buffer, std::size_t bytes) {
  void* memory = queue.enqueueMapBuffer(buffer, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 0, bytes);
  dlprim::ask_for_huge_pages(memory, bytes);
  queue.enqueueUnmapMemObject(buffer, memory);
  queue.finish();
}
}  // namespace

cl::Buffer Device::try_create_buffer(std::size_t bytes) {
  // Drivers take the memory at first use, and what they then cannot take is not refused: PoCL aborts the
  // process. Asked for memory of the host it takes it here; so does NVIDIA's, asked to migrate the buffer.
  const cl_mem_flags host_memory = info_.is_cpu ? CL_MEM_ALLOC_HOST_PTR : 0;
  try {
    cl::Buffer buffer(context_, CL_MEM_READ_WRITE | host_memory, bytes);
    if (info_.is_cpu) {
      if (bytes >= huge_page_bytes) ask_for_huge_pages(memory_queue_, buffer, bytes);
    } else {
      // On a queue of its own, so that it need not wait for the commands so far: a tenth of a millisecond.
      cl::Event taken;
      memory_queue_.enqueueMigrateMemObjects({buffer}, CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED, nullptr,
                                             &taken);
      taken.wait();
    }
    return buffer;
  } catch (const cl::Error&) {
    return {};
  }
}

void Device::synchronize() {
  queue_->finish();
}

std::string error_name(int code) {
#define NAME(code) \
  {                \
    code, #code    \
  }
  static const auto& names = *new std::map<int, const char*>{NAME(CL_DEVICE_NOT_FOUND),
                                                             NAME(CL_DEVICE_NOT_AVAILABLE),
                                                             NAME(CL_COMPILER_NOT_AVAILABLE),
                                                             NAME(CL_MEM_OBJECT_ALLOCATION_FAILURE),
                                                             NAME(CL_OUT_OF_RESOURCES),
                                                             NAME(CL_OUT_OF_HOST_MEMORY),
                                                             NAME(CL_PROFILING_INFO_NOT_AVAILABLE),
                                                             NAME(CL_BUILD_PROGRAM_FAILURE),
                                                             NAME(CL_INVALID_VALUE),
                                                             NAME(CL_INVALID_CONTEXT),
                                                             NAME(CL_INVALID_COMMAND_QUEUE),
                                                             NAME(CL_INVALID_MEM_OBJECT),
                                                             NAME(CL_INVALID_BINARY),
                                                             NAME(CL_INVALID_BUILD_OPTIONS),
                                                             NAME(CL_INVALID_PROGRAM),
                                                             NAME(CL_INVALID_PROGRAM_EXECUTABLE),
                                                             NAME(CL_INVALID_KERNEL_NAME),
                                                             NAME(CL_INVALID_KERNEL),
                                                             NAME(CL_INVALID_ARG_INDEX),
                                                             NAME(CL_INVALID_ARG_VALUE),
                                                             NAME(CL_INVALID_ARG_SIZE),
                                                             NAME(CL_INVALID_KERNEL_ARGS),
                                                             NAME(CL_INVALID_WORK_DIMENSION),
                                                             NAME(CL_INVALID_WORK_GROUP_SIZE),
                                                             NAME(CL_INVALID_WORK_ITEM_SIZE),
                                                             NAME(CL_INVALID_GLOBAL_OFFSET),
                                                             NAME(CL_INVALID_EVENT),
                                                             NAME(CL_INVALID_OPERATION),
                                                             NAME(CL_INVALID_BUFFER_SIZE)};
#undef NAME
  const auto found = names.find(code);
  return concat(found == names.end() ? "OpenCL error" : found->second, " (", code, ")");
}

}  // namespace dlprim
