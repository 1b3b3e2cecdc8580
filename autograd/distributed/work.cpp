#include "autograd/distributed/work.h"

#include <utility>

#include "autograd/distributed/error.h"

namespace ocl::distributed {
namespace {

std::exception_ptr destroyed() {
  return std::make_exception_ptr(DistBackendError("the process group was destroyed"));
}

}  // namespace

void Work::wait() {
  std::function<void()> after;
  {
    std::unique_lock lock(mutex_);
    is_over_.wait(lock, [&] { return is_completed_; });
    if (error_) std::rethrow_exception(error_);
    after = std::exchange(after_, nullptr);
  }
  if (after) after();
}

bool Work::is_completed() const {
  const std::lock_guard lock(mutex_);
  return is_completed_;
}

void Work::complete(std::exception_ptr error) {
  const std::lock_guard lock(mutex_);
  is_completed_ = true;
  error_ = std::move(error);
  is_over_.notify_all();
}

Lane::Lane() : thread_([this] { run(); }) {}

void Lane::stop() {
  std::deque<Task> left;
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    left.swap(tasks_);
    has_tasks_.notify_all();
  }
  for (const Task& task : left) task.work->complete(destroyed());
  if (thread_.joinable()) thread_.join();
}

void Lane::submit(std::function<void()> task, const std::shared_ptr<Work>& work) {
  {
    const std::lock_guard lock(mutex_);
    if (!ends_) {
      tasks_.push_back({std::move(task), work});
      has_tasks_.notify_one();
      return;
    }
  }
  work->complete(destroyed());
}

void Lane::run() {
  for (;;) {
    Task task;
    {
      std::unique_lock lock(mutex_);
      has_tasks_.wait(lock, [&] { return ends_ || !tasks_.empty(); });
      if (ends_) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    std::exception_ptr error;
    try {
      task.run();
    } catch (...) {
      error = std::current_exception();
    }
    task.run = nullptr;  // lets its tensors go
    task.work->complete(error);
  }
}

}  // namespace ocl::distributed
