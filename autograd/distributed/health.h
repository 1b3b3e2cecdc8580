#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "autograd/distributed/mesh.h"

namespace ocl::distributed {

/** Whether a group can go on, as its threads see it. The first reason why it cannot counts. */
class Health {
 public:
  explicit Health(int size);
  ~Health();
  Health(const Health&) = delete;
  Health& operator=(const Health&) = delete;

  /** False where it had failed before. */
  bool fail(const std::string& reason);
  bool has_failed() const { return has_failed_.load(std::memory_order_acquire); }
  /** Throws where it has failed. */
  void require() const;
  /** Throws DistBackendError with the reason why it has failed. */
  [[noreturn]] void throw_reason() const;
  /** Waits for a failure that other threads may be about to find. */
  bool fails_within(Seconds time) const;
  /** Readable from the failure on. */
  int handle() const { return handle_; }

  /** A rank that has left in good order: not a failure until somebody waits for it. */
  void note_left(int rank) { left_[static_cast<std::size_t>(rank)] = true; }
  bool has_left(int rank) const { return left_[static_cast<std::size_t>(rank)]; }

 private:
  int handle_;
  std::atomic<bool> has_failed_{false};
  mutable std::mutex mutex_;
  std::string reason_;
  std::vector<std::atomic<bool>> left_;
};

/**
 * A thread that watches the control connections of a group: it hears at once that a rank has ended, has left
 * or has found a failure.
 */
class Watch {
 public:
  /** `names`: what errors call the ranks. */
  Watch(std::vector<Connections>& connections, int rank, Health& health, std::vector<std::string> names);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /** Makes the group fail here and, with that reason, on all other ranks. */
  void fail(const std::string& reason);
  /** Tells the others that this rank leaves in good order, and stops. */
  void leave();

 private:
  void run();
  void hear(int rank);
  void tell(std::uint32_t kind, const std::string& text);

  std::vector<Connections>& connections_;
  const int rank_;
  Health& health_;
  const std::vector<std::string> names_;
  struct Message {
    std::uint32_t kind;
    char text[1020];
  };
  struct Heard {
    Message message;
    std::size_t bytes = 0;
    bool is_closed = false;
  };
  std::vector<Heard> heard_;
  std::mutex telling_;
  int stop_;
  std::thread thread_;
};

}  // namespace ocl::distributed
