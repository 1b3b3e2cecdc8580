#include "autograd/distributed/socket.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "autograd/distributed/error.h"

namespace ocl::distributed {
namespace {

using dlprim::concat;

/** The sockets of this process, for the children of a fork. Never destroyed. */
struct OpenSockets {
  std::mutex mutex;
  std::set<int> handles;
};

OpenSockets& open_sockets() {
  static auto* sockets = [] {
    auto* made = new OpenSockets;
    pthread_atfork([] { open_sockets().mutex.lock(); }, [] { open_sockets().mutex.unlock(); },
                   [] {
                     for (const int handle : open_sockets().handles) ::close(handle);
                     open_sockets().handles.clear();
                     open_sockets().mutex.unlock();
                   });
    return made;
  }();
  return *sockets;
}

std::string reason() {
  return std::strerror(errno);
}

[[noreturn]] void fail(const char* what) {
  throw DistBackendError(concat(what, ": ", reason()));
}

int milliseconds_until(Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<long long>(left + 1, 0, 3'600'000));
}

void wait_for(int handle, short events, Clock::time_point deadline, const char* what) {
  for (;;) {
    pollfd waiting{handle, events, 0};
    if (::poll(&waiting, 1, milliseconds_until(deadline)) > 0) return;
    if (Clock::now() >= deadline) throw DistBackendError(concat(what, ": no answer within the time-out"));
  }
}

/** Small messages go at once; a host that vanishes is noticed within some seconds. */
void set_options(int handle) {
  const auto set = [&](int level, int name, int value) {
    ::setsockopt(handle, level, name, &value, sizeof value);
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
#ifdef __linux__
  set(IPPROTO_TCP, TCP_KEEPIDLE, 3);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 1);
  set(IPPROTO_TCP, TCP_KEEPCNT, 4);
#endif
}

std::string host_of(const sockaddr_storage& address, socklen_t size) {
  char host[NI_MAXHOST] = "";
  ::getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, host, sizeof host, nullptr, 0,
                NI_NUMERICHOST);
  return host;
}

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Addresses addresses_of(const Address& address) {
  addrinfo wanted{}, *found = nullptr;
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  const int code = ::getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &wanted, &found);
  if (code != 0)
    throw DistBackendError(concat("no such host: ", address.host, " (", ::gai_strerror(code), ")"));
  return Addresses(found, &::freeaddrinfo);
}

}  // namespace

Clock::time_point deadline_in(Seconds timeout) {
  constexpr Seconds longest = std::chrono::hours(24 * 365);
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::min(timeout, longest));
}

std::string to_string(const Address& address) {
  return address.host + ":" + std::to_string(address.port);
}

Socket::Socket(int handle) : handle_(handle) {
  OpenSockets& sockets = open_sockets();
  const std::lock_guard lock(sockets.mutex);
  sockets.handles.insert(handle);
}

Socket& Socket::operator=(Socket&& other) noexcept {
  if (this != &other) {
    close();
    handle_ = std::exchange(other.handle_, -1);
  }
  return *this;
}

void Socket::close() {
  if (handle_ < 0) return;
  OpenSockets& sockets = open_sockets();
  const std::lock_guard lock(sockets.mutex);
  // In the child of a fork it is closed already, and the number may be another file's.
  if (sockets.handles.erase(handle_)) ::close(handle_);
  handle_ = -1;
}

Socket Socket::listen(int port) {
  // One socket for both families where the system has IPv6, else of IPv4.
  for (const int family : {AF_INET6, AF_INET}) {
    const int handle = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (handle < 0) continue;
    Socket socket(handle);
    const int on = 1, off = 0;
    ::setsockopt(handle, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_storage address{};
    address.ss_family = static_cast<sa_family_t>(family);
    socklen_t size = sizeof(sockaddr_in);
    if (family == AF_INET6) {
      ::setsockopt(handle, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
      reinterpret_cast<sockaddr_in6&>(address).sin6_port = htons(static_cast<std::uint16_t>(port));
      size = sizeof(sockaddr_in6);
    } else {
      reinterpret_cast<sockaddr_in&>(address).sin_port = htons(static_cast<std::uint16_t>(port));
    }
    if (::bind(handle, reinterpret_cast<const sockaddr*>(&address), size) == 0 && ::listen(handle, 1024) == 0)
      return socket;
    if (errno == EADDRINUSE || family == AF_INET)
      throw DistBackendError(concat("port ", port, " cannot be listened on: ", reason()));
  }
  fail("no TCP sockets");
}

Socket Socket::connect(const Address& address, Clock::time_point deadline) {
  const std::string what = "connecting to " + to_string(address);
  for (auto pause = std::chrono::milliseconds(5);;
       pause = std::min(2 * pause, std::chrono::milliseconds(200))) {
    const Addresses found = addresses_of(address);
    for (const addrinfo* one = found.get(); one; one = one->ai_next) {
      const int handle = ::socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
      if (handle < 0) continue;
      Socket socket(handle);
      int code = 0;
      if (::connect(handle, one->ai_addr, one->ai_addrlen) != 0) {
        if (errno != EINPROGRESS) continue;
        wait_for(handle, POLLOUT, deadline, what.c_str());
        socklen_t size = sizeof code;
        ::getsockopt(handle, SOL_SOCKET, SO_ERROR, &code, &size);
      }
      // A free port of this host may answer to itself.
      if (code == 0 && socket.local_port() != address.port) {
        set_options(handle);
        return socket;
      }
    }
    if (Clock::now() + pause >= deadline)
      throw DistBackendError(concat(what, ": nobody listens there within the time-out"));
    std::this_thread::sleep_for(pause);
  }
}

Socket Socket::accept(Clock::time_point deadline) {
  for (;;) {
    wait_for(handle_, POLLIN, deadline, "waiting for the other ranks");
    const int handle = ::accept4(handle_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (handle >= 0) {
      set_options(handle);
      return Socket(handle);
    }
    if (errno != EINTR && errno != ECONNABORTED && errno != EAGAIN) fail("accept");
  }
}

int Socket::local_port() const {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(handle_, reinterpret_cast<sockaddr*>(&address), &size) != 0) fail("getsockname");
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                                             : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

std::string Socket::peer_host() const {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getpeername(handle_, reinterpret_cast<sockaddr*>(&address), &size) != 0) fail("getpeername");
  return host_of(address, size);
}

std::size_t Socket::send_some(const void* bytes, std::size_t count) {
  for (;;) {
    const ssize_t sent = ::send(handle_, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) return static_cast<std::size_t>(sent);
    if (errno == EAGAIN || errno == EWOULDBLOCK) return 0;
    if (errno != EINTR) fail("the connection is broken");
  }
}

std::size_t Socket::receive_some(void* bytes, std::size_t count) {
  for (;;) {
    const ssize_t received = ::recv(handle_, bytes, count, MSG_DONTWAIT);
    if (received > 0) return static_cast<std::size_t>(received);
    if (received == 0) throw DistBackendError("the other end has closed the connection");
    if (errno == EAGAIN || errno == EWOULDBLOCK) return 0;
    if (errno != EINTR) fail("the connection is broken");
  }
}

void Socket::send_all(const void* bytes, std::size_t count, Clock::time_point deadline) {
  for (const auto* from = static_cast<const char*>(bytes); count > 0;) {
    const std::size_t sent = send_some(from, count);
    from += sent, count -= sent;
    if (sent == 0) wait_for(handle_, POLLOUT, deadline, "sending");
  }
}

void Socket::receive_all(void* bytes, std::size_t count, Clock::time_point deadline) {
  for (auto* to = static_cast<char*>(bytes); count > 0;) {
    const std::size_t received = receive_some(to, count);
    to += received, count -= received;
    if (received == 0) wait_for(handle_, POLLIN, deadline, "receiving");
  }
}

}  // namespace ocl::distributed
