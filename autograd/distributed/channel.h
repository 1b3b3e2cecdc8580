#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "autograd/distributed/mesh.h"

namespace ocl::distributed {

/** Bytes for another rank. */
struct Outgoing {
  int to;
  const void* data;
  std::size_t bytes;
  std::size_t done = 0;  // the channel's
  bool is_over = false;
};

/** Bytes from another rank. They lie at `data` once it is over: at `into`, or where the sender has them. */
struct Incoming {
  int from;
  void* into;
  std::size_t bytes;
  const void* data = nullptr;
  std::size_t done = 0;  // the channel's
  bool is_over = false;
};

/**
 * Messages to and from one other rank, in order, as large as the receiver expects. Nothing waits: who calls
 * goes on with a message until it is over. A sent message in a shared window (SharedMemory) is read where it
 * lies; the algorithm, not the channel, says when the window may be written again.
 *
 * One thread sends, one receives.
 */
class Channel {
 public:
  virtual ~Channel() = default;
  /** Goes on; true where something moved. Throws DistBackendError where the connection is broken. */
  virtual bool send(Outgoing& message) = 0;
  virtual bool receive(Incoming& message) = 0;
  /** Before the caller, which still sends or receives, sleeps until socket() says that something has moved:
   * true where it must not, since something has. */
  virtual bool announce_sleep(bool /*sends*/, bool /*receives*/) { return false; }
  /** After it has slept. */
  virtual void wake_up() {}
  /** Readable when a message may go on. */
  virtual int socket() const = 0;
  /** Whether a message that has to be sent waits for the socket to become writable. */
  virtual bool sends_by_socket() const = 0;
};

/** Over a connection, which must outlive it. */
std::unique_ptr<Channel> make_tcp_channel(Socket& socket);

/** Memory of this process that other processes of the host map: rings of bytes to each rank, and a window. */
class SharedMemory {
 public:
  /** For `size` ranks, with a window of that many bytes. */
  SharedMemory(int size, std::size_t window);
  /** The memory of another process, as it describes it. Throws DistBackendError where it cannot be mapped. */
  SharedMemory(int size, std::size_t window, std::int64_t process, int handle);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  int handle() const { return handle_; }
  std::byte* window() const { return memory_ + window_start_; }
  std::size_t window_bytes() const { return bytes_ - window_start_; }
  struct Ring;
  /** The ring of messages to that rank. */
  Ring& ring_to(int rank) const;

 private:
  void map();

  int handle_ = -1;
  std::byte* memory_ = nullptr;
  std::size_t bytes_, window_start_;
};

/** Through the memory of both; `doorbell` wakes the one that sleeps. */
std::unique_ptr<Channel> make_shared_channel(const SharedMemory& own, std::shared_ptr<SharedMemory> other,
                                             int rank, int other_rank, Socket& doorbell);

}  // namespace ocl::distributed
