#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace ocl::distributed {

/** Threads that share the work of the one that calls. They start at the first call, and touch no device. */
class Team {
 public:
  /** So many threads, the caller among them. */
  explicit Team(int threads) : threads_(threads) {}
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int threads() const { return threads_; }
  /** Calls part(i) for every i below threads(), at once, and waits. `part` throws nothing. */
  void run(const std::function<void(int)>& part);

 private:
  void help(int number);

  const int threads_;
  std::mutex mutex_;
  std::condition_variable has_work_, is_done_;
  const std::function<void(int)>* part_ = nullptr;
  int round_ = 0, working_ = 0;
  bool ends_ = false;
  std::vector<std::thread> helpers_;
};

}  // namespace ocl::distributed
