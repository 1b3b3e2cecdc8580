#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace ocl::distributed {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

/** That far from now; the far future where the clock does not reach so far. */
Clock::time_point deadline_in(Seconds timeout);

/** A place that sockets connect to: a numeric address or a host's name, and a port. */
struct Address {
  std::string host;
  int port = 0;
};
std::string to_string(const Address& address);

/**
 * A TCP socket. Children of a fork have it closed, so that the other end learns when this process ends.
 * Waiting functions throw DistBackendError at the deadline, or when the other end has closed.
 */
class Socket {
 public:
  Socket() = default;
  explicit Socket(int handle);
  ~Socket() { close(); }
  Socket(Socket&& other) noexcept : handle_(std::exchange(other.handle_, -1)) {}
  Socket& operator=(Socket&& other) noexcept;

  /** Listens on all addresses; port 0 stands for any free one. */
  static Socket listen(int port);
  /** Tries again until somebody listens there. */
  static Socket connect(const Address& address, Clock::time_point deadline);

  Socket accept(Clock::time_point deadline);
  int handle() const { return handle_; }
  bool is_open() const { return handle_ >= 0; }
  int local_port() const;
  std::string peer_host() const;

  void send_all(const void* bytes, std::size_t count, Clock::time_point deadline);
  void receive_all(void* bytes, std::size_t count, Clock::time_point deadline);
  /** Bytes that went without waiting. Throws where the connection is broken. */
  std::size_t send_some(const void* bytes, std::size_t count);
  std::size_t receive_some(void* bytes, std::size_t count);

  void close();

 private:
  int handle_ = -1;
};

}  // namespace ocl::distributed
