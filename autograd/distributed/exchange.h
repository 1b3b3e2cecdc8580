#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "autograd/distributed/channel.h"
#include "autograd/distributed/health.h"

namespace ocl::distributed {

/** Moves messages between this rank and others, all at once. One thread uses it. */
class Exchange {
 public:
  /** `channels` by rank, null for this one; `numbers`: what errors call the ranks. A rank with which nothing
   * moves for `timeout` hangs. */
  Exchange(std::vector<std::unique_ptr<Channel>> channels, std::vector<int> numbers, Health& health,
           Seconds timeout)
      : channels_(std::move(channels)),
        numbers_(std::move(numbers)),
        health_(health),
        timeout_(std::min(timeout, Seconds(std::chrono::hours(24 * 365)))) {}

  /**
   * Sends and receives all of these; `what` for is said in errors. Messages of one rank go in order. Returns
   * when all have arrived and what is sent may be changed, but for what lies in shared memory. Throws
   * DistBackendError that names the rank with which it does not go on.
   */
  void run(std::vector<Outgoing>& out, std::vector<Incoming>& in, const std::string& what);

 private:
  template <class Message>
  bool go_on(std::vector<Message>& messages, int Message::* peer, bool (Channel::*move)(Message&));
  void sleep(const std::vector<Outgoing>& out, const std::vector<Incoming>& in, Clock::time_point until);
  [[noreturn]] void give_up(int rank, const std::string& what, const std::string& error);
  [[noreturn]] void report_left(int rank, const std::string& what) const;
  void require_present(const std::vector<Outgoing>& out, const std::vector<Incoming>& in,
                       const std::string& what, Clock::time_point deadline) const;

  std::vector<std::unique_ptr<Channel>> channels_;
  const std::vector<int> numbers_;
  Health& health_;
  const Seconds timeout_;
};

}  // namespace ocl::distributed
