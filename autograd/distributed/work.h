#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace ocl::distributed {

/**
 * A collective that is under way. Work enqueued on the devices before it began comes before it; what is
 * enqueued after wait() comes after it.
 */
class Work {
 public:
  /** `after` is called once, by who waits first. */
  explicit Work(std::function<void()> after = nullptr) : after_(std::move(after)) {}
  /** Waits until the results are there. Throws what went wrong, each time. */
  void wait();
  bool is_completed() const;
  /** To be called once, by who does the work. */
  void complete(std::exception_ptr error = nullptr);

 private:
  mutable std::mutex mutex_;
  std::condition_variable is_over_;
  bool is_completed_ = false;
  std::exception_ptr error_;
  std::function<void()> after_;
};

/** A thread that does one thing after another. */
class Lane {
 public:
  Lane();
  ~Lane() { stop(); }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  void submit(std::function<void()> task, const std::shared_ptr<Work>& work);
  /** Waits for the task under way, and drops those that have not begun: their works end with an error. */
  void stop();

 private:
  struct Task {
    std::function<void()> run;
    std::shared_ptr<Work> work;
  };
  void run();

  std::mutex mutex_;
  std::condition_variable has_tasks_;
  std::deque<Task> tasks_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace ocl::distributed
