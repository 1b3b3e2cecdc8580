#include "dlprim/runtime/lifetime.h"

#include <pthread.h>
#include <unistd.h>

#include <set>
#include <thread>

#include "dlprim/core/error.h"

namespace dlprim {
namespace lifetime {

std::atomic<Phase> phase{Phase::running};
std::atomic<void (*)()> before_sleep{nullptr};

namespace {

std::atomic<std::thread::id> exiting_thread{};

void after_fork_in_child() {
  phase = Phase::forked;
}

}  // namespace

void note_use() {
  static const int registered = pthread_atfork(nullptr, nullptr, after_fork_in_child);
  (void)registered;
}

bool begin_exit() {
  const std::thread::id self = std::this_thread::get_id();
  std::thread::id nobody;
  if (is_forked() || (!exiting_thread.compare_exchange_strong(nobody, self) && nobody != self)) return false;
  phase = Phase::exiting;
  return true;
}

bool is_exiting_thread() {
  return phase.load(std::memory_order_relaxed) == Phase::exiting &&
         exiting_thread == std::this_thread::get_id();
}

bool admits_after_end() {
  if (is_forked())
    throw DeviceError(
        "this process was forked from one that had used OpenCL, and cannot use it: start processes by "
        "multiprocessing's 'spawn' or 'forkserver', or before the first use of a device");
  if (exiting_thread == std::this_thread::get_id()) return true;
  sleep_for_good();
}

void sleep_for_good() {
  if (const auto prepare = before_sleep.load()) prepare();
  for (;;) pause();
}

}  // namespace lifetime

namespace {

/** The threads that have a number and live; never destroyed, since threads end after main() too. */
struct LivingThreads {
  std::mutex mutex;
  std::set<std::uint32_t> numbers;
};

LivingThreads& living_threads() {
  static auto* threads = new LivingThreads;
  return *threads;
}

struct EndOfThread {
  std::uint32_t number;
  ~EndOfThread() {
    LivingThreads& threads = living_threads();
    std::lock_guard<std::mutex> lock(threads.mutex);
    threads.numbers.erase(number);
  }
};

std::uint32_t begin_thread() {
  static std::atomic<std::uint32_t> last{0};
  const std::uint32_t number = ++last;
  LivingThreads& threads = living_threads();
  {
    std::lock_guard<std::mutex> lock(threads.mutex);
    threads.numbers.insert(number);
  }
  static thread_local const EndOfThread end{number};
  (void)end;
  return number;
}

}  // namespace

std::uint32_t thread_number() {
  static thread_local std::uint32_t number = 0;  // no destructor: exit handlers ask too
  if (!number) number = begin_thread();
  return number;
}

bool thread_has_ended(std::uint32_t number) {
  LivingThreads& threads = living_threads();
  std::lock_guard<std::mutex> lock(threads.mutex);
  return threads.numbers.count(number) == 0;
}

}  // namespace dlprim
