#include "dlprim/runtime/queue.h"

#include <algorithm>
#include <memory>

#include "dlprim/runtime/command_graph.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/host_copy.h"
#include "dlprim/runtime/pinned_memory.h"

namespace dlprim {
namespace {

// Some drivers (rusticl) start work only at a flush; one every so many commands keeps the device busy.
constexpr int commands_per_flush = 16;

// PoCL compiles a kernel again for that many groups in a dimension.
constexpr std::size_t large_grid = 65535;

// A transfer that waits for memory to be given back, but not for what is enqueued later, waits for the first
// checkpoint after that.
constexpr int commands_per_checkpoint = 2 * commands_per_flush;

// Bytes. Below the first a copy in ordinary memory costs less than another queue or page-locked memory saves.
// From the second on a device that shares the host's memory is given the caller's own and waited for, in use
// or not: one copy instead of two.
constexpr std::size_t small_transfer = Queue::least_transfer_beside, waiting_transfer = 8 << 20;

bool is_over(const cl::Event& event) {
  return event.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>() <= CL_COMPLETE;
}

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

/** When that event comes, from a thread of the driver's. */
std::shared_future<Mark::Clock::time_point> time_of(cl::Event& event) {
  using Promise = std::promise<Mark::Clock::time_point>;
  auto promise = std::make_unique<Promise>();
  std::shared_future<Mark::Clock::time_point> time = promise->get_future().share();
  event.setCallback(
      CL_COMPLETE,
      [](cl_event, cl_int, void* given) {
        std::unique_ptr<Promise>(static_cast<Promise*>(given))->set_value(Mark::Clock::now());
      },
      promise.get());
  promise.release();  // the callback's from here on
  return time;
}

cl_command_queue_properties properties(bool profiling) {
  return profiling ? CL_QUEUE_PROFILING_ENABLE : 0;
}

}  // namespace

Queue::Queue(Device& device, bool profiling)
    : device_(device),
      queue_(device.context(), device.handle(), properties(profiling)),
      transfers_(device),
      error_words_(device),
      profiling_(profiling) {}

Kernel& Queue::kernel(const char* file, const char* name, const Defines& defines) {
  return device_.programs().kernel(file, name, defines);
}

PendingSlot& Queue::pending_slot() {
  CommandGraph* const graph = capturing(device_);
  return graph ? graph->pending_ : pending_;
}

void Queue::begin_launch() {
  graph_ = capturing(device_);
  if (graph_) graph_->begin_launch();
}

void Queue::set_raw(Kernel& kernel, cl_uint& index, std::size_t bytes, const void* value) {
  if (graph_) return graph_->add_bytes(bytes, value);
  const cl_int code = clSetKernelArg(kernel.handle(), index, bytes, value);
  if (code != CL_SUCCESS) {
    kernel.values.forget(index);
    throw DeviceError(concat("kernel ", kernel.name, ": argument ", index, " of ", bytes,
                             " bytes refused: ", error_name(code)));
  }
  ++index;
}

void Queue::set_tensor(Kernel& kernel, cl_uint& index, const Tensor& tensor) {
  Storage& storage = *tensor.storage;
  if (&storage.device() != &device_)
    throw ValueError(concat("kernel ", kernel.name, ": a tensor of ", storage.device().name(),
                            " was given to a queue of ", device_.name()));
  if (graph_) return graph_->add_memory(tensor);
  if (const Suspicion whom = storage.suspect()) error_words_.follow(whom);
  come_after_upload(storage);
  const cl_mem memory = storage.buffer()();
  set_raw(kernel, index, sizeof memory, memory ? &memory : nullptr);
  const cl_ulong start = storage.byte_offset() / size_of(tensor.dtype) + static_cast<cl_ulong>(tensor.offset);
  set_value(kernel, index, start);
}

void Queue::set_check(Kernel& kernel, cl_uint& index, const DeviceCheck& check) {
  if (graph_) return graph_->add_check(check);
  const cl_mem word = error_words_.use(check, queue_)();
  set_raw(kernel, index, sizeof word, &word);
  set_value(kernel, index, check.code);
}

void Queue::set_random(Kernel& kernel, cl_uint& index, PhiloxState state) {
  if (graph_) return graph_->add_random(state);
  CommandGraph::require_known(state);
  set_value(kernel, index, cl_ulong{state.seed});
  set_value(kernel, index, cl_ulong{state.offset});
}

void Queue::enqueue(Kernel& kernel, const Range& range) {
  std::size_t global[3];
  LaunchShape shape{range.local, true};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t local = range.local[i], groups = (range.global[i] + local - 1) / local;
    if (groups == 0) return;
    global[i] = groups * local;
    shape.small_grid = shape.small_grid && groups < large_grid;
  }
  if (graph_) return graph_->add_launch(kernel, range);
  note_command(kernel.name.c_str());
  cl_event event = nullptr;
  const auto expect_success = [&](cl_int code, const char* call) {
    if (code != CL_SUCCESS) rethrow(cl::Error(code, call), concat("kernel ", kernel.name), device_);
  };
  expect_success(clEnqueueNDRangeKernel(queue_(), kernel.handle(), 3, nullptr, global, range.local.data(), 0,
                                        nullptr, profiling_ ? &event : nullptr),
                 "clEnqueueNDRangeKernel");
  if (profiling_) profiler_.record(kernel.name, cl::Event(event));
  count_command();
  // PoCL compiles in a thread of its own, which starts the linker with the process's environment. Were the
  // caller to set a variable meanwhile, that environment would move, the linker not start, and PoCL abort the
  // process.
  if (device_.programs().compiles_in(shape, kernel)) expect_success(clFinish(queue_()), "clFinish");
}

void Queue::count_command() {
  ++commands_;
  if (commands_ % commands_per_checkpoint == 0) leave_checkpoint();
  if (++commands_since_flush_ < commands_per_flush) return;
  queue_.flush();
  commands_since_flush_ = 0;
}

void Queue::come_after_upload(Storage& storage) {
  if (storage.is_shared()) come_after_copies();
  if (!storage.is_arriving()) return;
  const auto found = arriving_.find(&storage);
  try {
    const std::vector<cl::Event> uploaded{found->second};
    queue_.enqueueBarrierWithWaitList(&uploaded);
  } catch (const cl::Error& e) {
    rethrow(e, "upload", device_);
  }
  arriving_.erase(found);
  storage.set_arriving(false);
}

void Queue::come_after_copies() {
  try {
    const std::vector<cl::Event> positions = copies::positions(device_.handle(), seen_);
    if (positions.empty()) return;
    // Not every implementation for CPUs lets one queue wait for another.
    if (device_.info().shares_host_memory) {
      cl::Event::waitForEvents(positions);
      return;
    }
    queue_.enqueueBarrierWithWaitList(&positions);
    count_command();
  } catch (const cl::Error& e) {
    rethrow(e, "commands of another library on shared memory", device_);
  }
}

cl_event Queue::position(std::uint64_t& seen) {
  const std::lock_guard lock(handle_);
  const std::uint64_t now = commands_;
  cl_event event = nullptr;
  if (now == seen || clEnqueueMarkerWithWaitList(queue_(), 0, nullptr, &event) != CL_SUCCESS) return nullptr;
  seen = now;
  clFlush(queue_());
  return event;
}

void Queue::come_after_all_uploads() {
  while (!arriving_.empty()) come_after_upload(*arriving_.begin()->first);
}

void Queue::note_reached(const Tensor& tensor) {
  enqueue_pending();
  if (CommandGraph* graph = capturing(device_)) {
    DeviceLock lock(mutex_);
    return graph->keep(*tensor.storage, tensor.storage);
  }
  await_upload(*tensor.storage);
}

void Queue::await_upload(Storage& storage) {
  if (!storage.is_arriving() && !storage.is_shared()) return;
  DeviceLock lock(mutex_);
  come_after_upload(storage);
}

void Queue::note_arriving(Storage& storage, const cl::Event& done) {
  DeviceLock lock(mutex_);
  arriving_[&storage] = done;
  storage.set_arriving(true);
  if (!storage.is_shared()) return;
  come_after_upload(storage);  // for the others see this queue alone
  count_command();
}

void Queue::leave_checkpoint() {
  for (; !checkpoints_.empty() && is_over(checkpoints_.front().reached); checkpoints_.pop_front())
    passed_ = checkpoints_.front().commands;
  checkpoints_.push_back({commands_, marker()});
}

/** The event, flushed, after which all commands up to that number are over; none where they are. */
std::vector<cl::Event> Queue::passing(std::uint64_t command) {
  if (has_passed(command)) return {};
  auto found = checkpoints_.begin();
  while (found != checkpoints_.end() && found->commands < command) ++found;
  if (found == checkpoints_.end()) {
    leave_checkpoint();
    found = checkpoints_.end() - 1;
  }
  queue_.flush();
  return {found->reached};
}

std::vector<cl::Event> Queue::users_of(const Storage& storage) {
  DeviceLock lock(mutex_);
  if (storage.is_shared()) come_after_copies();
  return passing(storage.is_untouched() ? storage.last_use() : commands_.load());
}

std::vector<Queue::Upload> Queue::take_finished_uploads() {
  std::vector<Upload> finished;
  while (!uploads_.empty() && is_over(uploads_.front().done)) {
    finished.push_back(std::move(uploads_.front()));
    uploads_.pop_front();
  }
  return finished;
}

Region Queue::region_of(const Tensor& tensor, std::size_t bytes) {
  return {tensor.storage->buffer_for_transfer(),
          tensor.storage->byte_offset() + static_cast<std::size_t>(tensor.offset) * size_of(tensor.dtype),
          bytes};
}

/** Waits without keeping other threads from launching. */
void Queue::wait(const cl::Event& event) {
  DeviceLock lock(waiting_);
  event.wait();
}

void Queue::write(const Tensor& destination, const void* source, std::size_t bytes, bool non_blocking) {
  if (bytes == 0 || !call_state.has_elements) return;
  refuse_in_capture(device_, "the host's memory was copied to the device");
  enqueue_pending();
  note_command("write");
  try {
    if (bytes < small_transfer)
      write_copied(destination, source, bytes);
    else if (!device_.info().shares_host_memory)
      write_over_bus(destination, source, bytes, non_blocking);
    else if (destination.storage->is_untouched())
      write_in_place(destination, source, bytes);
    else if (bytes < waiting_transfer)
      write_copied(destination, source, bytes);
    else
      write_waiting(destination, source, bytes);
  } catch (const cl::Error& e) {
    rethrow(e, "upload", device_);
  }
}

/** In its turn on this queue, from a copy. */
void Queue::write_copied(const Tensor& to, const void* source, std::size_t bytes) {
  std::vector<Upload> finished;  // goes after the lock does
  DeviceLock lock(mutex_);
  finished = take_finished_uploads();
  come_after_upload(*to.storage);
  const auto* first = static_cast<const char*>(source);
  uploads_.push_back({std::vector<char>(first, first + bytes), {}, {}});
  try {
    queue_.enqueueWriteBuffer(to.storage->buffer(), CL_FALSE, region_of(to, bytes).start, bytes,
                              uploads_.back().bytes.data(), nullptr, &uploads_.back().done);
  } catch (const cl::Error&) {
    uploads_.pop_back();
    throw;
  }
  count_command();
  queue_.flush();
}

/** In its turn on this queue, from the caller's memory. */
void Queue::write_waiting(const Tensor& to, const void* source, std::size_t bytes) {
  cl::Event done;
  {
    DeviceLock lock(mutex_);
    come_after_upload(*to.storage);
    queue_.enqueueWriteBuffer(to.storage->buffer(), CL_FALSE, region_of(to, bytes).start, bytes, source,
                              nullptr, &done);
    count_command();
    queue_.flush();
  }
  wait(done);
}

/** From the caller's memory as soon as nothing uses the device's, whatever is enqueued. Events are waited for
 * here: not every implementation for CPUs lets one queue wait for another. */
void Queue::write_in_place(const Tensor& to, const void* source, std::size_t bytes) {
  for (const cl::Event& free : users_of(*to.storage)) wait(free);
  transfers_.wait_for_upload(transfers_.upload_directly(region_of(to, bytes), source, {}));
}

void Queue::write_over_bus(const Tensor& to, const void* source, std::size_t bytes, bool non_blocking) {
  Storage& storage = *to.storage;
  const Region region = region_of(to, bytes);
  const std::vector<cl::Event> after = users_of(storage);
  const std::shared_ptr<PinnedMemory> pinned = PinnedMemory::around(source, bytes);
  if (!pinned || !is_locked_here(pinned->device()))
    return transfers_.upload(region, static_cast<const char*>(source), after,
                             [&](const cl::Event& piece) { note_arriving(storage, piece); });
  const cl::Event done = transfers_.upload_directly(region, source, after);
  note_arriving(storage, done);
  if (!non_blocking) return transfers_.wait_for_upload(done);
  std::vector<Upload> finished;  // goes after the lock does
  DeviceLock lock(mutex_);
  finished = take_finished_uploads();
  uploads_.push_back({{}, pinned, done});
}

bool Queue::is_locked_here(const Device& maker) const {
  return &maker == &device_ || (maker.info().shares_page_locks && device_.info().shares_page_locks);
}

cl::Event Queue::write_locked(const Tensor& destination, const void* source, std::size_t bytes,
                              const Device& maker) {
  if (bytes < small_transfer || device_.info().shares_host_memory || !is_locked_here(maker)) {
    write(destination, source, bytes);
    return {};
  }
  refuse_in_capture(device_, "the host's memory was copied to the device");
  enqueue_pending();
  note_command("write");
  try {
    Storage& storage = *destination.storage;
    const cl::Event done =
        transfers_.upload_directly(region_of(destination, bytes), source, users_of(storage));
    note_arriving(storage, done);
    return done;
  } catch (const cl::Error& e) {
    rethrow(e, "upload", device_);
  }
}

namespace {

void refuse_without_elements() {
  if (!call_state.has_elements) throw_no_elements("elements were asked for");
}

}  // namespace

void Queue::read(const Tensor& source, void* destination, std::size_t bytes) {
  refuse_without_elements();
  refuse_in_capture(device_, "the device's memory was read by the host");
  enqueue_pending();
  note_reading();
  try {
    if (bytes < small_transfer || device_.info().shares_host_memory)
      return settle_after(read_in_order(source, destination, bytes));
    const auto pinned = PinnedMemory::around(destination, bytes);
    if (!pinned || !is_locked_here(pinned->device()))
      return read_pieces(source, bytes, [&](std::size_t start, const void* piece, std::size_t count) {
        HostCopier::shared().copy(static_cast<char*>(destination) + start, piece, count);
        return cl::Event();
      });
    const Moment moment = moment_of_reading(source);
    transfers_.download_directly(region_of(source, bytes), destination, moment.reached);
    settle_after(moment.commands);
  } catch (const cl::Error& e) {
    rethrow(e, "download", device_);
  }
}

void Queue::read_pieces(const Tensor& source, std::size_t bytes, const Transfers::Consume& consume) {
  refuse_without_elements();
  if (bytes == 0) return;
  refuse_in_capture(device_, "the device's memory was read by the host");
  enqueue_pending();
  note_reading();
  try {
    if (device_.info().shares_host_memory) return read_pieces_in_order(source, bytes, consume);
    const Moment moment = moment_of_reading(source);
    transfers_.download(region_of(source, bytes), moment.reached, consume);
    settle_after(moment.commands);
  } catch (const cl::Error& e) {
    rethrow(e, "download", device_);
  }
}

Queue::Moment Queue::moment_of_reading(const Tensor& source) {
  DeviceLock lock(mutex_);
  if (const Suspicion whom = source.storage->suspect()) error_words_.follow(whom);
  come_after_upload(*source.storage);
  const std::vector<cl::Event> reached{marker()};
  queue_.flush();
  return {reached, ++commands_};
}

/** In its turn on this queue. The number of the last command that was waited for. */
std::uint64_t Queue::read_in_order(const Tensor& from, void* destination, std::size_t bytes) {
  cl::Event last;
  std::uint64_t commands = 0;
  {
    DeviceLock lock(mutex_);
    if (const Suspicion whom = from.storage->suspect()) error_words_.follow(whom);
    come_after_upload(*from.storage);
    if (bytes)
      queue_.enqueueReadBuffer(from.storage->buffer(), CL_FALSE, region_of(from, bytes).start, bytes,
                               destination, nullptr, &last);
    else
      last = marker();  // what is pending is waited for, as for any other read
    queue_.flush();
    commands = ++commands_;
  }
  wait(last);
  return commands;
}

/** Not by mapping: while a part of a buffer is mapped, no command may write to another, which may be another
 * tensor. */
void Queue::read_pieces_in_order(const Tensor& from, std::size_t bytes, const Transfers::Consume& consume) {
  const std::unique_ptr<char[]> memory(new char[std::min(bytes, Staging::slot_bytes)]);
  Tensor part = from;
  std::uint64_t commands = 0;
  for (std::size_t start = 0; start < bytes; start += Staging::slot_bytes) {
    const std::size_t piece = std::min(bytes - start, Staging::slot_bytes);
    part.offset = from.offset + static_cast<std::int64_t>(start / size_of(from.dtype));
    commands = read_in_order(part, memory.get(), piece);
    consume(start, memory.get(), piece);
  }
  settle_after(commands);
}

void Queue::copy(const Tensor& source, const Tensor& destination, std::size_t bytes) {
  if (bytes == 0 || !call_state.has_elements) return;
  enqueue_pending();
  DeviceLock lock(mutex_);
  const cl::Buffer &from = source.storage->buffer(), &to = destination.storage->buffer();
  const std::size_t start = region_of(source, bytes).start, end = region_of(destination, bytes).start;
  if (CommandGraph* graph = capturing(device_)) {
    for (const Tensor* t : {&source, &destination}) graph->keep(*t->storage, t->storage);
    return graph->add(CommandGraph::Copy{from, to, start, end, bytes});
  }
  if (const Suspicion whom = source.storage->suspect()) error_words_.follow(whom);
  for (const Tensor* t : {&source, &destination}) come_after_upload(*t->storage);
  enqueue_copy(from, to, start, end, bytes);
}

void Queue::enqueue_copy(const cl::Buffer& source, const cl::Buffer& destination, std::size_t source_start,
                         std::size_t destination_start, std::size_t bytes) {
  note_command("copy");
  try {
    cl::Event event;
    queue_.enqueueCopyBuffer(source, destination, source_start, destination_start, bytes, nullptr,
                             profiling_ ? &event : nullptr);
    if (profiling_) profiler_.record("copy", event);
    count_command();
  } catch (const cl::Error& e) {
    rethrow(e, "copy", device_);
  }
}

void Queue::zero(const Tensor& destination) {
  const std::size_t bytes = static_cast<std::size_t>(destination.numel()) * size_of(destination.dtype);
  if (bytes == 0 || !call_state.has_elements) return;
  enqueue_pending();
  DeviceLock lock(mutex_);
  Storage& storage = *destination.storage;
  const std::size_t start = region_of(destination, bytes).start;
  if (CommandGraph* graph = capturing(device_)) {
    graph->keep(storage, destination.storage);
    return graph->add(CommandGraph::Zero{storage.buffer(), start, bytes});
  }
  come_after_upload(storage);
  enqueue_zero(storage.buffer(), start, bytes);
}

void Queue::enqueue_zero(const cl::Buffer& buffer, std::size_t start, std::size_t bytes) {
  note_command("zero");
  try {
    cl::Event event;
    const auto fill = [&](auto pattern) {
      queue_.enqueueFillBuffer(buffer, pattern, start, bytes, nullptr, profiling_ ? &event : nullptr);
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

void Queue::enqueue_foreign(const char* label, std::initializer_list<const Tensor*> used,
                            const ForeignWork& work) {
  if (!call_state.has_elements) return;
  enqueue_pending();
  DeviceLock lock(mutex_);
  if (CommandGraph* graph = capturing(device_)) {
    for (const Tensor* tensor : used) graph->keep(*tensor->storage, tensor->storage);
    return graph->add(CommandGraph::Foreign{label, work});
  }
  for (const Tensor* tensor : used) come_after_upload(*tensor->storage);
  run_foreign(label, work);
}

void Queue::run_foreign(const char* label, const ForeignWork& work) {
  note_command(label);
  cl::Event event;
  work(queue_(), profiling_ ? &event() : nullptr);
  if (profiling_) profiler_.record(label, event);
  count_command();
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

Mark Queue::mark(bool with_time) {
  enqueue_pending();
  try {
    Mark mark;
    const DeviceLock lock(mutex_);
    come_after_all_uploads();
    mark.reached = marker();
    if (with_time) mark.time = time_of(mark.reached);
    queue_.flush();
    mark.commands = ++commands_;
    return mark;
  } catch (const cl::Error& e) {
    rethrow(e, "synchronize", device_);
  }
}

void Queue::wait_for(const Mark& mark) {
  try {
    wait(mark.reached);
    settle_after(mark.commands);
  } catch (const cl::Error& e) {
    rethrow(e, "synchronize", device_);
  }
}

bool Queue::has_reached(const Mark& mark) {
  const DeviceLock lock(mutex_);
  return is_over(mark.reached);
}

/** To be called when the command of that number is over. */
void Queue::settle_after(std::uint64_t commands) {
  std::vector<Upload> finished;  // goes after the lock does
  DeviceLock lock(mutex_);
  finished = take_finished_uploads();
  passed_ = std::max<std::uint64_t>(passed_, commands);
  if (commands == commands_) settle();
  error_words_.raise_failures(queue_);
}

// The work that is due when the device has just come to rest.
void Queue::settle() {
  commands_since_flush_ = 0;
  checkpoints_.clear();
  device_.programs().store_some();
}

void Queue::reopen(bool profiling) {
  drain();
  checkpoints_.clear();
  passed_ = commands_.load();
  const std::lock_guard lock(handle_);
  queue_ = cl::CommandQueue(device_.context(), device_.handle(), properties(profiling));
  profiling_ = profiling;
}

void Queue::start_profiling() {
  enqueue_pending();
  DeviceLock lock(mutex_);
  if (!profiling_) reopen(true);
}

std::vector<KernelRecord> Queue::stop_profiling() {
  enqueue_pending();
  DeviceLock lock(mutex_);
  if (!profiling_) return {};
  drain();
  std::vector<KernelRecord> records = profiler_.take();
  reopen(false);
  return records;
}

}  // namespace dlprim
