#include "autograd/distributed/collectives.h"

#include <algorithm>
#include <array>

#include "autograd/distributed/error.h"
#include "dlprim/runtime/device.h"

namespace ocl::distributed {
namespace {

using dlprim::concat;
using dlprim::require;

dlprim::Tensor part_of(const dlprim::Tensor& tensor, std::int64_t first, std::int64_t count) {
  dlprim::Tensor part = tensor;
  part.shape = {count};
  part.strides = {1};
  part.offset += first;
  return part;
}

std::size_t bytes_of(const dlprim::Tensor& tensor, std::int64_t count) {
  return static_cast<std::size_t>(count) * size_of(tensor.dtype);
}

std::int64_t bytes_of(const dlprim::Tensor& tensor) {
  return tensor.defined() ? static_cast<std::int64_t>(bytes_of(tensor, tensor.numel())) : 0;
}

/** The transfers of one piece, and the tensors whose queues they are in. */
class Transfers {
 public:
  explicit Transfers(Copier& copier) : copier_(copier) {}
  void add(const dlprim::Tensor& tensor, const cl::Event& event) {
    if (event()) all_.push_back({tensor, event});
  }
  void wait() {
    for (const auto& [tensor, event] : all_) copier_.wait(tensor, event);
    all_.clear();
  }

 private:
  Copier& copier_;
  std::vector<std::pair<dlprim::Tensor, cl::Event>> all_;
};

/** Those of the last pieces, by the slot of each. */
class TransfersByPiece {
 public:
  explicit TransfersByPiece(Copier& copier)
      : slots_{Transfers(copier), Transfers(copier), Transfers(copier), Transfers(copier)} {}
  Transfers& of(std::size_t piece) { return slots_[piece % slots_.size()]; }
  void wait() {
    for (Transfers& slot : slots_) slot.wait();
  }

 private:
  std::array<Transfers, Collectives::depth> slots_;
};

}  // namespace

Copier::Lanes& Copier::lanes_of(const dlprim::Device& device) {
  const auto [found, is_new] = lanes_.try_emplace(&device, device);
  if (is_new && !device.info().shares_host_memory)
    for (const Memory& memory : memories_) found->second.up.lock_pages(memory.start, memory.bytes);
  return found->second;
}

cl::Event Copier::down(const dlprim::Tensor& from, std::int64_t first, std::int64_t count, void* to) {
  return lanes_of(from.device()).down.read(region_of(part_of(from, first, count)), to);
}

cl::Event Copier::up(const dlprim::Tensor& to, std::int64_t first, std::int64_t count, const void* from) {
  return lanes_of(to.device()).up.write(region_of(part_of(to, first, count)), from);
}

namespace {

const char* name(Function function) {
  constexpr const char* names[] = {"all_reduce", "reduce",          "broadcast",      "all_gather",
                                   "gather",     "scatter",         "reduce_scatter", "all_to_all",
                                   "barrier",    "all_gather_bytes"};
  return names[static_cast<int>(function)];
}

bool reduces(Function function) {
  return function == Function::all_reduce || function == Function::reduce ||
         function == Function::reduce_scatter;
}

}  // namespace

std::string to_string(const Call& call) {
  std::string text = name(call.function);
  if (reduces(call.function)) text += concat("(", name(call.op), ")");
  if (call.function == Function::barrier) return text;
  text += concat(" of ", dlprim::name(call.dtype));
  if (call.count >= 0) text += concat(", ", call.count, " elements");
  if (call.root >= 0) text += concat(", root ", call.root);
  return text;
}

/** The message that ranks send one another before a collective. It travels as bytes between builds of one
 * version. */
struct Collectives::Header {
  Function function;
  dlprim::DType dtype;
  std::uint8_t op, unused;
  std::int32_t root;
  std::int64_t count, most_bytes, to_you, from_you;

  Call call() const { return {function, dtype, static_cast<ReduceOp>(op), root, count}; }
};

std::int64_t Collectives::agree(const Call& call, const std::vector<std::int64_t>& sent,
                                const std::vector<std::int64_t>& received,
                                const std::vector<Outgoing>& eager) {
  std::vector<Header> mine(static_cast<std::size_t>(size_)), theirs(mine.size());
  std::int64_t most = 0;
  for (const auto* bytes : {&sent, &received})
    for (const std::int64_t some : *bytes) most = std::max(most, some);
  std::vector<Outgoing> out;
  std::vector<Incoming> in;
  for (std::size_t other = 0; other < mine.size(); ++other) {
    mine[other] = {call.function,
                   call.dtype,
                   static_cast<std::uint8_t>(call.op),
                   0,
                   call.root,
                   call.count,
                   most,
                   sent.empty() ? 0 : sent[other],
                   received.empty() ? 0 : received[other]};
    const int to = static_cast<int>(other);
    if (to == rank_) continue;
    out.push_back({to, &mine[other], sizeof(Header)});
    in.push_back({to, &theirs[other], sizeof(Header)});
  }
  out.insert(out.end(), eager.begin(), eager.end());
  const std::string text = to_string(call);
  exchange_.run(out, in, text);
  for (std::size_t other = 0; other < mine.size(); ++other) {
    if (static_cast<int>(other) == rank_) continue;
    const Header& header = theirs[other];
    const std::string other_text = to_string(header.call());
    require<DistBackendError>(text == other_text, "rank ", rank_, " calls ", text, ", but rank ", other,
                              " calls ", other_text);
    require<DistBackendError>(mine[other].from_you == header.to_you && mine[other].to_you == header.from_you,
                              text, ": rank ", rank_, " sends rank ", other, " ", mine[other].to_you,
                              " bytes and expects ", mine[other].from_you, ", but rank ", other, " expects ",
                              header.from_you, " and sends ", header.to_you);
    most = std::max(most, header.most_bytes);
  }
  return most;
}

std::vector<std::string> Collectives::all_gather_bytes(const std::string& own) {
  agree({Function::all_gather_bytes, dlprim::DType::uint8, ReduceOp::sum, -1,
         static_cast<std::int64_t>(own.size())},
        {}, {});
  std::vector<std::string> all(static_cast<std::size_t>(size_), std::string(own.size(), 0));
  all[static_cast<std::size_t>(rank_)] = own;
  std::vector<Outgoing> out;
  std::vector<Incoming> in;
  for (int other = 0; other < size_; ++other) {
    if (other == rank_) continue;
    out.push_back({other, own.data(), own.size()});
    in.push_back({other, all[static_cast<std::size_t>(other)].data(), own.size()});
  }
  exchange_.run(out, in, "all_gather_bytes");
  return all;
}

bool Collectives::is_eager(const Call& call) const {
  // The bytes that connections and rings take without anybody reading, so that no two wait for each other.
  constexpr std::size_t most_bytes = 16 << 10;
  const std::size_t bytes = static_cast<std::size_t>(call.count) * size_of(call.dtype);
  return call.count >= 0 && bytes <= most_bytes && bytes * static_cast<std::size_t>(size_) <= area_bytes;
}

/** Not from the window, in which others may still read what the last call has sent. */
void Collectives::all_reduce_eagerly(const Call& call, const dlprim::Tensor& tensor) {
  const std::size_t bytes = bytes_of(tensor, tensor.numel());
  std::vector<std::byte> own(bytes), theirs(bytes * static_cast<std::size_t>(size_));
  copier_.wait(tensor, copier_.down(tensor, 0, tensor.numel(), own.data()));
  std::vector<Outgoing> out, none;
  std::vector<Incoming> in;
  std::vector<const void*> contributions(static_cast<std::size_t>(size_), own.data());
  for (int other = 0; other < size_; ++other) {
    if (other == rank_) continue;
    const bool needs_mine = call.root < 0 || other == call.root,
               needs_theirs = call.root < 0 || rank_ == call.root;
    if (needs_mine) out.push_back({other, own.data(), bytes});
    if (needs_theirs) in.push_back({other, theirs.data() + static_cast<std::size_t>(other) * bytes, bytes});
  }
  agree(call, {}, {}, out);
  if (in.empty()) return;
  exchange_.run(none, in, to_string(call));
  for (const Incoming& message : in) contributions[static_cast<std::size_t>(message.from)] = message.data;
  reduce_elements(own.data(), contributions, static_cast<std::size_t>(tensor.numel()), call.dtype, call.op);
  copier_.wait(tensor, copier_.up(tensor, 0, tensor.numel(), own.data()));
}

void Collectives::move_eagerly(const Call& call, const std::vector<dlprim::Tensor>& out,
                               const std::vector<dlprim::Tensor>& in) {
  const std::size_t bytes = static_cast<std::size_t>(call.count) * size_of(call.dtype);
  std::vector<std::byte> own(bytes * static_cast<std::size_t>(size_)), theirs(own.size());
  std::vector<Outgoing> eager, none;
  std::vector<Incoming> incoming;
  Transfers downs(copier_), ups(copier_);
  for (int other = 0; other < size_; ++other) {
    const auto index = static_cast<std::size_t>(other);
    if (other == rank_) continue;
    if (out[index].defined()) {
      downs.add(out[index], copier_.down(out[index], 0, call.count, own.data() + index * bytes));
      eager.push_back({other, own.data() + index * bytes, bytes});
    }
    if (in[index].defined()) incoming.push_back({other, theirs.data() + index * bytes, bytes});
  }
  downs.wait();
  agree(call, {}, {}, eager);
  exchange_.run(none, incoming, to_string(call));
  for (const Incoming& message : incoming) {
    const dlprim::Tensor& tensor = in[static_cast<std::size_t>(message.from)];
    ups.add(tensor, copier_.up(tensor, 0, call.count, message.data));
  }
  ups.wait();
}

/**
 * Each rank's shares of one piece lie in the first area one after another, those that come for this rank in
 * the second. A slot is written again after `depth` pieces: by then all ranks have sent a message of a later
 * piece, and so have done with what they read there.
 */
void Collectives::move(const Call& call, const std::vector<dlprim::Tensor>& out,
                       const std::vector<dlprim::Tensor>& in) {
  if (is_eager(call)) return move_eagerly(call, out, in);
  std::vector<std::int64_t> sent, received;
  for (const dlprim::Tensor& tensor : out) sent.push_back(bytes_of(tensor));
  for (const dlprim::Tensor& tensor : in) received.push_back(bytes_of(tensor));
  sent[static_cast<std::size_t>(rank_)] = received[static_cast<std::size_t>(rank_)] = 0;
  const std::int64_t most = agree(call, sent, received);
  const std::string text = to_string(call);
  const std::int64_t element = static_cast<std::int64_t>(size_of(call.dtype));
  const std::int64_t step = static_cast<std::int64_t>(area_bytes) / size_ / element;  // elements
  const std::int64_t pieces = (most / element + step - 1) / step;
  const auto share = [&](const dlprim::Tensor& tensor, std::int64_t bytes, std::size_t piece) {
    const std::int64_t first = static_cast<std::int64_t>(piece) * step;
    const std::int64_t all = tensor.defined() ? bytes / element : 0;
    return Share{first, std::clamp<std::int64_t>(all - first, 0, step)};
  };
  const auto place = [&](std::size_t piece, int which, int other) {
    return area(piece, which) + static_cast<std::int64_t>(other) * step * element;
  };
  /** The first rank that gets the same from this one. */
  const auto alike = [&](int other) {
    int first = other;
    for (int rank = other - 1; rank >= 0; --rank) {
      const dlprim::Tensor &a = out[static_cast<std::size_t>(rank)],
                           &b = out[static_cast<std::size_t>(other)];
      if (rank != rank_ && a.defined() && b.defined() && a.storage == b.storage && a.offset == b.offset &&
          a.numel() == b.numel())
        first = rank;
    }
    return first;
  };
  TransfersByPiece downs(copier_), ups(copier_);
  const auto begin = [&](std::size_t piece) {
    for (int other = 0; other < size_; ++other) {
      const dlprim::Tensor& tensor = out[static_cast<std::size_t>(other)];
      const Share part = share(tensor, sent[static_cast<std::size_t>(other)], piece);
      if (part.count > 0 && alike(other) == other)
        downs.of(piece).add(tensor, copier_.down(tensor, part.first, part.count, place(piece, 0, other)));
    }
  };
  if (pieces > 0) begin(0);
  for (std::size_t piece = 0; piece < static_cast<std::size_t>(pieces); ++piece) {
    ups.of(piece + 1).wait();
    downs.of(piece).wait();
    std::vector<Outgoing> outgoing;
    std::vector<Incoming> incoming;
    for (int other = 0; other < size_; ++other) {
      if (other == rank_) continue;
      const auto index = static_cast<std::size_t>(other);
      const Share to = share(out[index], sent[index], piece), from = share(in[index], received[index], piece);
      outgoing.push_back(
          {other, place(piece, 0, alike(other)), static_cast<std::size_t>(to.count * element)});
      incoming.push_back({other, place(piece, 1, other), static_cast<std::size_t>(from.count * element)});
    }
    exchange_.run(outgoing, incoming, text);
    if (piece + 1 < static_cast<std::size_t>(pieces)) begin(piece + 1);
    for (const Incoming& message : incoming) {
      const auto index = static_cast<std::size_t>(message.from);
      const Share part = share(in[index], received[index], piece);
      if (part.count > 0)
        ups.of(piece).add(in[index], copier_.up(in[index], part.first, part.count, message.data));
    }
  }
  ups.wait();
}

/** The tensors of a reduction: shares of pieces, in the tensors they come from and go to. */
struct Collectives::Reduced {
  const dlprim::Tensor& in;
  const dlprim::Tensor& out;
  std::size_t pieces;
  std::function<Share(std::size_t piece, int rank)> source;  // rank's share, in `in`
  std::function<bool(int rank)> gets_all;                    // whether the rank gets every share
};

void Collectives::reduce_pieces(const Call& call, const Reduced& what) {
  const std::string text = to_string(call);
  const std::size_t element = size_of(call.dtype);
  TransfersByPiece downs(copier_), ups(copier_);
  /** Where the share of a rank begins in the first area. */
  const auto place = [&](std::size_t piece, int other) {
    std::int64_t before = 0;
    for (int rank = 0; rank < other; ++rank) before += what.source(piece, rank).count;
    return area(piece, 0) + static_cast<std::size_t>(before) * element;
  };
  const auto begin = [&](std::size_t piece) {
    for (int other = 0; other < size_;) {  // shares that lie side by side come down as one
      const Share first = what.source(piece, other);
      std::byte* const to = place(piece, other);
      std::int64_t count = first.count;
      for (++other; other < size_ && what.source(piece, other).first == first.first + count; ++other)
        count += what.source(piece, other).count;
      downs.of(piece).add(what.in, copier_.down(what.in, first.first, count, to));
    }
  };
  if (what.pieces > 0) begin(0);
  for (std::size_t piece = 0; piece < what.pieces; ++piece) {
    ups.of(piece + 1).wait();
    downs.of(piece).wait();
    const auto count = static_cast<std::size_t>(what.source(piece, rank_).count);
    std::byte* const own = place(piece, rank_);
    {
      std::vector<Outgoing> out;
      std::vector<Incoming> in;
      for (int other = 0; other < size_; ++other) {
        if (other == rank_) continue;
        const auto theirs = static_cast<std::size_t>(what.source(piece, other).count);
        out.push_back({other, place(piece, other), theirs * element});
        in.push_back(
            {other, area(piece, 1) + static_cast<std::size_t>(other) * count * element, count * element});
      }
      exchange_.run(out, in, text);
      if (piece + 1 < what.pieces) begin(piece + 1);
      std::vector<const void*> contributions(static_cast<std::size_t>(size_), own);
      for (const Incoming& message : in) contributions[static_cast<std::size_t>(message.from)] = message.data;
      reduce_share(call, own, contributions, count);
    }
    std::vector<const void*> shares(static_cast<std::size_t>(size_), nullptr);
    shares[static_cast<std::size_t>(rank_)] = own;
    std::vector<Outgoing> out;
    std::vector<Incoming> in;
    for (int other = 0; other < size_; ++other) {
      if (other == rank_) continue;
      if (what.gets_all(other)) out.push_back({other, own, count * element});
      if (what.gets_all(rank_))
        in.push_back({other, place(piece, other),
                      static_cast<std::size_t>(what.source(piece, other).count) * element});
    }
    exchange_.run(out, in, text);
    for (const Incoming& message : in) shares[static_cast<std::size_t>(message.from)] = message.data;
    const bool scatters = call.function == Function::reduce_scatter;
    if (!scatters && !what.gets_all(rank_)) continue;
    for (int other = 0; other < size_; ++other) {
      const void* const share = shares[static_cast<std::size_t>(other)];
      if (!share) continue;
      Share part = what.source(piece, other);
      if (scatters) part.first -= static_cast<std::int64_t>(other) * what.out.numel();
      ups.of(piece).add(what.out, copier_.up(what.out, part.first, part.count, share));
    }
  }
  ups.wait();
}

/** A part for each thread; which one an element is in does not change its sum. */
void Collectives::reduce_share(const Call& call, std::byte* out, const std::vector<const void*>& inputs,
                               std::size_t count) {
  constexpr std::size_t least_bytes = 256 << 10;  // waking threads costs some microseconds
  const std::size_t element = size_of(call.dtype), threads = static_cast<std::size_t>(team_.threads());
  if (threads == 1 || count * element < least_bytes)
    return reduce_elements(out, inputs, count, call.dtype, call.op);
  const std::size_t each = (count / threads + 15) / 16 * 16;  // no two write to one line of a cache
  team_.run([&](int number) {
    const std::size_t first = std::min(count, static_cast<std::size_t>(number) * each);
    const std::size_t end =
        static_cast<std::size_t>(number) + 1 == threads ? count : std::min(count, first + each);
    std::vector<const void*> parts;
    for (const void* input : inputs) parts.push_back(static_cast<const std::byte*>(input) + first * element);
    reduce_elements(out + first * element, parts, end - first, call.dtype, call.op);
  });
}

void Collectives::all_reduce(const Call& call, const dlprim::Tensor& tensor) {
  if (is_eager(call)) return all_reduce_eagerly(call, tensor);
  agree(call, {}, {});
  if (size_ == 1) return;
  const std::int64_t all = tensor.numel(), element = static_cast<std::int64_t>(size_of(call.dtype));
  const std::int64_t step = static_cast<std::int64_t>(area_bytes) / element / size_ * size_;
  const auto source = [=](std::size_t piece, int rank) {
    const std::int64_t first = static_cast<std::int64_t>(piece) * step, count = std::min(step, all - first);
    const std::int64_t each = (count + size_ - 1) / size_, before = std::min(count, each * rank);
    return Share{first + before, std::min(each, count - before)};
  };
  const auto gets_all = [&](int rank) { return call.root < 0 || rank == call.root; };
  reduce_pieces(call, {tensor, tensor, static_cast<std::size_t>((all + step - 1) / step), source, gets_all});
}

void Collectives::reduce_scatter(const Call& call, const dlprim::Tensor& in, const dlprim::Tensor& out) {
  agree(call, {}, {});
  const std::int64_t all = out.numel(), element = static_cast<std::int64_t>(size_of(call.dtype));
  const std::int64_t step = static_cast<std::int64_t>(area_bytes) / element / size_;
  const auto source = [=](std::size_t piece, int rank) {
    const std::int64_t first = static_cast<std::int64_t>(piece) * step;
    return Share{rank * all + first, std::min(step, all - first)};
  };
  const auto nobody = [](int) { return false; };
  reduce_pieces(call, {in, out, static_cast<std::size_t>((all + step - 1) / step), source, nobody});
}

}  // namespace ocl::distributed
