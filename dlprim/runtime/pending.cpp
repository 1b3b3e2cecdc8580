#include "dlprim/runtime/pending.h"

#include <atomic>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "dlprim/core/call_state.h"
#include "dlprim/core/error.h"
#include "dlprim/runtime/allocator.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/lifetime.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {
namespace {

bool fusion_at_first() {
  const char* const choice = std::getenv("OCL_FUSION");
  if (!choice || std::string_view(choice) == "on") return true;
  require(std::string_view(choice) == "off", "OCL_FUSION=", choice, ": expected on or off");
  return false;
}

std::atomic<bool>& fusion_switch() {
  static std::atomic<bool> is_on{fusion_at_first()};
  return is_on;
}

/** The thread's calls, set aside: what it enqueues for others belongs to none of them. */
class OutsideOfCalls {
 public:
  OutsideOfCalls() : calls_(std::exchange(call_state, CallState())) { call_state.primitives = 1; }
  ~OutsideOfCalls() { call_state = calls_; }
  OutsideOfCalls(const OutsideOfCalls&) = delete;
  OutsideOfCalls& operator=(const OutsideOfCalls&) = delete;

 private:
  CallState calls_;
};

}  // namespace

PendingAccess::PendingAccess(Queue& queue)
    : queue_(queue), slot_(queue.pending_slot()), lock_(slot_.mutex_, std::defer_lock) {
  const bool is_running = lifetime::phase.load(std::memory_order_relaxed) == lifetime::Phase::running;
  if (is_running || !lifetime::admits_after_end()) lock_.lock();
  may_pend_ = lock_.owns_lock();
}

void PendingAccess::put(std::unique_ptr<PendingWork> work) {
  enqueue();
  slot_.work_ = std::move(work);
  queue_.pending_count_.fetch_add(1, std::memory_order_release);
}

void PendingAccess::enqueue() {
  if (!slot_.work_ || slot_.is_enqueuing_) return;
  struct NoLongerPending {
    PendingAccess& access;
    std::unique_ptr<PendingWork> work = std::move(access.slot_.work_);
    ~NoLongerPending() { access.queue_.pending_count_.fetch_sub(1, std::memory_order_release); }
  };
  const NoLongerPending ended{*this};
  enqueue_part([&] { ended.work->enqueue(queue_); });
}

void PendingAccess::enqueue_part(const std::function<void()>& part) {
  struct Enqueuing {
    bool& flag;
    ~Enqueuing() { flag = false; }
  };
  const OutsideOfCalls outside;
  const Enqueuing enqueuing{slot_.is_enqueuing_ = true};
  part();
}

long holders(const std::shared_ptr<Storage>& storage) {
  const long all = storage.use_count();
  if (all == 1) return all;
  const PendingAccess pending(storage->device().queue());
  return all - (pending.work() ? pending.work()->handles(*storage) : 0);
}

bool fusion() {
  return fusion_switch().load(std::memory_order_relaxed);
}

void set_fusion(bool is_on) {
  fusion_switch().store(is_on, std::memory_order_relaxed);
}

}  // namespace dlprim
