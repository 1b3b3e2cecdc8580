#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>
#include <string>

#include "autograd/distributed/channel.h"
#include "autograd/distributed/error.h"

namespace ocl::distributed {
namespace {

using dlprim::concat;

constexpr std::size_t ring_bytes = 64 << 10, page = 4096;

std::size_t rounded(std::size_t bytes) {
  return (bytes + page - 1) / page * page;
}

}  // namespace

/** Written by one process, read by another. Positions count bytes from the beginning and never wrap. */
struct SharedMemory::Ring {
  alignas(64) std::atomic<std::uint64_t> written;
  std::atomic<std::uint32_t> reader_sleeps;
  alignas(64) std::atomic<std::uint64_t> read;
  std::atomic<std::uint32_t> writer_sleeps;
  alignas(64) std::byte bytes[ring_bytes];

  std::size_t put(const void* from, std::size_t count) {
    const std::uint64_t at = written.load(std::memory_order_relaxed);
    const std::size_t room = ring_bytes - static_cast<std::size_t>(at - read.load(std::memory_order_acquire));
    const std::size_t moved = std::min(room, count), start = at % ring_bytes;
    const std::size_t first = std::min(moved, ring_bytes - start);
    std::memcpy(bytes + start, from, first);
    std::memcpy(bytes, static_cast<const char*>(from) + first, moved - first);
    written.store(at + moved, std::memory_order_seq_cst);
    return moved;
  }

  std::size_t take(void* to, std::size_t count) {
    const std::uint64_t at = read.load(std::memory_order_relaxed);
    const std::size_t there = static_cast<std::size_t>(written.load(std::memory_order_acquire) - at);
    const std::size_t moved = std::min(there, count), start = at % ring_bytes;
    const std::size_t first = std::min(moved, ring_bytes - start);
    std::memcpy(to, bytes + start, first);
    std::memcpy(static_cast<char*>(to) + first, bytes, moved - first);
    read.store(at + moved, std::memory_order_seq_cst);
    return moved;
  }

  bool has_room() const { return written.load() - read.load() < ring_bytes; }
  bool has_bytes() const { return written.load() != read.load(); }
};

SharedMemory::SharedMemory(int size, std::size_t window)
    : bytes_(0), window_start_(rounded(static_cast<std::size_t>(size) * sizeof(Ring))) {
  bytes_ = window_start_ + rounded(window);
  handle_ = ::memfd_create("tapecl-distributed", MFD_CLOEXEC);
  if (handle_ < 0 || ::ftruncate(handle_, static_cast<off_t>(bytes_)) != 0)
    throw DistBackendError(concat("no shared memory of ", bytes_, " bytes: ", std::strerror(errno)));
  map();
}

SharedMemory::SharedMemory(int size, std::size_t window, std::int64_t process, int handle)
    : bytes_(0), window_start_(rounded(static_cast<std::size_t>(size) * sizeof(Ring))) {
  bytes_ = window_start_ + rounded(window);
  const std::string path = concat("/proc/", process, "/fd/", handle);
  handle_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (handle_ < 0) throw DistBackendError(concat(path, ": ", std::strerror(errno)));
  map();
}

void SharedMemory::map() {
  void* mapped = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, handle_, 0);
  if (mapped == MAP_FAILED)
    throw DistBackendError(concat("shared memory cannot be mapped: ", std::strerror(errno)));
  memory_ = static_cast<std::byte*>(mapped);
}

SharedMemory::~SharedMemory() {
  if (memory_) ::munmap(memory_, bytes_);
  if (handle_ >= 0) ::close(handle_);
}

SharedMemory::Ring& SharedMemory::ring_to(int rank) const {
  return reinterpret_cast<Ring*>(memory_)[rank];  // zeros, which new memory is, are an empty ring
}

namespace {

/** The header before the bytes of a message in the ring, or in their place. */
struct Frame {
  std::uint64_t bytes;
  std::uint64_t window_offset;  // in_ring: the bytes follow
  static constexpr std::uint64_t in_ring = UINT64_MAX;
};

class SharedChannel final : public Channel {
 public:
  SharedChannel(const SharedMemory& own, std::shared_ptr<SharedMemory> other, int rank, int other_rank,
                Socket& doorbell)
      : own_(own),
        other_(std::move(other)),
        out_(own.ring_to(other_rank)),
        in_(other_->ring_to(rank)),
        doorbell_(doorbell) {}

  bool send(Outgoing& message) override {
    const auto* data = static_cast<const std::byte*>(message.data);
    const bool in_window = message.bytes > 0 && data >= own_.window() &&
                           data + message.bytes <= own_.window() + own_.window_bytes();
    const Frame frame{message.bytes,
                      in_window ? static_cast<std::uint64_t>(data - own_.window()) : Frame::in_ring};
    const std::size_t in_ring = in_window ? 0 : message.bytes;
    bool has_moved = false;
    while (message.done < sizeof frame + in_ring) {
      const bool is_frame = message.done < sizeof frame;
      const std::size_t moved =
          is_frame ? out_.put(reinterpret_cast<const std::byte*>(&frame) + message.done,
                              sizeof frame - message.done)
                   : out_.put(data + (message.done - sizeof frame), sizeof frame + in_ring - message.done);
      if (moved == 0) break;
      message.done += moved;
      has_moved = true;
    }
    if (has_moved) ring(out_.reader_sleeps);
    message.is_over = message.done == sizeof frame + in_ring;
    return has_moved;
  }

  bool receive(Incoming& message) override {
    bool has_moved = false;
    while (message.done < sizeof(Frame)) {
      const std::size_t moved =
          in_.take(reinterpret_cast<std::byte*>(&frame_) + message.done, sizeof(Frame) - message.done);
      if (moved == 0) return has_moved;
      message.done += moved;
      has_moved = true;
    }
    if (frame_.bytes != message.bytes)
      throw DistBackendError(concat("a message of ", frame_.bytes, " bytes from rank ", message.from,
                                    ", not of ", message.bytes));
    const bool in_ring = frame_.window_offset == Frame::in_ring;
    const std::size_t all = sizeof(Frame) + (in_ring ? message.bytes : 0);
    while (message.done < all) {
      const std::size_t moved = in_.take(
          static_cast<std::byte*>(message.into) + (message.done - sizeof(Frame)), all - message.done);
      if (moved == 0) break;
      message.done += moved;
      has_moved = true;
    }
    if (has_moved) ring(in_.writer_sleeps);
    message.is_over = message.done == all;
    if (message.is_over) message.data = in_ring ? message.into : other_->window() + frame_.window_offset;
    return has_moved;
  }

  bool announce_sleep(bool sends, bool receives) override {
    if (sends) out_.writer_sleeps.store(1, std::memory_order_seq_cst);
    if (receives) in_.reader_sleeps.store(1, std::memory_order_seq_cst);
    return (sends && out_.has_room()) || (receives && in_.has_bytes());
  }

  void wake_up() override {
    out_.writer_sleeps.store(0, std::memory_order_relaxed);
    in_.reader_sleeps.store(0, std::memory_order_relaxed);
    try {
      char rung[64];
      while (doorbell_.receive_some(rung, sizeof rung) == sizeof rung) {
      }
    } catch (const DistBackendError&) {
      // The last message of a rank that has ended may still be there; the watch reports ended ranks.
    }
  }

  int socket() const override { return doorbell_.handle(); }
  bool sends_by_socket() const override { return false; }

 private:
  void ring(std::atomic<std::uint32_t>& sleeps) {
    if (sleeps.exchange(0, std::memory_order_seq_cst) == 0) return;
    const char call = 1;
    try {
      doorbell_.send_some(&call, 1);  // where its buffer is full, the other has calls enough
    } catch (const DistBackendError&) {
      // Who has gone need not wake up; who misses it hears of it from the watch.
    }
  }

  const SharedMemory& own_;
  const std::shared_ptr<SharedMemory> other_;
  SharedMemory::Ring &out_, &in_;
  Socket& doorbell_;
  Frame frame_{};  // of the message that comes
};

}  // namespace

std::unique_ptr<Channel> make_shared_channel(const SharedMemory& own, std::shared_ptr<SharedMemory> other,
                                             int rank, int other_rank, Socket& doorbell) {
  return std::make_unique<SharedChannel>(own, std::move(other), rank, other_rank, doorbell);
}

}  // namespace ocl::distributed
