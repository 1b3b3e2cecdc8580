#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <mutex>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "dlprim/core/call_state.h"
#include "dlprim/core/philox_state.h"
#include "dlprim/core/tensor.h"
#include "dlprim/runtime/capture.h"
#include "dlprim/runtime/copies.h"
#include "dlprim/runtime/error_word.h"
#include "dlprim/runtime/lifetime.h"
#include "dlprim/runtime/mark.h"
#include "dlprim/runtime/opencl.h"
#include "dlprim/runtime/pending.h"
#include "dlprim/runtime/profiler.h"
#include "dlprim/runtime/program.h"
#include "dlprim/runtime/range.h"
#include "dlprim/runtime/transfers.h"

namespace dlprim {

/** Kernel argument: a tensor that may be absent (a null buffer and offset 0). */
struct Optional {
  const Tensor* tensor;
};

/** Kernel argument: local memory of that many bytes. */
struct LocalMemory {
  std::size_t bytes;
};

/**
 * The in-order queue that operators enqueue to: device.queue(), one a device. Every launch, copy and fill of
 * the library goes through one; none of them waits, and a tensor may be dropped as soon as what uses it is
 * enqueued. Under ShapesOnly (core/shapes_only.h) it does nothing, and refuses to read. Thread safe: the
 * arguments of a kernel and its launch are one locked step.
 *
 * A tensor argument becomes two kernel arguments: its buffer and, as ulong, the element its data starts at
 * (`BUFFER(type, name)` in kernels, dlprim/core/common.cl).
 */
class Queue {
 public:
  Queue(Device& device, bool profiling);

  Device& device() const { return device_; }
  const cl::CommandQueue& handle() const { return queue_; }

  /** Kernel of a source file; see ProgramTable::kernel. */
  Kernel& kernel(const char* file, const char* name, const Defines& defines = {});

  /** Enqueues `kernel` over `range`; arguments are tensors, Optional, LocalMemory, DeviceCheck, PhiloxState,
   * numbers or plain structs (or a vector of numbers, which stands for a struct of them). */
  template <class... Args>
  void launch(Kernel& kernel, const Range& range, const Args&... args) {
    launch_arguments(kernel, range, [&](const auto& set) { (set(args), ...); });
  }

  /** Like launch, for kernels whose arguments are not known here: calls `arguments(set)`, and set(value) once
   * for each. */
  template <class Arguments>
  void launch_arguments(Kernel& kernel, const Range& range, const Arguments& arguments) {
    if (!call_state.has_elements) return;
    enqueue_pending();
    DeviceLock lock(mutex_);
    begin_launch();
    cl_uint index = 0;
    arguments([&](const auto& value) { set(kernel, index, value); });
    enqueue(kernel, range);
  }

  /** Enqueues what pends of the calling thread's commands (pending.h). Everything that enqueues, waits or
   * marks a place begins with it. */
  void enqueue_pending() {
    if (pending_count_.load(std::memory_order_acquire) != 0) PendingAccess(*this).enqueue();
  }

  /** Fresh contiguous scratch memory; it may be dropped as soon as the work that uses it is enqueued. */
  Tensor scratch(const Dims& shape, DType dtype = DType::float32) const {
    return Tensor::empty(device_, shape, dtype);
  }

  /** Enqueues an upload of `bytes` to the start of a contiguous tensor. The host memory is free on return;
   * with `non_blocking`, memory that is page-locked for this device (PinnedMemory) must stay as it is until
   * the upload is over, and is kept that long. Large uploads run beside commands that are enqueued
   * (transfers.h). Where device and host share their memory they wait for commands that may still use it,
   * since there is nothing to copy through. */
  void write(const Tensor& destination, const void* source, std::size_t bytes, bool non_blocking = false);
  /** Like write, from memory page-locked for `maker` (the result of read_pieces of its queue), which need not
   * be this queue's device. Does not wait where it is of use here, too: then it stays as it is until the
   * event.
   */
  cl::Event write_locked(const Tensor& destination, const void* source, std::size_t bytes,
                         const Device& maker);
  /** Waits, and downloads a contiguous tensor; other threads may launch meanwhile. Throws what the device
   * reported. */
  void read(const Tensor& source, void* destination, std::size_t bytes);
  /** Like read, but gives the bytes to `consume` piece by piece, in order. It may use other devices. */
  void read_pieces(const Tensor& source, std::size_t bytes, const Transfers::Consume& consume);
  /** Copies `bytes` between contiguous tensors of this device. */
  void copy(const Tensor& source, const Tensor& destination, std::size_t bytes);
  /** Sets every byte of a contiguous tensor to zero. */
  void zero(const Tensor& destination);
  /** Waits for everything enqueued so far; other threads may launch meanwhile. Throws what the device
   * reported. */
  void finish() {
    refuse_in_capture(device_, "the host waits for the device");
    wait_for(mark());
  }
  /** Marks the place after everything enqueued so far, and sends it to the device. */
  Mark mark(bool with_time = false);
  /** Waits until the device reaches the mark, as finish does. */
  void wait_for(const Mark& mark);
  /** Whether the device has reached the mark. Does not wait. */
  bool has_reached(const Mark& mark);

  /** Runs `work`, which enqueues on the given OpenCL queue itself (CLBlast) and uses those tensors, as one
   * step of this queue. It may be kept and run again: it holds what it needs. */
  using ForeignWork = std::function<void(cl_command_queue, cl_event*)>;
  void enqueue_foreign(const char* label, std::initializer_list<const Tensor*> used, const ForeignWork& work);

  /** Enqueues what a graph has kept. See CommandGraph::replay. */
  void replay(const CommandGraph& graph);

  /** Makes what is enqueued from now on come after an upload to that memory that is under way, and if other
   * copies of the library share it after their commands. Kernels do so for their arguments. */
  void await_upload(Storage& storage);
  /** To be called for memory that the next kernel reaches through another's buffer: what a launch does for
   * its arguments. */
  void note_reached(const Tensor& tensor);
  /** The number of commands enqueued so far. */
  std::uint64_t commands() const { return commands_; }
  /** Whether the commands up to that number are known to be over. */
  bool has_passed(std::uint64_t command) const { return command <= passed_; }
  /** The value of copies::Copy::position for this queue. It takes no DeviceLock: whoever asks holds one. */
  cl_event position(std::uint64_t& seen);
  /** Bytes from which on an upload does not take its turn among the commands. */
  static constexpr std::size_t least_transfer_beside = 64 << 10;
  /** Slots of staging memory that transfers have needed so far. */
  std::size_t staging_slots() { return transfers_.staging_slots(); }

  /** Starts recording every launch, or stops and returns what was recorded. Both wait. */
  void start_profiling();
  std::vector<KernelRecord> stop_profiling();

  /** See Device::shut_down. */
  void lock_for_exit() {
    waiting_.lock();
    transfers_.lock_for_exit();
    mutex_.lock();
  }

 private:
  friend class PendingAccess;

  template <class T>
  struct is_vector : std::false_type {};
  template <class T>
  struct is_vector<std::vector<T>> : std::true_type {};

  template <class T>
  void set(Kernel& kernel, cl_uint& index, const T& value) {
    if constexpr (std::is_same_v<T, Tensor>) {
      set_tensor(kernel, index, value);
    } else if constexpr (std::is_same_v<T, Optional>) {
      if (value.tensor) return set_tensor(kernel, index, *value.tensor);
      set_raw(kernel, index, sizeof(cl_mem), nullptr);
      set_value(kernel, index, cl_ulong{0});
    } else if constexpr (std::is_same_v<T, DeviceCheck>) {
      set_check(kernel, index, value);
    } else if constexpr (std::is_same_v<T, PhiloxState>) {
      set_random(kernel, index, value);
    } else if constexpr (std::is_same_v<T, LocalMemory>) {
      set_raw(kernel, index, value.bytes, nullptr);
    } else if constexpr (is_vector<T>::value) {
      set_raw(kernel, index, value.size() * sizeof(value[0]), value.data());  // a struct of equal members
    } else {
      set_value(kernel, index, value);
    }
  }
  template <class T>
  void set_value(Kernel& kernel, cl_uint& index, const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (graph_ || kernel.values.differs(index, sizeof value, &value))
      set_raw(kernel, index, sizeof value, &value);
    else
      ++index;
  }
  /** Where the calling thread's work pends. */
  PendingSlot& pending_slot();
  /** Finds where the launch that begins goes: its arguments are set, or added to a graph. */
  void begin_launch();
  void set_tensor(Kernel& kernel, cl_uint& index, const Tensor& tensor);
  void set_check(Kernel& kernel, cl_uint& index, const DeviceCheck& check);
  void set_random(Kernel& kernel, cl_uint& index, PhiloxState state);
  void set_raw(Kernel& kernel, cl_uint& index, std::size_t bytes, const void* value);
  void enqueue(Kernel& kernel, const Range& range);
  void enqueue_copy(const cl::Buffer& source, const cl::Buffer& destination, std::size_t source_start,
                    std::size_t destination_start, std::size_t bytes);
  void enqueue_zero(const cl::Buffer& buffer, std::size_t start, std::size_t bytes);
  void run_foreign(const char* label, const ForeignWork& work);
  void repeat_launch(const CommandGraph& graph, std::size_t command);
  void count_command();
  void drain();
  cl::Event marker();
  void wait(const cl::Event& event);
  void settle_after(std::uint64_t commands);
  void settle();
  void reopen(bool profiling);

  // Order with transfers. The caller of the first four holds mutex_.
  void come_after_upload(Storage& storage);
  void come_after_copies();
  void come_after_all_uploads();
  void leave_checkpoint();
  std::vector<cl::Event> passing(std::uint64_t command);
  std::vector<cl::Event> users_of(const Storage& storage);
  void note_arriving(Storage& storage, const cl::Event& done);

  static Region region_of(const Tensor& tensor, std::size_t bytes);
  void write_copied(const Tensor& to, const void* source, std::size_t bytes);
  void write_waiting(const Tensor& to, const void* source, std::size_t bytes);
  void write_in_place(const Tensor& to, const void* source, std::size_t bytes);
  bool is_locked_here(const Device& maker) const;
  void write_over_bus(const Tensor& to, const void* source, std::size_t bytes, bool non_blocking);
  std::uint64_t read_in_order(const Tensor& from, void* destination, std::size_t bytes);
  void read_pieces_in_order(const Tensor& from, std::size_t bytes, const Transfers::Consume& consume);

  /** Where the queue stands as a download begins: what it comes after, and how many commands that is. */
  struct Moment {
    std::vector<cl::Event> reached;
    std::uint64_t commands;
  };
  Moment moment_of_reading(const Tensor& source);

  /** Memory of the host that is kept until its upload is over. */
  struct Upload {
    std::vector<char> bytes;
    std::shared_ptr<PinnedMemory> pinned;
    cl::Event done;
  };
  std::vector<Upload> take_finished_uploads();

  struct Checkpoint {
    std::uint64_t commands;
    cl::Event reached;
  };

  Device& device_;
  PendingSlot pending_;
  std::atomic<int> pending_count_{0};  // of this queue and of graphs
  cl::CommandQueue queue_;
  Transfers transfers_;
  std::mutex handle_;   // of replacing queue_; taken under the others
  std::mutex waiting_;  // of the thread that waits for the device; never taken with the other
  std::mutex mutex_;    // of everything below, and of kernels' arguments until they are enqueued
  std::deque<Upload> uploads_;
  std::unordered_map<Storage*, cl::Event> arriving_;  // that no command here comes after yet
  std::deque<Checkpoint> checkpoints_;
  copies::Seen seen_{};
  ErrorWords error_words_;
  Profiler profiler_;
  bool profiling_;
  int commands_since_flush_ = 0;
  CommandGraph* graph_ = nullptr;           // that the launch whose arguments are set goes to
  std::atomic<std::uint64_t> commands_{0};  // so far
  std::atomic<std::uint64_t> passed_{0};    // of them are known to be over
};

}  // namespace dlprim
