#pragma once

#include <functional>
#include <memory>
#include <mutex>

/**
 * \file Work that a primitive has taken on and whose commands are not enqueued yet, so that the calls behind
 * it may join it in one launch (ops/pointwise/fusion.h).
 *
 * Pending work is the end of its queue. Whatever is enqueued next, from any thread, has it enqueued first.
 * So does whoever reads, waits, marks a place, or gives memory to others. The order of commands is what it
 * would be without, and nobody sees a difference but in time. Work under a capture pends in its
 * graph.
 */

namespace dlprim {

class Queue;
class Storage;

/** It keeps alive the memory that it uses. */
class PendingWork {
 public:
  PendingWork() = default;
  virtual ~PendingWork() = default;
  PendingWork(const PendingWork&) = delete;
  PendingWork& operator=(const PendingWork&) = delete;

  /** Enqueues its commands, once. Nothing pends meanwhile. */
  virtual void enqueue(Queue& queue) = 0;
  /** The handles to that memory which it has. */
  virtual long handles(const Storage& storage) const = 0;
};

/** Where the work of a queue, or of a graph under capture, pends. */
class PendingSlot {
  friend class PendingAccess;

  std::recursive_mutex mutex_;  // taken before any DeviceLock
  std::unique_ptr<PendingWork> work_;
  bool is_enqueuing_ = false;
};

/** The calling thread's pending work for a queue, locked. */
class PendingAccess {
 public:
  explicit PendingAccess(Queue& queue);

  /** Null for none. */
  PendingWork* work() const { return slot_.work_.get(); }
  /** False while pending work is being enqueued, and while the process exits. */
  bool may_pend() const { return may_pend_ && !slot_.is_enqueuing_; }
  /** Has it pend, behind what pended before, which is enqueued. */
  void put(std::unique_ptr<PendingWork> work);
  /** Enqueues what pends. Work that fails is dropped, as any command that fails is. */
  void enqueue();
  /** Does what enqueues a part of what pends. */
  void enqueue_part(const std::function<void()>& part);

 private:
  Queue& queue_;
  PendingSlot& slot_;
  std::unique_lock<std::recursive_mutex> lock_;
  bool may_pend_;
};

/** The handles to memory, but for those of what pends of the calling thread's commands. */
long holders(const std::shared_ptr<Storage>& storage);

/** Whether operators may pend, so that several become one launch: unless OCL_FUSION=off, or somebody has
 * turned it off. It is one setting for the process. */
bool fusion();
void set_fusion(bool is_on);

}  // namespace dlprim
