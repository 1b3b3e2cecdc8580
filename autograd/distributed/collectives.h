#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "autograd/distributed/exchange.h"
#include "autograd/distributed/reduction.h"
#include "autograd/distributed/team.h"
#include "dlprim/core/tensor.h"
#include "dlprim/runtime/side_queue.h"

namespace ocl::distributed {

/** Moves pieces of tensors between devices and memory of the host, beside what the devices compute. */
class Copier {
 public:
  Copier() = default;
  Copier(const Copier&) = delete;
  Copier& operator=(const Copier&) = delete;

  /** Memory that transfers go through, page-locked where a device lets us. */
  void add_memory(void* memory, std::size_t bytes) { memories_.push_back({memory, bytes}); }

  /** `count` elements of a contiguous tensor from `first` on. */
  cl::Event down(const dlprim::Tensor& from, std::int64_t first, std::int64_t count, void* to);
  cl::Event up(const dlprim::Tensor& to, std::int64_t first, std::int64_t count, const void* from);
  void wait(const dlprim::Tensor& of, const cl::Event& event) { lanes_of(of.device()).down.wait(event); }
  /** Waits until the queue of a device has reached the mark. */
  void wait_for(const dlprim::Device& device, const dlprim::Mark& mark) {
    lanes_of(device).down.wait_for(mark);
  }

 private:
  struct Memory {
    void* start;
    std::size_t bytes;
  };
  /** One queue a direction, that both go at once. */
  struct Lanes {
    explicit Lanes(const dlprim::Device& device) : down(device), up(device) {}
    dlprim::SideQueue down, up;
  };
  Lanes& lanes_of(const dlprim::Device& device);

  std::vector<Memory> memories_;
  std::map<const dlprim::Device*, Lanes> lanes_;
};

enum class Function : std::uint8_t {
  all_reduce,
  reduce,
  broadcast,
  all_gather,
  gather,
  scatter,
  reduce_scatter,
  all_to_all,
  barrier,
  all_gather_bytes
};

/** The properties that every rank must call alike. */
struct Call {
  Function function;
  dlprim::DType dtype = dlprim::DType::uint8;
  ReduceOp op = ReduceOp::sum;
  int root = -1;           // -1: none
  std::int64_t count = 0;  // elements, of one rank's share; -1: it differs
};
std::string to_string(const Call& call);

/**
 * The collectives of a group, over messages: every one is written here once, whatever carries the messages.
 * All of them work by pieces, so that one is exchanged while the next comes from the device and the last goes
 * there.
 *
 * Sums are made directly, not along a ring. Rank j gets the j-th share of each piece from everyone and adds
 * the shares up in the order of ranks. It sends the result to everyone. Each rank sends as much as in a ring;
 * the order of additions is always 0, 1, 2, …, which is that of one process that accumulates as many batches.
 *
 * Tensors are contiguous. Work enqueued on them must be over; they are ready on return. One thread uses
 * it.
 */
class Collectives {
 public:
  /** Bytes of each of the two areas of a piece, and pieces that are under way. */
  static constexpr std::size_t area_bytes = 4 << 20, depth = 4;
  static constexpr std::size_t window_bytes = 2 * area_bytes * depth;

  /** `window` holds window_bytes; so many threads add up. */
  Collectives(int rank, int size, Exchange& exchange, Copier& copier, std::byte* window, int threads)
      : rank_(rank), size_(size), exchange_(exchange), copier_(copier), window_(window), team_(threads) {}

  /** In place, on all ranks or on `root` alone. */
  void all_reduce(const Call& call, const dlprim::Tensor& tensor);
  /** `in` holds as many shares of out's size as there are ranks. */
  void reduce_scatter(const Call& call, const dlprim::Tensor& in, const dlprim::Tensor& out);
  /** Sends `out[j]` to rank j and receives `in[j]` from it, those that are defined. `out` that are the same
   * for all leave the device once. Data that this rank has for itself is not moved. */
  void move(const Call& call, const std::vector<dlprim::Tensor>& out, const std::vector<dlprim::Tensor>& in);
  /** Every rank's bytes, of one length. */
  std::vector<std::string> all_gather_bytes(const std::string& own);
  void barrier() { agree({Function::barrier}, {}, {}); }

 private:
  struct Header;
  /** Waits until all ranks have come to the same call. Throws DistBackendError that says what they call
   * instead. Gives back the most bytes that one rank sends another. */
  std::int64_t agree(const Call& call, const std::vector<std::int64_t>& sent,
                     const std::vector<std::int64_t>& received, const std::vector<Outgoing>& eager = {});
  /** Whether a call's tensors are so small that they are sent before all have come to it: a collective has
   * one step then. */
  bool is_eager(const Call& call) const;
  void all_reduce_eagerly(const Call& call, const dlprim::Tensor& tensor);
  void move_eagerly(const Call& call, const std::vector<dlprim::Tensor>& out,
                    const std::vector<dlprim::Tensor>& in);
  /** Where the shares of a piece lie in a tensor. */
  struct Share {
    std::int64_t first, count;
  };
  struct Reduced;
  void reduce_pieces(const Call& call, const Reduced& what);
  void reduce_share(const Call& call, std::byte* out, const std::vector<const void*>& inputs,
                    std::size_t count);
  std::byte* area(std::size_t piece, int which) const {
    return window_ + (2 * (piece % depth) + static_cast<std::size_t>(which)) * area_bytes;
  }

  const int rank_, size_;
  Exchange& exchange_;
  Copier& copier_;
  std::byte* const window_;
  Team team_;
};

}  // namespace ocl::distributed
