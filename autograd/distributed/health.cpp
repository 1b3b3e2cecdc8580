#include "autograd/distributed/health.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "autograd/distributed/error.h"

namespace ocl::distributed {
namespace {

enum Kind : std::uint32_t { leaving = 1, failed = 2 };

int event_handle() {
  const int handle = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  dlprim::require<DistBackendError>(handle >= 0, "no event handle: ", std::strerror(errno));
  return handle;
}

void raise_event(int handle) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(handle, &one, sizeof one);
}

}  // namespace

Health::Health(int size) : handle_(event_handle()), left_(static_cast<std::size_t>(size)) {}

Health::~Health() {
  ::close(handle_);
}

bool Health::fail(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  if (has_failed()) return false;
  reason_ = reason;
  has_failed_.store(true, std::memory_order_release);
  raise_event(handle_);
  return true;
}

void Health::require() const {
  if (has_failed()) throw_reason();
}

void Health::throw_reason() const {
  const std::lock_guard lock(mutex_);
  throw DistBackendError(reason_);
}

bool Health::fails_within(Seconds time) const {
  pollfd waiting{handle_, POLLIN, 0};
  ::poll(&waiting, 1, static_cast<int>(time.count() * 1000));
  return has_failed();
}

Watch::Watch(std::vector<Connections>& connections, int rank, Health& health, std::vector<std::string> names)
    : connections_(connections),
      rank_(rank),
      health_(health),
      names_(std::move(names)),
      heard_(connections.size()),
      stop_(event_handle()),
      thread_([this] { run(); }) {}

Watch::~Watch() {
  leave();
  ::close(stop_);
}

void Watch::fail(const std::string& reason) {
  if (health_.fail(reason)) tell(failed, reason);
}

void Watch::leave() {
  if (!thread_.joinable()) return;
  tell(leaving, "");
  raise_event(stop_);
  thread_.join();
}

void Watch::tell(std::uint32_t kind, const std::string& text) {
  Message message{};
  message.kind = kind;
  std::memcpy(message.text, text.data(), std::min(text.size(), sizeof message.text - 1));
  const std::lock_guard lock(telling_);
  for (std::size_t other = 0; other < connections_.size(); ++other) {
    Socket& socket = connections_[other][Plane::control];
    if (static_cast<int>(other) == rank_ || !socket.is_open()) continue;
    try {
      socket.send_all(&message, sizeof message, deadline_in(Seconds(0.5)));
    } catch (const DistBackendError&) {
      // It has gone, or will hear it from another.
    }
  }
}

void Watch::run() {
  for (;;) {
    std::vector<pollfd> waiting{{stop_, POLLIN, 0}};
    std::vector<int> ranks{-1};
    for (std::size_t other = 0; other < connections_.size(); ++other) {
      if (static_cast<int>(other) == rank_ || heard_[other].is_closed) continue;
      waiting.push_back({connections_[other][Plane::control].handle(), POLLIN, 0});
      ranks.push_back(static_cast<int>(other));
    }
    if (::poll(waiting.data(), waiting.size(), -1) < 0) continue;
    if (waiting[0].revents) return;
    for (std::size_t i = 1; i < waiting.size(); ++i)
      if (waiting[i].revents) hear(ranks[i]);
  }
}

void Watch::hear(int rank) {
  Heard& heard = heard_[static_cast<std::size_t>(rank)];
  try {
    heard.bytes += connections_[static_cast<std::size_t>(rank)][Plane::control].receive_some(
        reinterpret_cast<char*>(&heard.message) + heard.bytes, sizeof heard.message - heard.bytes);
  } catch (const DistBackendError& error) {
    heard.is_closed = true;
    if (health_.has_left(rank)) return;
    fail(dlprim::concat(names_[static_cast<std::size_t>(rank)], " has ended: ", error.what()));
    return;
  }
  if (heard.bytes < sizeof heard.message) return;
  heard.bytes = 0;
  heard.message.text[sizeof heard.message.text - 1] = 0;
  if (heard.message.kind == leaving)
    health_.note_left(rank);
  else
    health_.fail(heard.message.text);
}

}  // namespace ocl::distributed
