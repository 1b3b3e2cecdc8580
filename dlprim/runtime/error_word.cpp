#include "dlprim/runtime/error_word.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <unordered_map>

#include "dlprim/core/call_state.h"
#include "dlprim/core/error.h"
#include "dlprim/core/tensor.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/error_word_shared.h"
#include "dlprim/runtime/lifetime.h"
#include "dlprim/runtime/responsible_thread.h"

namespace dlprim {
namespace {

/** The threads that kernels with checks belong to whose words nobody has looked at since. */
class Doubts {
 public:
  void add(std::uint32_t thread, int device_index) {
    const InnerLock lock(mutex_);
    devices_of_[thread] |= bit_of(device_index);
    any_.store(true, std::memory_order_relaxed);
  }
  void remove(std::uint32_t thread, int device_index) {
    const InnerLock lock(mutex_);
    const auto found = devices_of_.find(thread);
    if (found != devices_of_.end() && (found->second &= ~bit_of(device_index)) == 0) devices_of_.erase(found);
    any_.store(!devices_of_.empty(), std::memory_order_relaxed);
  }
  bool any() const { return any_.load(std::memory_order_relaxed); }
  bool has(std::uint32_t thread, int device_index) const {
    const InnerLock lock(mutex_);
    const auto found = devices_of_.find(thread);
    return found != devices_of_.end() && (found->second & bit_of(device_index)) != 0;
  }

 private:
  static std::uint64_t bit_of(int device_index) { return std::uint64_t{1} << (device_index % 64); }

  mutable std::mutex mutex_;
  std::unordered_map<std::uint32_t, std::uint64_t> devices_of_;  // a bit for each
  std::atomic<bool> any_{false};
};

Doubts& doubts() {
  static auto& doubts = *new Doubts;  // threads may outlive statics
  return doubts;
}

/** Counts the times that words were looked at, on all devices. */
std::atomic<std::uint32_t> moments{1};

bool is_later(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::int32_t>(a - b) > 0;
}

std::mutex registry_mutex;

struct Check {
  std::string message;
  CheckError error;
};

std::vector<Check>& registered_checks() {
  static auto* checks = new std::vector<Check>;
  return *checks;
}

Check check_of(const ErrorWord& word) {
  std::lock_guard<std::mutex> lock(registry_mutex);
  return registered_checks().at(static_cast<std::size_t>(word.code - 1));
}

template <class E>
[[noreturn]] void raise(const std::string& failure) {
  // It was not the operator that waits: no error is to begin with its name.
  const char* const waiting = std::exchange(call_state.operation, nullptr);
  const E error(failure);
  call_state.operation = waiting;
  throw error;
}

}  // namespace

DeviceCheck DeviceCheck::spoiling(const Tensor& result) const {
  return {code, result.storage.get()};
}

DeviceCheck register_check(const std::string& message, CheckError error) {
  std::lock_guard<std::mutex> lock(registry_mutex);
  registered_checks().push_back({message, error});
  return {static_cast<int>(registered_checks().size())};
}

DeviceCheck find_or_register_check(const std::string& message, CheckError error) {
  {
    std::lock_guard<std::mutex> lock(registry_mutex);
    const std::vector<Check>& checks = registered_checks();
    for (std::size_t i = 0; i < checks.size(); ++i)
      if (checks[i].message == message && checks[i].error == error) return {static_cast<int>(i + 1)};
  }
  return register_check(message, error);
}

ArgumentValue argument_value(const DeviceCheck& check) {
  std::lock_guard<std::mutex> lock(registry_mutex);
  const Check& registered = registered_checks().at(static_cast<std::size_t>(check.code - 1));
  return std::vector<Argument>{{"message", registered.message},
                               {"error", static_cast<std::int64_t>(registered.error)}};
}

Suspicion suspicion_of_this_thread(int device_index) {
  if (!doubts().any()) return {};
  const std::uint32_t thread = responsible_thread();
  if (!doubts().has(thread, device_index)) return {};
  return {thread, moments.load(std::memory_order_relaxed)};
}

ErrorWords::ErrorWords(const Device& device) : device_(device) {}

const cl::Buffer& ErrorWords::use(const DeviceCheck& check, const cl::CommandQueue& queue) {
  Word& word = word_of_this_thread(queue);
  word.in_use = true;
  doubts().add(word.thread, device_.index());
  if (check.spoiled) check.spoiled->set_suspect({word.thread, moments.load(std::memory_order_relaxed)});
  return word.buffer;
}

ErrorWords::Word& ErrorWords::word_of_this_thread(const cl::CommandQueue& queue) {
  const std::uint32_t thread = responsible_thread();
  for (const auto& word : words_)
    if (word->thread == thread) return *word;
  for (const auto& word : words_) {
    if (word->in_use || !word->failure.empty() || !thread_has_ended(word->thread)) continue;
    word->thread = thread;
    word->native_id = native_id_of(thread);
    return *word;
  }
  words_.push_back(std::make_unique<Word>());
  Word& word = *words_.back();
  word.thread = thread;
  word.native_id = native_id_of(thread);
  word.buffer = cl::Buffer(device_.context(), CL_MEM_READ_WRITE, sizeof(ErrorWord));
  queue.enqueueFillBuffer(word.buffer, cl_int{0}, 0, sizeof(ErrorWord));
  return word;
}

void ErrorWords::follow(Suspicion suspicion) {
  const std::uint32_t self = responsible_thread();
  if (suspicion.thread == self) return;
  for (Followed& f : followed_)
    if (f.follower == self && f.whom.thread == suspicion.thread) {
      if (is_later(f.whom.moment, suspicion.moment)) f.whom.moment = suspicion.moment;
      return;
    }
  followed_.push_back({self, suspicion});
}

void ErrorWords::look_at_words(const cl::CommandQueue& queue) {
  const std::uint32_t now = moments.fetch_add(1, std::memory_order_relaxed);
  for (const auto& word : words_) {
    if (!word->in_use) continue;
    word->in_use = false;
    doubts().remove(word->thread, device_.index());
    ErrorWord found{};
    queue.enqueueReadBuffer(word->buffer, CL_TRUE, 0, sizeof found, &found);
    if (found.code == 0) continue;
    queue.enqueueFillBuffer(word->buffer, cl_int{0}, 0, sizeof found);
    if (!word->failure.empty() && word->told.empty()) continue;
    const Check check = check_of(found);
    word->failure = concat(check.message, found.value);
    word->error = check.error;
    word->moment = now;
    word->told.clear();
  }
}

void ErrorWords::raise_failures(const cl::CommandQueue& queue) {
  if (words_.empty()) return;
  look_at_words(queue);
  const std::uint32_t self = responsible_thread();
  const auto followed = std::exchange(followed_, {});
  std::string failure;
  CheckError error = CheckError::index;
  for (const auto& word : words_) {
    if (word->failure.empty()) continue;
    for (const Followed& f : followed)
      if (f.whom.thread == word->thread && f.follower != self) followed_.push_back(f);
    if (!failure.empty()) continue;
    error = word->error;
    const std::string whose = concat(" (in a call by the thread of native id ", word->native_id);
    if (word->thread == self) {
      failure = std::exchange(word->failure, {});
    } else if (thread_has_ended(word->thread)) {
      failure = std::exchange(word->failure, {}) + whose + ", which ended without waiting for it)";
    } else if (std::find(word->told.begin(), word->told.end(), self) == word->told.end() &&
               std::any_of(followed.begin(), followed.end(), [&](const Followed& f) {
                 return f.follower == self && f.whom.thread == word->thread &&
                        !is_later(f.whom.moment, word->moment);
               })) {
      failure = word->failure + whose + ", whose results this thread uses)";
      word->told.push_back(self);
    }
  }
  if (failure.empty()) return;
  if (error == CheckError::division) raise<ZeroDivisionError>(failure);
  raise<IndexError>(failure);
}

}  // namespace dlprim
