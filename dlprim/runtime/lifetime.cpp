#include "dlprim/runtime/lifetime.h"

#include <map>
#include <thread>

#include "dlprim/core/error.h"
#include "dlprim/platform/process.h"
#include "dlprim/runtime/responsible_thread.h"

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
  static const bool registered = (platform::at_fork(nullptr, nullptr, after_fork_in_child), true);
  (void)registered;
}

bool begin_exit() {
  const std::thread::id self = std::this_thread::get_id();
  std::thread::id nobody;
  if (platform::has_ended_other_threads()) return false;
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
  platform::sleep_for_good();
}

}  // namespace lifetime

namespace {

/** The threads that have a number and live; never destroyed, since threads end after main() too. A forked
 * child ends threads as well, whose number another thread of the parent may have looked at. */
struct LivingThreads {
  std::mutex mutex;
  std::map<std::uint32_t, std::int64_t> native_ids;  // by number
};

LivingThreads& living_threads() {
  static auto* threads = new LivingThreads;
  static const bool registered =
      (platform::at_fork([] { threads->mutex.lock(); }, [] { threads->mutex.unlock(); },
                         [] { threads->mutex.unlock(); }),
       true);
  (void)registered;
  return *threads;
}

struct EndOfThread {
  std::uint32_t number;
  ~EndOfThread() {
    LivingThreads& threads = living_threads();
    std::lock_guard<std::mutex> lock(threads.mutex);
    threads.native_ids.erase(number);
  }
};

std::uint32_t begin_thread() {
  static std::atomic<std::uint32_t> last{0};
  const std::uint32_t number = ++last;
  LivingThreads& threads = living_threads();
  {
    std::lock_guard<std::mutex> lock(threads.mutex);
    threads.native_ids.emplace(number, platform::thread_id());
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
  return threads.native_ids.count(number) == 0;
}

std::int64_t native_id_of(std::uint32_t thread) {
  LivingThreads& threads = living_threads();
  std::lock_guard<std::mutex> lock(threads.mutex);
  const auto found = threads.native_ids.find(thread);
  return found == threads.native_ids.end() ? 0 : found->second;
}

std::atomic<std::uint32_t (*)()> find_served_thread{nullptr};

std::uint32_t responsible_thread() {
  const auto find = find_served_thread.load(std::memory_order_acquire);
  const std::uint32_t self = thread_number(), served = find ? find() : 0;
  return served == 0 || (served != self && thread_has_ended(served)) ? self : served;
}

}  // namespace dlprim
