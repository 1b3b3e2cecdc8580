#include "autograd/distributed/process_group.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "autograd/distributed/collectives.h"
#include "autograd/distributed/messages.h"
#include "autograd/distributed/mpi/mpi.h"
#include "autograd/ops/views.h"
#include "autograd/tape/tape.h"
#include "autograd/tensor/creation.h"
#include "dlprim/runtime/capture.h"
#include "dlprim/runtime/device.h"

namespace ocl::distributed {
namespace {

using dlprim::concat;
using dlprim::require;

std::string host_name_of(const Card& card) {
  return concat("process ", card.process, " on ", card.host);
}

/** Every rank's card, by rank. */
std::vector<Card> meet_by_mpi(Card own) {
  ::gethostname(own.host, sizeof own.host - 1);
  std::vector<Card> cards = Mpi::of_process().all_gather(own);
  const bool is_one_machine = std::all_of(cards.begin(), cards.end(), [&](const Card& card) {
    return own.machine[0] && !std::strcmp(card.machine, own.machine);
  });
  if (is_one_machine)  // which may not know its own name
    for (Card& card : cards) std::strcpy(card.host, "127.0.0.1");
  return cards;
}

}  // namespace

/** The parts of a group, in the order in which it is made; it goes the other way round. */
struct ProcessGroup::State {
  State(const std::vector<Card>& cards, std::vector<Connections> made, int own,
        std::vector<int> numbers_of_ranks, Seconds limit, std::unique_ptr<MpiGroup> group_of_mpi = nullptr)
      : rank(own),
        size(static_cast<int>(cards.size())),
        numbers(std::move(numbers_of_ranks)),
        timeout(limit),
        connections(std::move(made)),
        mpi(std::move(group_of_mpi)),
        health(size),
        memory(size, Collectives::window_bytes),
        shares(static_cast<std::size_t>(size)) {
    std::vector<std::string> names;
    for (std::size_t other = 0; other < cards.size(); ++other) {
      names.push_back(concat("rank ", numbers[other], " (", host_name_of(cards[other]), ")"));
      hosts.emplace_back(cards[other].host, sizeof cards[other].host);
    }
    copier.add_memory(memory.window(), memory.window_bytes());
    exchange = std::make_unique<Exchange>(channels(cards), numbers, health, timeout);
    collectives =
        std::make_unique<Collectives>(rank, size, *exchange, copier, memory.window(), threads_of(cards));
    watch = std::make_unique<Watch>(connections, rank, health, std::move(names));
    lane = std::make_unique<Lane>();
  }

  ~State() { close(); }

  void close() {
    health.fail("the process group was destroyed");
    {
      const std::lock_guard lock(lanes_mutex);
      for (auto& [key, made] : lanes) made->lane.stop();
    }
    lane->stop();
    watch->leave();
    for (Connections& one : connections)
      for (Socket& socket : one.sockets) socket.close();
  }

  /** Throws the reason for which the group has failed, here or on another rank: that of all later calls. */
  [[noreturn]] void fail(const std::string& reason) {
    watch->fail(reason);
    health.throw_reason();
  }

  /** A rank's share of the host's processors. */
  int threads_of(const std::vector<Card>& cards) const {
    const auto alike = [&](const Card& card) {
      return !std::strcmp(card.machine, cards[static_cast<std::size_t>(rank)].machine);
    };
    const auto neighbours = std::count_if(cards.begin(), cards.end(), alike);
    const auto processors = static_cast<std::ptrdiff_t>(std::thread::hardware_concurrency());
    return static_cast<int>(std::clamp<std::ptrdiff_t>(processors / neighbours, 1, 8));
  }

  /** The channel to a rank of another host. */
  std::unique_ptr<Channel> channel_between_hosts(std::size_t other, Plane plane) {
    return mpi ? mpi->channel(static_cast<int>(other), plane) : make_tcp_channel(connections[other][plane]);
  }

  /** Shared memory where both ranks can map the other's, else what goes between hosts. All ranks come here at
   * once. */
  std::vector<std::unique_ptr<Channel>> channels(const std::vector<Card>& cards) {
    struct Offer {
      std::int64_t process, handle;
    };
    std::vector<std::unique_ptr<Channel>> made(cards.size());
    std::vector<std::shared_ptr<SharedMemory>> theirs(cards.size());
    const auto deadline = deadline_in(timeout);
    const auto for_neighbours = [&](const auto& act) {
      for (std::size_t other = 0; other < cards.size(); ++other) {
        const Card &mine = cards[static_cast<std::size_t>(rank)], &card = cards[other];
        if (static_cast<int>(other) != rank && mine.machine[0] && !std::strcmp(mine.machine, card.machine))
          act(other, connections[other][Plane::collectives]);
      }
    };
    const Offer own{cards[static_cast<std::size_t>(rank)].process, memory.handle()};
    for_neighbours([&](std::size_t, Socket& socket) { socket.send_all(&own, sizeof own, deadline); });
    for_neighbours([&](std::size_t other, Socket& socket) {
      Offer offer{};
      socket.receive_all(&offer, sizeof offer, deadline);
      try {
        theirs[other] = std::make_shared<SharedMemory>(size, Collectives::window_bytes, offer.process,
                                                       static_cast<int>(offer.handle));
      } catch (const DistBackendError&) {
        // They go as between hosts: another user's process, or one behind a security module.
      }
      const char can = theirs[other] != nullptr;
      socket.send_all(&can, 1, deadline);
    });
    for_neighbours([&](std::size_t other, Socket& socket) {
      char can = 0;
      socket.receive_all(&can, 1, deadline);
      if (!can || !theirs[other]) return;
      copier.add_memory(theirs[other]->window(), theirs[other]->window_bytes());
      made[other] = make_shared_channel(memory, theirs[other], rank, static_cast<int>(other), socket);
      shares[other] = true;
    });
    for (std::size_t other = 0; other < cards.size(); ++other)
      if (static_cast<int>(other) != rank && !made[other])
        made[other] = channel_between_hosts(other, Plane::collectives);
    return made;
  }

  /** The thread that sends messages to a rank, or receives from it. */
  struct MessageLane {
    std::unique_ptr<Messages> messages;
    Lane lane;  // ends first
  };
  MessageLane& messages_with(int other, bool sends) {
    const std::lock_guard lock(lanes_mutex);
    std::unique_ptr<MessageLane>& made = lanes[{other, sends}];
    if (!made) {
      made = std::make_unique<MessageLane>();
      std::vector<std::unique_ptr<Channel>> one(static_cast<std::size_t>(size));
      one[static_cast<std::size_t>(other)] =
          channel_between_hosts(static_cast<std::size_t>(other), Plane::messages);
      made->messages = std::make_unique<Messages>(
          numbers, rank, other, std::make_unique<Exchange>(std::move(one), numbers, health, timeout));
    }
    return *made;
  }

  const int rank, size;
  const std::vector<int> numbers;
  const Seconds timeout;
  std::vector<std::string> hosts;
  std::vector<Connections> connections;
  const std::unique_ptr<MpiGroup> mpi;  // null: connections carry all
  Health health;
  SharedMemory memory;
  std::vector<bool> shares;
  Copier copier;
  std::unique_ptr<Exchange> exchange;
  std::unique_ptr<Collectives> collectives;
  std::unique_ptr<Watch> watch;
  std::unique_ptr<Lane> lane;
  std::mutex lanes_mutex;
  std::map<std::pair<int, bool>, std::unique_ptr<MessageLane>> lanes;
};

/** One call on its way to a lane: the memory of its tensors, and what comes after and before it. */
class ProcessGroup::Issue {
 public:
  Issue(ProcessGroup& group, const char* function) : state_(*group.state_), function_(function) {
    state_.health.require();
  }

  /** Elements that are read. */
  dlprim::Tensor input(const Tensor& tensor) {
    check(tensor);
    const NoGradGuard no_grad;
    return noted(tensor.contiguous());
  }

  /** Elements that are written, or with `is_read` both. A tensor that is not contiguous is written by who
   * waits. */
  dlprim::Tensor output(const Tensor& tensor, bool is_read = false) {
    check(tensor);
    tensor.data().storage->bump_version();
    if (tensor.is_contiguous()) return noted(tensor);
    const NoGradGuard no_grad;
    const Tensor dense = is_read ? tensor.clone(dlprim::MemoryFormat::contiguous)
                                 : empty(tensor.shape().vector(), tensor.dtype(), tensor.device());
    copies_.push_back({tensor.detach(), dense.detach()});
    return noted(dense);
  }

  void require_like(const Tensor& a, const Tensor& b, const char* what) const {
    require(a.dtype() == b.dtype() && a.numel() == b.numel(), function_, ": ", what, " of ",
            dlprim::name(a.dtype()), " ", a.shape(), " for one of ", dlprim::name(b.dtype()), " ", b.shape());
  }

  template <class Task>
  WorkHandle submit(Lane& lane, Copier& copier, const Task& task) {
    std::function<void()> after;
    if (!copies_.empty())
      after = [copies = std::move(copies_)] {
        const NoGradGuard no_grad;
        for (auto [target, source] : copies) target.copy_(source);
      };
    const auto work = std::make_shared<Work>(std::move(after));
    std::vector<std::pair<dlprim::Device*, dlprim::Mark>> marks;
    for (dlprim::Device* device : devices_) marks.push_back({device, device->queue().mark()});
    lane.submit(
        [&state = state_, &copier, task, marks, function = function_] {
          try {
            state.health.require();
            for (const auto& [device, mark] : marks) copier.wait_for(*device, mark);
            task();
          } catch (const DistBackendError& error) {
            state.fail(error.what());
          } catch (const std::exception& error) {
            state.fail(concat("rank ", state.numbers[static_cast<std::size_t>(state.rank)], ": ", function,
                              " failed: ", error.what()));
          }
        },
        work);
    return work;
  }
  template <class Task>
  WorkHandle submit(const Task& task) {
    return submit(*state_.lane, state_.copier,
                  [&collectives = *state_.collectives, task] { task(collectives); });
  }

 private:
  void check(const Tensor& tensor) const {
    require<TypeError>(tensor.defined(), function_, ": expected a tensor, got an undefined one");
    require<Error>(dlprim::call_state.has_elements, function_,
                   ": a tensor's elements were asked for under shapes_only");
    dlprim::refuse_in_capture(*tensor.device(), "a collective was called");
  }

  dlprim::Tensor noted(const Tensor& tensor) {
    const dlprim::Tensor& data = tensor.data();
    data.device().queue().await_upload(*data.storage);
    data.storage->buffer();  // used from now on, as far as uploads are concerned
    devices_.insert(&data.device());
    return data;
  }

  State& state_;
  const char* const function_;
  std::set<dlprim::Device*> devices_;
  std::vector<std::pair<Tensor, Tensor>> copies_;
};

ProcessGroup::ProcessGroup(std::unique_ptr<State> state) : state_(std::move(state)) {}
ProcessGroup::~ProcessGroup() = default;
void ProcessGroup::close() {
  state_->close();
}

std::shared_ptr<ProcessGroup> ProcessGroup::connect(const GroupOptions& options) {
  require(options.size >= 1, "connect: a world size of ", options.size);
  require(options.rank >= 0 && options.rank < options.size, "connect: rank ", options.rank, " in a world of ",
          options.size);
  require(options.timeout.count() > 0, "connect: a time-out of ", options.timeout.count(), " s");
  const auto deadline = deadline_in(options.timeout);
  Socket listener = Socket::listen(0);
  const std::vector<Card> cards =
      meet(options.master, own_card(options.rank, options.size, listener), deadline);
  std::vector<int> numbers;
  for (int rank = 0; rank < options.size; ++rank) numbers.push_back(rank);
  return std::shared_ptr<ProcessGroup>(new ProcessGroup(
      std::make_unique<State>(cards, distributed::connect(cards, options.rank, listener, deadline),
                              options.rank, std::move(numbers), options.timeout)));
}

std::shared_ptr<ProcessGroup> ProcessGroup::connect_by_mpi(Seconds timeout) {
  require(timeout.count() > 0, "connect_by_mpi: a time-out of ", timeout.count(), " s");
  const Mpi& mpi = Mpi::of_process();
  Socket listener = Socket::listen(0);
  const std::vector<Card> cards = meet_by_mpi(own_card(mpi.rank(), mpi.size(), listener));
  std::vector<int> numbers;
  for (int rank = 0; rank < mpi.size(); ++rank) numbers.push_back(rank);
  auto group = std::make_unique<MpiGroup>(numbers, cards[0].token);
  return std::shared_ptr<ProcessGroup>(new ProcessGroup(
      std::make_unique<State>(cards, distributed::connect(cards, mpi.rank(), listener, deadline_in(timeout)),
                              mpi.rank(), std::move(numbers), timeout, std::move(group))));
}

std::shared_ptr<ProcessGroup> ProcessGroup::subgroup(const std::vector<int>& ranks) {
  require(!ranks.empty() && std::set<int>(ranks.begin(), ranks.end()).size() == ranks.size(),
          "subgroup: expected ranks, each once");
  for (const int rank : ranks) checked_rank("subgroup", rank);
  const auto found = std::find(ranks.begin(), ranks.end(), rank());
  const bool is_member = found != ranks.end();
  const int own = static_cast<int>(found - ranks.begin());
  Socket listener = Socket::listen(0);
  const Card card = own_card(is_member ? own : -1, static_cast<int>(ranks.size()), listener);
  const std::vector<std::string> all =
      all_gather_bytes(std::string(reinterpret_cast<const char*>(&card), sizeof card));
  std::vector<Card> cards(ranks.size());
  std::vector<int> numbers;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto rank = static_cast<std::size_t>(ranks[i]);
    std::memcpy(&cards[i], all[rank].data(), sizeof(Card));
    require<DistBackendError>(cards[i].rank == static_cast<int>(i) && cards[i].size == card.size,
                              "subgroup: rank ", rank, " asks for other ranks");
    std::memcpy(cards[i].host, state_->hosts[rank].data(), sizeof cards[i].host);
    numbers.push_back(state_->numbers[rank]);
  }
  if (!is_member) return nullptr;
  auto group = uses_mpi() ? std::make_unique<MpiGroup>(numbers, cards[0].token) : nullptr;
  return std::shared_ptr<ProcessGroup>(new ProcessGroup(
      std::make_unique<State>(cards, distributed::connect(cards, own, listener, deadline_in(timeout())), own,
                              std::move(numbers), timeout(), std::move(group))));
}

int ProcessGroup::rank() const {
  return state_->rank;
}
int ProcessGroup::size() const {
  return state_->size;
}
const std::vector<int>& ProcessGroup::global_ranks() const {
  return state_->numbers;
}
Seconds ProcessGroup::timeout() const {
  return state_->timeout;
}
bool ProcessGroup::shares_memory_with(int rank) const {
  return state_->shares[static_cast<std::size_t>(checked_rank("shares_memory_with", rank))];
}

bool ProcessGroup::uses_mpi() const {
  return state_->mpi != nullptr;
}

int ProcessGroup::checked_rank(const char* function, int rank) const {
  require(rank >= 0 && rank < size(), function, ": there is no rank ", rank, " in a group of ", size());
  return rank;
}

WorkHandle ProcessGroup::all_reduce_to(const char* function, const Tensor& tensor, int root, ReduceOp op) {
  Issue issue(*this, function);
  require_reducible(tensor.dtype(), op, function);
  const dlprim::Tensor data = issue.output(tensor, true);
  const Call call{root < 0 ? Function::all_reduce : Function::reduce, data.dtype, op, root, data.numel()};
  return issue.submit([=](Collectives& collectives) { collectives.all_reduce(call, data); });
}

WorkHandle ProcessGroup::all_reduce(const Tensor& tensor, ReduceOp op) {
  return all_reduce_to("all_reduce", tensor, -1, op);
}

WorkHandle ProcessGroup::reduce(const Tensor& tensor, int dst, ReduceOp op) {
  return all_reduce_to("reduce", tensor, checked_rank("reduce", dst), op);
}

WorkHandle ProcessGroup::broadcast(const Tensor& tensor, int src) {
  checked_rank("broadcast", src);
  Issue issue(*this, "broadcast");
  const bool sends = rank() == src;
  const dlprim::Tensor data = sends ? issue.input(tensor) : issue.output(tensor);
  std::vector<dlprim::Tensor> out(static_cast<std::size_t>(size())), in(out.size());
  if (sends)
    std::fill(out.begin(), out.end(), data);
  else
    in[static_cast<std::size_t>(src)] = data;
  const Call call{Function::broadcast, data.dtype, ReduceOp::sum, src, data.numel()};
  return issue.submit([=](Collectives& collectives) { collectives.move(call, out, in); });
}

namespace {

/** Lists of one tensor for each rank, and what this rank has for itself, which no message carries. */
void copy_own(const Tensor& target, const Tensor& source) {
  const NoGradGuard no_grad;
  Tensor(target.detach()).copy_(source.detach().view(target.shape().vector()));
}

}  // namespace

WorkHandle ProcessGroup::all_gather(const TensorList& outputs, const Tensor& input) {
  Issue issue(*this, "all_gather");
  require(static_cast<int>(outputs.size()) == size(), "all_gather: ", outputs.size(), " outputs for ", size(),
          " ranks");
  std::vector<dlprim::Tensor> in;
  for (int other = 0; other < size(); ++other) {
    const Tensor& output = outputs[static_cast<std::size_t>(other)];
    issue.require_like(output, input, "an output");
    if (other == rank()) copy_own(output, input.contiguous());
    in.push_back(other == rank() ? dlprim::Tensor() : issue.output(output));
  }
  const dlprim::Tensor data = issue.input(input);
  const std::vector<dlprim::Tensor> out(in.size(), data);
  const Call call{Function::all_gather, data.dtype, ReduceOp::sum, -1, data.numel()};
  return issue.submit([=](Collectives& collectives) { collectives.move(call, out, in); });
}

WorkHandle ProcessGroup::gather(const TensorList& outputs, const Tensor& input, int dst) {
  checked_rank("gather", dst);
  Issue issue(*this, "gather");
  const std::size_t expected = rank() == dst ? static_cast<std::size_t>(size()) : 0;
  require(outputs.size() == expected, "gather: ", outputs.size(), " outputs, expected ", expected);
  std::vector<dlprim::Tensor> out(static_cast<std::size_t>(size())), in(out.size());
  for (std::size_t other = 0; other < expected; ++other) {
    issue.require_like(outputs[other], input, "an output");
    if (static_cast<int>(other) == rank())
      copy_own(outputs[other], input.contiguous());
    else
      in[other] = issue.output(outputs[other]);
  }
  const dlprim::Tensor data = issue.input(input);
  if (rank() != dst) out[static_cast<std::size_t>(dst)] = data;
  const Call call{Function::gather, data.dtype, ReduceOp::sum, dst, data.numel()};
  return issue.submit([=](Collectives& collectives) { collectives.move(call, out, in); });
}

WorkHandle ProcessGroup::scatter(const Tensor& output, const TensorList& inputs, int src) {
  checked_rank("scatter", src);
  Issue issue(*this, "scatter");
  const std::size_t expected = rank() == src ? static_cast<std::size_t>(size()) : 0;
  require(inputs.size() == expected, "scatter: ", inputs.size(), " inputs, expected ", expected);
  std::vector<dlprim::Tensor> out(static_cast<std::size_t>(size())), in(out.size());
  for (std::size_t other = 0; other < expected; ++other) {
    issue.require_like(inputs[other], output, "an input");
    if (static_cast<int>(other) == rank())
      copy_own(output, inputs[other].contiguous());
    else
      out[other] = issue.input(inputs[other]);
  }
  const Call call{Function::scatter, output.dtype(), ReduceOp::sum, src, output.numel()};
  if (rank() != src) in[static_cast<std::size_t>(src)] = issue.output(output);
  return issue.submit([=](Collectives& collectives) { collectives.move(call, out, in); });
}

WorkHandle ProcessGroup::reduce_scatter(const Tensor& output, const Tensor& input, ReduceOp op) {
  Issue issue(*this, "reduce_scatter");
  require_reducible(input.dtype(), op, "reduce_scatter");
  require(output.dtype() == input.dtype() && output.numel() * size() == input.numel(),
          "reduce_scatter: an input of ", dlprim::name(input.dtype()), " ", input.shape(), " for ", size(),
          " outputs of ", dlprim::name(output.dtype()), " ", output.shape());
  const dlprim::Tensor in = issue.input(input), out = issue.output(output);
  const Call call{Function::reduce_scatter, in.dtype, op, -1, out.numel()};
  return issue.submit([=](Collectives& collectives) { collectives.reduce_scatter(call, in, out); });
}

WorkHandle ProcessGroup::all_to_all(const TensorList& outputs, const TensorList& inputs) {
  Issue issue(*this, "all_to_all");
  require(static_cast<int>(outputs.size()) == size() && static_cast<int>(inputs.size()) == size(),
          "all_to_all: ", outputs.size(), " outputs and ", inputs.size(), " inputs for ", size(), " ranks");
  std::vector<dlprim::Tensor> out, in;
  for (std::size_t other = 0; other < outputs.size(); ++other) {
    require<TypeError>(
        inputs[other].dtype() == inputs[0].dtype() && outputs[other].dtype() == inputs[0].dtype(),
        "all_to_all: tensors of one dtype are expected, got ", dlprim::name(inputs[other].dtype()), " and ",
        dlprim::name(outputs[other].dtype()), " beside ", dlprim::name(inputs[0].dtype()));
    const bool is_own = static_cast<int>(other) == rank();
    if (is_own) {
      issue.require_like(outputs[other], inputs[other], "this rank's output");
      copy_own(outputs[other], inputs[other].contiguous());
    }
    out.push_back(is_own ? dlprim::Tensor() : issue.input(inputs[other]));
    in.push_back(is_own ? dlprim::Tensor() : issue.output(outputs[other]));
  }
  const Call call{Function::all_to_all, inputs[0].dtype(), ReduceOp::sum, -1, -1};
  return issue.submit([=](Collectives& collectives) { collectives.move(call, out, in); });
}

WorkHandle ProcessGroup::send(const Tensor& tensor, int dst, int tag) {
  require(checked_rank("send", dst) != rank(), "send: rank ", dst, " is this one");
  Issue issue(*this, "send");
  const dlprim::Tensor data = issue.input(tensor);
  State::MessageLane& messages = state_->messages_with(dst, true);
  return issue.submit(messages.lane, messages.messages->copier(),
                      [=, &to = *messages.messages] { to.send(data, tag); });
}

WorkHandle ProcessGroup::recv(const Tensor& tensor, int src, int tag) {
  require(checked_rank("recv", src) != rank(), "recv: rank ", src, " is this one");
  Issue issue(*this, "recv");
  const dlprim::Tensor data = issue.output(tensor);
  State::MessageLane& messages = state_->messages_with(src, false);
  return issue.submit(messages.lane, messages.messages->copier(),
                      [=, &from = *messages.messages] { from.receive(data, tag); });
}

void ProcessGroup::barrier() {
  Issue issue(*this, "barrier");
  issue.submit([](Collectives& collectives) { collectives.barrier(); })->wait();
}

std::vector<std::string> ProcessGroup::all_gather_bytes(const std::string& own) {
  std::vector<std::string> all;
  Issue issue(*this, "all_gather_bytes");
  issue.submit([&](Collectives& collectives) { all = collectives.all_gather_bytes(own); })->wait();
  return all;
}

void ProcessGroup::drain() {
  Issue issue(*this, "drain");
  issue.submit([](Collectives&) {})->wait();
}

}  // namespace ocl::distributed
