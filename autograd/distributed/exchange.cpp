#include "autograd/distributed/exchange.h"

#include <poll.h>

#include <algorithm>
#include <map>
#include <set>

#include "autograd/distributed/error.h"

namespace ocl::distributed {
namespace {

using dlprim::concat;

// Times around without anything moved before the thread sleeps: waking up costs some microseconds. Few: on a
// machine with less processors than threads the others need them.
constexpr int patience = 20;
// However long it waits, the thread looks now and then for ranks that have left.
constexpr auto longest_sleep = std::chrono::milliseconds(100);

/** The failure of a channel, with the rank at its other end. */
struct BrokenChannel {
  int rank;
  DistBackendError error;
};

template <class Message>
bool all_over(const std::vector<Message>& messages) {
  return std::all_of(messages.begin(), messages.end(), [](const Message& m) { return m.is_over; });
}

}  // namespace

/** One message of each rank at a time, the first that is not over. */
template <class Message>
bool Exchange::go_on(std::vector<Message>& messages, int Message::* peer, bool (Channel::*move)(Message&)) {
  bool has_moved = false;
  std::vector<bool> is_busy(channels_.size());
  for (Message& message : messages) {
    const auto rank = static_cast<std::size_t>(message.*peer);
    if (message.is_over || is_busy[rank]) continue;
    try {
      has_moved |= (channels_[rank].get()->*move)(message);
    } catch (const DistBackendError& error) {
      throw BrokenChannel{message.*peer, error};
    }
    is_busy[rank] = !message.is_over;
  }
  return has_moved;
}

void Exchange::run(std::vector<Outgoing>& out, std::vector<Incoming>& in, const std::string& what) {
  Clock::time_point deadline;
  int idle = 0;
  try {
    for (;;) {
      health_.require();
      bool has_moved = go_on(out, &Outgoing::to, &Channel::send);
      has_moved |= go_on(in, &Incoming::from, &Channel::receive);
      if (all_over(out) && all_over(in)) return;
      if (has_moved) {
        idle = 0;
        continue;
      }
      if (idle++ == 0) deadline = deadline_in(timeout_);
      if (idle < patience) continue;
      if (idle > patience + 1) require_present(out, in, what, deadline);
      sleep(out, in, deadline);
    }
  } catch (const BrokenChannel& broken) {
    give_up(broken.rank, what, broken.error.what());
  }
}

namespace {

std::set<int> waited_for(const std::vector<Outgoing>& out, const std::vector<Incoming>& in) {
  std::set<int> ranks;
  for (const Incoming& message : in)
    if (!message.is_over) ranks.insert(message.from);
  for (const Outgoing& message : out)
    if (!message.is_over) ranks.insert(message.to);
  return ranks;
}

}  // namespace

/** Throws where a rank that is waited for has left, or hangs. */
void Exchange::require_present(const std::vector<Outgoing>& out, const std::vector<Incoming>& in,
                               const std::string& what, Clock::time_point deadline) const {
  const std::set<int> ranks = waited_for(out, in);
  for (const int rank : ranks)
    if (health_.has_left(rank)) report_left(rank, what);
  if (Clock::now() < deadline) return;
  std::string numbers;
  for (const int rank : ranks)
    numbers += (numbers.empty() ? "" : ", ") + std::to_string(numbers_[static_cast<std::size_t>(rank)]);
  throw DistBackendError(concat("rank ", numbers, " did not go on with ", what, " within the time-out of ",
                                timeout_.count(), " s"));
}

void Exchange::sleep(const std::vector<Outgoing>& out, const std::vector<Incoming>& in,
                     Clock::time_point until) {
  struct Wanted {
    bool sends = false, receives = false;
  };
  std::map<int, Wanted> wanted;
  for (const Outgoing& message : out)
    if (!message.is_over) wanted[message.to].sends = true;
  for (const Incoming& message : in)
    if (!message.is_over) wanted[message.from].receives = true;
  std::vector<pollfd> waiting{{health_.handle(), POLLIN, 0}};
  bool must_not = false;
  for (const auto& [rank, what] : wanted) {
    Channel& channel = *channels_[static_cast<std::size_t>(rank)];
    must_not |= channel.announce_sleep(what.sends, what.receives);
    const bool waits_to_write = what.sends && channel.sends_by_socket();
    const bool waits_to_read = what.receives || !channel.sends_by_socket();
    waiting.push_back({channel.socket(),
                       static_cast<short>((waits_to_write ? POLLOUT : 0) | (waits_to_read ? POLLIN : 0)), 0});
  }
  if (!must_not) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
    ::poll(waiting.data(), waiting.size(),
           static_cast<int>(std::clamp(left, std::chrono::milliseconds(0), longest_sleep).count()) + 1);
  }
  for (const auto& [rank, what] : wanted) channels_[static_cast<std::size_t>(rank)]->wake_up();
}

/** The watch knows better why a connection broke. */
void Exchange::give_up(int rank, const std::string& what, const std::string& error) {
  const auto end = Clock::now() + std::chrono::seconds(2);
  while (Clock::now() < end && !health_.has_left(rank))
    if (health_.fails_within(Seconds(0.05))) break;
  health_.require();
  if (health_.has_left(rank)) report_left(rank, what);
  throw DistBackendError(concat("the connection to rank ", numbers_[static_cast<std::size_t>(rank)],
                                " broke during ", what, ": ", error));
}

void Exchange::report_left(int rank, const std::string& what) const {
  throw DistBackendError(concat("rank ", numbers_[static_cast<std::size_t>(rank)],
                                " has left the group, and does not take part in ", what));
}

}  // namespace ocl::distributed
