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

/** Hooks of one kind, in the order in which they were added. Threads may add, remove and call at once. */
template <class Hook>
class HookList {
 public:
  using Hooks = std::vector<std::shared_ptr<const Hook>>;

  RemovableHandle add(Hook hook) {
    const auto added = std::make_shared<const Hook>(std::move(hook));
    const std::lock_guard locked(state_->mutex);
    state_->hooks.push_back(added);
    state_->count = state_->hooks.size();
    return RemovableHandle([state = std::weak_ptr(state_), hook = std::weak_ptr(added)] {
      if (const auto left = state.lock()) left->remove(hook.lock());
    });
  }
  bool empty() const { return state_->count.load(std::memory_order_relaxed) == 0; }
  /** The hooks of now: one of them may remove itself. */
  Hooks hooks() const {
    const std::lock_guard locked(state_->mutex);
    return state_->hooks;
  }

 private:
  struct State {
    std::mutex mutex;
    Hooks hooks;
    std::atomic<std::size_t> count{0};  // of the hooks, for who only asks whether there are any

    /** `removed` goes when the lock is free again. */
    void remove(const std::shared_ptr<const Hook>& removed) {
      const std::lock_guard locked(mutex);
      hooks.erase(std::remove(hooks.begin(), hooks.end(), removed), hooks.end());
      count = hooks.size();
    }
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace ocl::nn
