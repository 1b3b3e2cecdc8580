#include "dlprim/runtime/side_queue.h"

#include <algorithm>

#include "dlprim/core/error.h"
#include "dlprim/core/tensor.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/lifetime.h"

namespace dlprim {
namespace {

/** Those that there are, never destroyed: threads may end after main(). */
struct SideQueues {
  std::mutex mutex;
  std::vector<std::mutex*> locks;
};

SideQueues& side_queues() {
  static auto* queues = new SideQueues;
  return *queues;
}

}  // namespace

Region region_of(const Tensor& contiguous) {
  const std::size_t bytes = size_of(contiguous.dtype);
  return {contiguous.storage->buffer_for_transfer(),
          contiguous.storage->byte_offset() + static_cast<std::size_t>(contiguous.offset) * bytes,
          static_cast<std::size_t>(contiguous.numel()) * bytes};
}

SideQueue::SideQueue(const Device& device) : device_(device), queue_(device.context(), device.handle()) {
  SideQueues& all = side_queues();
  const DeviceLock lock(all.mutex);
  all.locks.push_back(&mutex_);
}

SideQueue::~SideQueue() {
  if (lifetime::is_forked()) return;
  {
    SideQueues& all = side_queues();
    const DeviceLock lock(all.mutex);
    all.locks.erase(std::remove(all.locks.begin(), all.locks.end(), &mutex_), all.locks.end());
  }
  const DeviceLock lock(mutex_);
  for (MappedBuffer& mapped : locked_) mapped.unmap(device_);
  locked_.clear();
}

cl::Event SideQueue::read(const Region& from, void* to) {
  cl::Event done;
  if (from.bytes == 0) return done;
  const DeviceLock lock(mutex_);
  queue_.enqueueReadBuffer(from.buffer, CL_FALSE, from.start, from.bytes, to, nullptr, &done);
  queue_.flush();
  return done;
}

cl::Event SideQueue::write(const Region& to, const void* from) {
  cl::Event done;
  if (to.bytes == 0) return done;
  const DeviceLock lock(mutex_);
  queue_.enqueueWriteBuffer(to.buffer, CL_FALSE, to.start, to.bytes, from, nullptr, &done);
  queue_.flush();
  return done;
}

void SideQueue::wait(const cl::Event& event) {
  if (!event()) return;
  const DeviceLock lock(mutex_);
  event.wait();
}

void SideQueue::lock_pages(void* memory, std::size_t bytes) {
  const DeviceLock lock(mutex_);
  MappedBuffer mapped;
  try {
    mapped.buffer = cl::Buffer(device_.context(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, memory);
    mapped.memory = queue_.enqueueMapBuffer(mapped.buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes);
  } catch (const cl::Error& e) {
    warn_once(concat("memory that processes share is not page-locked for ", device_.name(), ": ", e.what()));
    return;
  }
  locked_.push_back(std::move(mapped));
}

void SideQueue::lock_for_exit() {
  SideQueues& all = side_queues();
  all.mutex.lock();
  for (std::mutex* lock : all.locks) lock->lock();
}

}  // namespace dlprim
