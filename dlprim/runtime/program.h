#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "dlprim/core/call_state.h"
#include "dlprim/runtime/defines.h"
#include "dlprim/runtime/lifetime.h"
#include "dlprim/runtime/opencl.h"

namespace dlprim {

class Device;

/** A built program and the launch variants (kernel and work-group size) whose machine code its cached binary
 * has. */
struct Program {
  cl::Program handle;
  std::string label;  // file or operator, for people
  std::string key;    // in the kernel cache
  std::set<std::string> stored_variants, launched_variants;
  bool from_cache = false;
};

/** A kernel's arguments that are plain values, as they were set last: setting one costs a driver more than
 * comparing it. */
class SetValues {
 public:
  /** Notes a value; false where the argument has it already. */
  bool differs(unsigned index, std::size_t bytes, const void* value) {
    if (index >= count || bytes > size) return true;
    Value& last = values_[index];
    if (last.bytes == bytes && std::memcmp(last.data.data(), value, bytes) == 0) return false;
    last.bytes = bytes;
    std::memcpy(last.data.data(), value, bytes);
    return true;
  }
  void forget(unsigned index) {
    if (index < count) values_[index].bytes = 0;
  }

 private:
  static constexpr std::size_t count = 24, size = 8;
  struct Value {
    std::size_t bytes = 0;
    std::array<unsigned char, size> data{};
  };
  std::array<Value, count> values_{};
};

/** The variant that PoCL makes machine code for: the work group, and whether every dimension has few groups.
 */
struct LaunchShape {
  std::array<std::size_t, 3> local{};
  bool small_grid = true;

  bool operator==(const LaunchShape& other) const {
    return local == other.local && small_grid == other.small_grid;
  }
};

/** One kernel, ready to launch; owned by the device's program table. */
struct Kernel {
  cl::Kernel handle;
  std::string name;
  Program* program = nullptr;
  LaunchShape last_shape;  // spares a set look-up per launch
  SetValues values;        // guarded by the queue's lock
};

/** Remembers a kernel for each of the first devices, so that it is looked up once. */
class KernelHandle {
 public:
  /** The kernel of that device, which `find()` looks up the first time. */
  template <class Find>
  Kernel& get(int device_index, const Find& find) {
    if (device_index >= most_devices || !call_state.has_elements) return find();
    std::atomic<Kernel*>& known = kernels_[static_cast<std::size_t>(device_index)];
    Kernel* kernel = known.load(std::memory_order_acquire);
    if (!kernel) known.store(kernel = &find(), std::memory_order_release);
    return *kernel;
  }

 private:
  static constexpr int most_devices = 4;
  std::array<std::atomic<Kernel*>, most_devices> kernels_{};
};

/**
 * Every program of one device, built on first use through the on-disk kernel cache. The one way from kernel
 * source to a kernel. Thread safe; a program is built once however many threads ask for it, and those that
 * ask for kernels that are there do not wait for it.
 */
class ProgramTable {
 public:
  explicit ProgramTable(Device& device) : device_(device) {}

  /** Kernel `name` of the source file `file` (its path below dlprim/), built with `defines`. Throws
   * KernelBuildError. Finding one that is there makes no text: operators ask at every launch. */
  Kernel& kernel(const char* file, const char* name, const Defines& defines = {});

  /** Kernel `name` of a generated source. `identity` names the source uniquely; `source` is asked for only to
   * build. */
  Kernel& generated_kernel(const std::string& identity, const char* name, const char* options,
                           const std::function<std::string()>& source);

  /** Whether the device compiles a kernel when it is launched in that shape. Called once at each launch, with
   * the launch lock held: it notes the shape for `store_some()`. */
  bool compiles_in(const LaunchShape& shape, Kernel& kernel);

  /**
   * Writes the binaries of programs with new launch variants to the kernel cache. Called at waiting points,
   * when the launches are done: PoCL makes machine code at a kernel's first launch, and a binary taken
   * earlier would lack it.
   *
   * For a binary PoCL compiles all kernels of the program once more, which took ten of the eighteen seconds
   * before the first result. So this writes one at most, none until no kernel was new for half a minute, and
   * takes a twentieth of the time.
   */
  void store_some();

  /**
   * Writes what is left, at the process's end: for a second, or a tenth of the time since the first kernel.
   * All of it takes longer than a short program. Later processes build the others from source, which takes
   * milliseconds where PoCL keeps its machine code on disk too, and write them.
   */
  void store_rest();

  /** Programs in this process, built or loaded. */
  std::size_t count() const;

  /** See Device::shut_down. */
  void lock_for_exit() {
    building_.lock();
    mutex_.lock();
  }

 private:
  enum class Origin { cache_or_source, source };

  /** The request for a kernel of a file. */
  struct FileKernel {
    std::string file, name;
    Defines defines;
    Kernel* kernel;
  };

  static std::size_t hash_of(const char* file, const char* name, const Defines& defines);
  Kernel* known(std::size_t hash, const char* file, const char* name, const Defines& defines) const;
  Program& program(const std::string& identity, const std::string& label, const std::string& options,
                   const std::function<std::string()>& source, Origin origin);
  Kernel& lookup(std::string id, const char* name, const std::function<Program&(Origin)>& make_program);
  void load(Program& program, const std::string& options);
  void build(Program& program, const std::string& source, const std::string& options);
  void patch(Program& program, const std::string& options);
  void store_one();

  Device& device_;
  std::mutex building_;       // held while a program is built; taken before mutex_, never after
  mutable std::mutex mutex_;  // of the three tables, whose entries stay where they are
  std::unordered_map<std::string, Program> programs_;
  std::unordered_map<std::string, Kernel> kernels_;
  std::unordered_multimap<std::size_t, FileKernel> file_kernels_;  // those of kernels_, by hash_of
  // Programs whose binaries in the cache, if any, lack launch variants.
  std::set<Program*> unstored_;
  std::mutex unstored_mutex_;
  std::chrono::steady_clock::time_point first_compiled_, last_compiled_;
  std::chrono::steady_clock::duration storing_{};  // how long that has taken
};

/** The text of a kernel file with its `#include "file"` lines replaced by those files' text, each once. */
std::string expanded_source(const std::string& file);

}  // namespace dlprim
