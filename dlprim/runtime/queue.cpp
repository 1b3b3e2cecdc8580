#include "dlprim/runtime/queue.h"

#include <algorithm>
#include <cstring>

#include "dlprim/runtime/device.h"

namespace dlprim {
namespace {

// Some drivers (rusticl) start work only at a flush; one every so many commands keeps the device busy.
constexpr int commands_per_flush = 16;

// Bytes. Below the first a copy in ordinary memory costs less than page-locked memory saves. From the second
// on a device that shares the host's memory is given the caller's own, and waited for: one copy instead of
// two.
constexpr std::size_t small_transfer = 64 << 10, waiting_transfer = 8 << 20;
constexpr std::size_t pieces_under_way = 3;  // of a download

bool is_out_of_memory(int code) {
  return code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_HOST_MEMORY;
}

// A memory request of the driver's own at a launch or a copy; the library's come from the allocator.
[[noreturn]] void rethrow(const cl::Error& e, const std::string& what, const Device& device) {
  const std::string text =
      concat(what, " on ", device.name(), " failed: ", e.what(), " ", error_name(e.err()));
  if (is_out_of_memory(e.err())) throw OutOfMemoryError(text, 0);
  throw DeviceError(text);
}

cl_command_queue_properties properties(bool profiling) {
  return profiling ? CL_QUEUE_PROFILING_ENABLE : 0;
}

}  // namespace

Queue::Queue(Device& device, bool profiling)
    : device_(device),
      queue_(device.context(), device.handle(), properties(profiling)),
      staging_(device),
      error_words_(device),
      profiling_(profiling) {}

Kernel& Queue::kernel(const char* file, const char* name, const Defines& defines) {
  return device_.programs().kernel(file, name, defines);
}

void Queue::set_raw(Kernel& kernel, cl_uint& index, std::size_t bytes, const void* value) {
  const cl_int code = clSetKernelArg(kernel.handle(), index, bytes, value);
  if (code != CL_SUCCESS) {
    kernel.values.forget(index);
    throw DeviceError(concat("kernel ", kernel.name, ": argument ", index, " of ", bytes,
                             " bytes refused: ", error_name(code)));
  }
  ++index;
}

void Queue::set_tensor(Kernel& kernel, cl_uint& index, const Tensor& tensor) {
  const Storage& storage = *tensor.storage;
  if (&storage.device() != &device_)
    throw ValueError(concat("kernel ", kernel.name, ": a tensor of ", storage.device().name(),
                            " was given to a queue of ", device_.name()));
  if (const std::uint32_t thread = storage.suspect()) error_words_.follow(thread);
  const cl_mem memory = storage.buffer()();
  set_raw(kernel, index, sizeof memory, memory ? &memory : nullptr);
  const cl_ulong start = storage.byte_offset() / size_of(tensor.dtype) + static_cast<cl_ulong>(tensor.offset);
  set_value(kernel, index, start);
}

void Queue::enqueue(Kernel& kernel, const Range& range) {
  std::size_t global[3];
  for (int i = 0; i < 3; ++i) {
    const std::size_t local = range.local[static_cast<std::size_t>(i)];
    global[i] = (range.global[static_cast<std::size_t>(i)] + local - 1) / local * local;
    if (global[i] == 0) return;
  }
  note_command(kernel.name.c_str());
  cl_event event = nullptr;
  const cl_int code = clEnqueueNDRangeKernel(queue_(), kernel.handle(), 3, nullptr, global,
                                             range.local.data(), 0, nullptr, profiling_ ? &event : nullptr);
  if (code != CL_SUCCESS)
    rethrow(cl::Error(code, "clEnqueueNDRangeKernel"), concat("kernel ", kernel.name), device_);
  if (profiling_) profiler_.record(kernel.name, cl::Event(event));
  device_.programs().note_launch(kernel, range.local);
  count_command();
}

void Queue::count_command() {
  ++commands_;
  if (++commands_since_flush_ < commands_per_flush) return;
  queue_.flush();
  commands_since_flush_ = 0;
}

void Queue::drop_finished_uploads() {
  while (!uploads_.empty() &&
         uploads_.front().done.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>() == CL_COMPLETE)
    uploads_.pop_front();
}

Queue::Region Queue::region_of(const Tensor& tensor) {
  return {tensor.storage->buffer(),
          tensor.storage->byte_offset() + static_cast<std::size_t>(tensor.offset) * size_of(tensor.dtype)};
}

/** Waits without keeping other threads from launching. */
void Queue::wait(const cl::Event& event) {
  DeviceLock lock(waiting_);
  event.wait();
}

void Queue::write(const Tensor& destination, const void* source, std::size_t bytes) {
  if (bytes == 0) return;
  note_command("write");
  const Region to = region_of(destination);
  try {
    if (bytes < small_transfer)
      write_small(to, source, bytes);
    else if (!device_.info().shares_host_memory)
      write_staged(to, static_cast<const char*>(source), bytes);
    else if (bytes < waiting_transfer)
      write_small(to, source, bytes);
    else
      write_waiting(to, source, bytes);
  } catch (const cl::Error& e) {
    rethrow(e, "upload", device_);
  }
}

void Queue::write_small(const Region& to, const void* source, std::size_t bytes) {
  DeviceLock lock(mutex_);
  drop_finished_uploads();
  const auto* first = static_cast<const char*>(source);
  uploads_.push_back({std::vector<char>(first, first + bytes), {}});
  try {
    queue_.enqueueWriteBuffer(to.buffer, CL_FALSE, to.start, bytes, uploads_.back().bytes.data(), nullptr,
                              &uploads_.back().done);
    queue_.flush();
  } catch (const cl::Error&) {
    uploads_.pop_back();
    throw;
  }
}

void Queue::write_staged(const Region& to, const char* source, std::size_t bytes) {
  const auto transfer = staging_.begin();
  for (std::size_t done = 0; done < bytes; done += Staging::slot_bytes) {
    const std::size_t piece = std::min(bytes - done, Staging::slot_bytes);
    Staging::Slot& slot = [&]() -> Staging::Slot& {
      DeviceLock lock(mutex_);
      return staging_.next();
    }();
    if (slot.transfer()) wait(slot.transfer);
    std::memcpy(slot.memory, source + done, piece);
    DeviceLock lock(mutex_);
    queue_.enqueueWriteBuffer(to.buffer, CL_FALSE, to.start + done, piece, slot.memory, nullptr,
                              &slot.transfer);
    queue_.flush();
  }
}

void Queue::write_waiting(const Region& to, const void* source, std::size_t bytes) {
  cl::Event done;
  {
    DeviceLock lock(mutex_);
    queue_.enqueueWriteBuffer(to.buffer, CL_FALSE, to.start, bytes, source, nullptr, &done);
    queue_.flush();
  }
  wait(done);
}

void Queue::read(const Tensor& source, void* destination, std::size_t bytes) {
  const Region from = region_of(source);
  const bool staged = bytes >= small_transfer && !device_.info().shares_host_memory;
  try {
    cl::Event last;
    std::uint64_t commands = 0;
    if (staged) last = read_staged(from, static_cast<char*>(destination), bytes);
    {
      DeviceLock lock(mutex_);
      if (const std::uint32_t thread = source.storage->suspect()) error_words_.follow(thread);
      if (!staged && bytes)
        queue_.enqueueReadBuffer(from.buffer, CL_FALSE, from.start, bytes, destination, nullptr, &last);
      else if (!staged)
        last = marker();  // what is pending is waited for, as for any other read
      queue_.flush();
      commands = ++commands_;
    }
    wait_and_settle(last, commands);
  } catch (const cl::Error& e) {
    rethrow(e, "download", device_);
  }
}

/** The last piece's transfer, which has ended. */
cl::Event Queue::read_staged(const Region& from, char* destination, std::size_t bytes) {
  struct Piece {
    Staging::Slot* slot;
    std::size_t start, bytes;
  };
  const auto transfer = staging_.begin();
  std::deque<Piece> under_way;
  cl::Event last;
  for (std::size_t asked = 0; asked < bytes || !under_way.empty();) {
    if (asked < bytes && under_way.size() < pieces_under_way) {
      DeviceLock lock(mutex_);
      Staging::Slot& slot = staging_.next();
      const std::size_t piece = std::min(bytes - asked, Staging::slot_bytes);
      queue_.enqueueReadBuffer(from.buffer, CL_FALSE, from.start + asked, piece, slot.memory, nullptr,
                               &slot.transfer);
      queue_.flush();
      slot.holds_data = true;
      under_way.push_back({&slot, asked, piece});
      asked += piece;
      continue;
    }
    const Piece piece = under_way.front();
    under_way.pop_front();
    last = piece.slot->transfer;
    wait(last);
    std::memcpy(destination + piece.start, piece.slot->memory, piece.bytes);
    piece.slot->holds_data = false;
  }
  return last;
}

void Queue::copy(const Tensor& source, const Tensor& destination, std::size_t bytes) {
  if (bytes == 0) return;
  note_command("copy");
  DeviceLock lock(mutex_);
  if (const std::uint32_t thread = source.storage->suspect()) error_words_.follow(thread);
  const auto start = [](const Tensor& t) {
    return t.storage->byte_offset() + static_cast<std::size_t>(t.offset) * size_of(t.dtype);
  };
  try {
    cl::Event event;
    queue_.enqueueCopyBuffer(source.storage->buffer(), destination.storage->buffer(), start(source),
                             start(destination), bytes, nullptr, profiling_ ? &event : nullptr);
    if (profiling_) profiler_.record("copy", event);
    count_command();
  } catch (const cl::Error& e) {
    rethrow(e, "copy", device_);
  }
}

void Queue::zero(const Tensor& destination) {
  const std::size_t bytes = static_cast<std::size_t>(destination.numel()) * size_of(destination.dtype);
  if (bytes == 0) return;
  note_command("zero");
  DeviceLock lock(mutex_);
  const std::size_t start = destination.storage->byte_offset() +
                            static_cast<std::size_t>(destination.offset) * size_of(destination.dtype);
  try {
    cl::Event event;
    const auto fill = [&](auto pattern) {
      queue_.enqueueFillBuffer(destination.storage->buffer(), pattern, start, bytes, nullptr,
                               profiling_ ? &event : nullptr);
    };
    // NVIDIA's driver stores one pattern an item.
    if ((start | bytes) % sizeof(cl_uint4) == 0)
      fill(cl_uint4{});
    else if ((start | bytes) % sizeof(cl_uint) == 0)
      fill(cl_uint{});
    else
      fill(cl_uchar{});
    if (profiling_) profiler_.record("zero", event);
    count_command();
  } catch (const cl::Error& e) {
    rethrow(e, "zero", device_);
  }
}

cl::Event Queue::marker() {
  cl::Event event;
  queue_.enqueueMarkerWithWaitList(nullptr, &event);
  return event;
}

// rusticl's clFinish (Mesa 22.3) does not wait for what was flushed before, only for what was not: here the
// marker.
void Queue::drain() {
  marker();
  queue_.finish();
}

void Queue::finish() {
  try {
    cl::Event last;
    std::uint64_t commands = 0;
    {
      DeviceLock lock(mutex_);
      last = marker();
      queue_.flush();
      commands = ++commands_;
    }
    wait_and_settle(last, commands);
  } catch (const cl::Error& e) {
    rethrow(e, "synchronize", device_);
  }
}

/** Waits for the command that was number `commands` without keeping other threads from launching. */
void Queue::wait_and_settle(const cl::Event& last, std::uint64_t commands) {
  wait(last);
  DeviceLock lock(mutex_);
  drop_finished_uploads();
  if (commands == commands_) settle();
  error_words_.raise_failures(queue_);
}

// What there is to do when the device has just come to rest.
void Queue::settle() {
  commands_since_flush_ = 0;
  device_.programs().store_settled();
}

void Queue::reopen(bool profiling) {
  drain();
  queue_ = cl::CommandQueue(device_.context(), device_.handle(), properties(profiling));
  profiling_ = profiling;
}

void Queue::start_profiling() {
  DeviceLock lock(mutex_);
  if (!profiling_) reopen(true);
}

std::vector<KernelRecord> Queue::stop_profiling() {
  DeviceLock lock(mutex_);
  if (!profiling_) return {};
  drain();
  std::vector<KernelRecord> records = profiler_.take();
  reopen(false);
  return records;
}

}  // namespace dlprim
