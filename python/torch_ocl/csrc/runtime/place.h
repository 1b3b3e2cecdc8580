#pragma once

#include <atomic>
#include <vector>

#include "runtime/allocator.h"

namespace torch_ocl {

/** Work put off (deferred.h), and where its result is to go. */
struct PendingWork;

/** One allocation as PyTorch points to it. */
struct Place {
  explicit Place(Memory m) : memory(std::move(m)) {}
  ~Place();

  /** Before the memory is read: its contents are made. */
  void settle_contents() {
    if (is_watched.load(std::memory_order_acquire)) make_contents();
  }
  /** Before it may be overwritten: what was put off and reads it is made too. */
  void settle() {
    if (!is_watched.load(std::memory_order_acquire)) return;
    make_contents();
    run_readers();
  }
  /** Before all of it is overwritten: what was put off and reads it is made. */
  void settle_readers() {
    if (is_watched.load(std::memory_order_acquire)) run_readers();
  }

  const Memory memory;
  std::atomic<bool> is_watched{false};  // whether there may be what follows, which deferred.cpp keeps
  std::atomic<bool> is_shared{false};   // whether somebody else has the memory too
  std::shared_ptr<PendingWork> contents;
  std::vector<std::weak_ptr<PendingWork>> readers;

 private:
  void make_contents();
  void run_readers();
};

}  // namespace torch_ocl
