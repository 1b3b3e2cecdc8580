#include "autograd/distributed/team.h"

namespace ocl::distributed {

Team::~Team() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    has_work_.notify_all();
  }
  for (std::thread& helper : helpers_) helper.join();
}

void Team::run(const std::function<void(int)>& part) {
  if (threads_ > 1) {
    const std::lock_guard lock(mutex_);
    while (static_cast<int>(helpers_.size()) < threads_ - 1)
      helpers_.emplace_back([this, number = static_cast<int>(helpers_.size()) + 1] { help(number); });
    part_ = &part;
    working_ = threads_ - 1;
    ++round_;
    has_work_.notify_all();
  }
  part(0);
  std::unique_lock lock(mutex_);
  is_done_.wait(lock, [&] { return working_ == 0; });
}

void Team::help(int number) {
  for (int seen = 0;;) {
    const std::function<void(int)>* part = nullptr;
    {
      std::unique_lock lock(mutex_);
      has_work_.wait(lock, [&] { return ends_ || round_ != seen; });
      if (ends_) return;
      seen = round_;
      part = part_;
    }
    (*part)(number);
    const std::lock_guard lock(mutex_);
    if (--working_ == 0) is_done_.notify_all();
  }
}

}  // namespace ocl::distributed
