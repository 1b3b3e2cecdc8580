#include "dlprim/runtime/host_copy.h"

#include <algorithm>
#include <cstring>
#include <thread>

#include "dlprim/platform/interrupts.h"

namespace dlprim {
namespace {

// A helper wakes in about the time that a copy of the first takes.
constexpr std::size_t least_shared_copy = 1 << 20, chunk = 256 << 10;

}  // namespace

HostCopier& HostCopier::shared() {
  // Four threads fill a bus of 50 GB/s; a machine of few cores has other work for them.
  static auto* copier =
      new HostCopier(std::clamp(static_cast<int>(std::thread::hardware_concurrency()) / 4, 1, 4) - 1);
  return *copier;
}

void HostCopier::copy(void* to, const void* from, std::size_t bytes) {
  std::unique_lock<std::mutex> this_job(one_job_, std::defer_lock);
  if (helpers_ == 0 || bytes < least_shared_copy || !this_job.try_lock()) {
    if (bytes) std::memcpy(to, from, bytes);
    return;
  }
  if (!has_started_) {
    const InterruptsHeld held;
    for (int i = 0; i < helpers_; ++i) std::thread([this] { help(); }).detach();
    has_started_ = true;
  }
  std::unique_lock<std::mutex> lock(mutex_);
  job_ = {static_cast<char*>(to), static_cast<const char*>(from), bytes, 0, 0};
  has_work_.notify_all();
  copy_chunks(lock);
  is_done_.wait(lock, [&] { return job_.done == job_.bytes; });
}

void HostCopier::help() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    has_work_.wait(lock, [&] { return job_.taken < job_.bytes; });
    copy_chunks(lock);
  }
}

void HostCopier::copy_chunks(std::unique_lock<std::mutex>& lock) {
  while (job_.taken < job_.bytes) {
    const std::size_t start = job_.taken, bytes = std::min(chunk, job_.bytes - start);
    char* to = job_.to + start;
    const char* from = job_.from + start;
    job_.taken += bytes;
    lock.unlock();
    std::memcpy(to, from, bytes);
    lock.lock();
    job_.done += bytes;
  }
  if (job_.done == job_.bytes) is_done_.notify_one();
}

}  // namespace dlprim
