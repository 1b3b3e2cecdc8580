#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

namespace dlprim {

/**
 * When this process may call OpenCL. Two things end that:
 *  - fork(): OpenCL's threads are not in the child, its locks may be held there for ever. A child of a
 * process that had used OpenCL gets DeviceError from every use of a device, frees nothing, and exits as any
 * other.
 *  - exit: an implementation tears down what its calls need. The thread that ends the process waits until no
 *    other is within OpenCL (Device::shut_down); one that still wants to compute then sleeps for good.
 */
namespace lifetime {

enum class Phase { running, exiting, forked };

extern std::atomic<Phase> phase;

inline bool is_forked() {
  return phase.load(std::memory_order_relaxed) == Phase::forked;
}

/** Says that OpenCL is used from now on, so that a fork is noticed. */
void note_use();

/** Begins the exit on this thread, which may go on; others may not. False where it cannot begin: in a forked
 * child, or when another thread exits already. */
bool begin_exit();

/** Whether this thread ends the process. */
bool is_exiting_thread();

/** Called by a thread that is to sleep for good, so that it keeps no lock of its language (Python's). */
extern std::atomic<void (*)()> before_sleep;

[[noreturn]] void sleep_for_good();

/** The slow path of DeviceLock: true for the thread that exits. Throws DeviceError in a forked child; does
 * not return to any other thread. */
bool admits_after_end();

}  // namespace lifetime

/**
 * The lock of whatever calls OpenCL. Holders of one never take another. The thread that exits holds all of
 * them (Device::shut_down), and so passes without.
 */
class DeviceLock {
 public:
  explicit DeviceLock(std::mutex& mutex) : lock_(mutex, std::defer_lock) {
    const bool running = lifetime::phase.load(std::memory_order_relaxed) == lifetime::Phase::running;
    if (running || !lifetime::admits_after_end()) lock_.lock();
  }

 private:
  std::unique_lock<std::mutex> lock_;
};

/**
 * A lock taken under a DeviceLock, by a thread that must come to its end even when the process exits
 * meanwhile: it neither sleeps nor throws. The thread that exits holds it too (Device::shut_down), and so
 * passes without.
 */
class InnerLock {
 public:
  explicit InnerLock(std::mutex& mutex) : lock_(mutex, std::defer_lock) {
    if (!lifetime::is_exiting_thread()) lock_.lock();
  }

 private:
  std::unique_lock<std::mutex> lock_;
};

/** Number of the calling thread, from 1, the same as long as it lives and never another's. */
std::uint32_t thread_number();

/** Whether the thread of that number has ended. */
bool thread_has_ended(std::uint32_t number);

}  // namespace dlprim
