#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace ocl::nn {

/** Takes a hook away again; may be dropped without doing so, and may outlive the module. */
class RemovableHandle {
 public:
  RemovableHandle() = default;
  explicit RemovableHandle(std::function<void()> remove) : remove_(std::move(remove)) {}
  void remove() {
    if (remove_) remove_();
    remove_ = nullptr;
  }

 private:
  std::function<void()> remove_;
};

/** Whether a hook has nothing to do at present: asked of one that stands for others. */
using IsIdle = std::function<bool()>;

/** Hooks of one kind, in the order in which they were added. Threads may add, remove and call at once. */
template <class Hook>
class HookList {
 public:
  using Hooks = std::vector<std::shared_ptr<const Hook>>;

  RemovableHandle add(Hook hook, IsIdle is_idle = nullptr) {
    const auto added = std::make_shared<const Entry>(Entry{std::move(hook), std::move(is_idle)});
    const std::lock_guard locked(state_->mutex);
    state_->entries.push_back(added);
    state_->count = state_->entries.size();
    return RemovableHandle([state = std::weak_ptr(state_), entry = std::weak_ptr(added)] {
      if (const auto left = state.lock()) left->remove(entry.lock());
    });
  }
  bool empty() const { return state_->count.load(std::memory_order_relaxed) == 0 || hooks().empty(); }
  /** The hooks of now that are not idle: one of them may remove itself. */
  Hooks hooks() const {
    Hooks awake;
    for (const auto& entry : state_->now())  // without the lock: what is_idle asks may wait for another
      if (!entry->is_idle || !entry->is_idle()) awake.emplace_back(entry, &entry->hook);
    return awake;
  }

 private:
  struct Entry {
    Hook hook;
    IsIdle is_idle;
  };
  using Entries = std::vector<std::shared_ptr<const Entry>>;
  struct State {
    std::mutex mutex;
    Entries entries;
    std::atomic<std::size_t> count{0};  // of the entries, for callers that only ask whether there are any

    Entries now() {
      const std::lock_guard locked(mutex);
      return entries;
    }
    /** `removed` goes when the lock is free again. */
    void remove(const std::shared_ptr<const Entry>& removed) {
      const std::lock_guard locked(mutex);
      entries.erase(std::remove(entries.begin(), entries.end(), removed), entries.end());
      count = entries.size();
    }
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace ocl::nn
