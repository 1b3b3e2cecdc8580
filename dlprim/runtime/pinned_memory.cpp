#include "dlprim/runtime/pinned_memory.h"

#include <map>
#include <vector>

#include "dlprim/core/error.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/lifetime.h"

namespace dlprim {

MappedBuffer MappedBuffer::create(const Device& device, std::size_t bytes) {
  MappedBuffer made;
  made.buffer = cl::Buffer(device.context(), CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes);
  const cl::CommandQueue mapping(device.context(), device.handle());  // one with nothing to wait for
  made.memory = mapping.enqueueMapBuffer(made.buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes);
  return made;
}

void MappedBuffer::unmap(const Device& device) {
  try {
    const cl::CommandQueue mapping(device.context(), device.handle());
    mapping.enqueueUnmapMemObject(buffer, memory);
    mapping.finish();
  } catch (const cl::Error& e) {
    warn_once(concat("page-locked memory of ", device.name(), " is not given back: ", e.what()));
  }
}

namespace {

constexpr std::size_t least_bytes = 64 << 10, most_cached_bytes = std::size_t{256} << 20;

// Powers of two, so that batches of nearly one size take one another's place.
std::size_t rounded(std::size_t bytes) {
  std::size_t size = least_bytes;
  while (size < bytes) size *= 2;
  return size;
}

/** All that there is, by address, and what waits for its next use. */
struct PinnedPool {
  std::mutex mutex;
  std::map<const char*, std::weak_ptr<PinnedMemory>> in_use;
  std::vector<std::unique_ptr<PinnedMemory>> free;
  std::size_t free_bytes = 0;
};

// Never destroyed: arrays may outlive main().
PinnedPool& pool() {
  static auto* pool = new PinnedPool;
  return *pool;
}

}  // namespace

std::shared_ptr<PinnedMemory> PinnedMemory::allocate(Device& device, std::size_t bytes) {
  if (bytes > PTRDIFF_MAX / 2)
    throw OutOfMemoryError(concat("no page-locked memory of ", bytes, " bytes"), bytes);
  const std::size_t size = rounded(bytes);
  PinnedPool& all = pool();
  DeviceLock lock(all.mutex);
  std::unique_ptr<PinnedMemory> memory;
  for (auto& kept : all.free) {
    if (&kept->device_ != &device || kept->bytes_ != size) continue;
    memory = std::move(kept);
    kept = std::move(all.free.back());
    all.free.pop_back();
    all.free_bytes -= size;
    break;
  }
  try {
    if (!memory) memory = std::make_unique<PinnedMemory>(device, MappedBuffer::create(device, size), size);
  } catch (const cl::Error& e) {
    throw OutOfMemoryError(concat("no page-locked memory of ", size, " bytes for ", device.name(), ": ",
                                  e.what(), " ", error_name(e.err())),
                           size);
  }
  const auto* start = static_cast<const char*>(memory->data());
  std::shared_ptr<PinnedMemory> shared(memory.release(), &recycle);
  all.in_use[start] = shared;
  return shared;
}

std::shared_ptr<PinnedMemory> PinnedMemory::around(const void* start, std::size_t bytes) {
  const auto* first = static_cast<const char*>(start);
  PinnedPool& all = pool();
  std::shared_ptr<PinnedMemory> memory;  // goes after the lock does: it may be the last handle
  DeviceLock lock(all.mutex);
  auto found = all.in_use.upper_bound(first);
  if (found == all.in_use.begin()) return nullptr;
  --found;
  memory = found->second.lock();
  if (!memory || first + bytes > found->first + memory->bytes()) return nullptr;
  return memory;
}

void PinnedMemory::recycle(PinnedMemory* memory) {
  if (lifetime::is_forked()) return;  // not given back: OpenCL's locks may be held for ever
  PinnedPool& all = pool();
  std::unique_ptr<PinnedMemory> given(memory);
  DeviceLock lock(all.mutex);
  all.in_use.erase(static_cast<const char*>(given->data()));
  if (all.free_bytes + given->bytes() > most_cached_bytes) {
    given.reset();
    return;
  }
  all.free_bytes += given->bytes();
  all.free.push_back(std::move(given));
}

void PinnedMemory::empty_cache() {
  PinnedPool& all = pool();
  DeviceLock lock(all.mutex);
  all.free.clear();
  all.free_bytes = 0;
}

void PinnedMemory::lock_for_exit() {
  pool().mutex.lock();
}

}  // namespace dlprim
