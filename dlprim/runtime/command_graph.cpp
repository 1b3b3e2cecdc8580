#include "dlprim/runtime/command_graph.h"

#include <array>
#include <exception>
#include <utility>

#include "dlprim/core/call_state.h"
#include "dlprim/runtime/allocator.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {
namespace capture {

std::atomic<int> under_way{0};
std::atomic<CommandGraph* (*)()> of_who_is_served{nullptr};

namespace {
thread_local CommandGraph* own = nullptr;
thread_local bool is_paused = false;
}  // namespace

CommandGraph* of_this_thread(const Device& device) {
  if (is_paused) return nullptr;
  CommandGraph* graph = own;
  if (!graph)
    if (const auto find = of_who_is_served.load(std::memory_order_acquire)) graph = find();
  return graph && &graph->device() == &device ? graph : nullptr;
}

}  // namespace capture

/** A state that stands for a draw has an offset that no stream of numbers comes to, and for its seed the
 * number of the draws that it is of, and its place there. */
class CommandGraph::AllDraws {
 public:
  static constexpr std::uint64_t first_offset = std::uint64_t{1} << 63;
  static constexpr int place_bits = 24;

  static bool has(PhiloxState state) { return state.offset >= first_offset; }
  static PhiloxState state_of(const Draws& draws, std::size_t place) {
    return {draws.number << place_bits | place, first_offset};
  }

  std::shared_ptr<Draws> make() {
    const std::lock_guard lock(mutex_);
    auto made = std::make_shared<Draws>();
    made->number = ++last_number_;
    all_[made->number] = made;
    return made;
  }
  void forget(const Draws& draws) {
    const std::lock_guard lock(mutex_);
    all_.erase(draws.number);
  }
  Random find(PhiloxState state) const {
    const std::lock_guard lock(mutex_);
    const auto found = all_.find(state.seed >> place_bits);
    std::shared_ptr<const Draws> draws = found == all_.end() ? nullptr : found->second.lock();
    require<Error>(draws != nullptr, "random numbers of a graph that is gone");
    const std::uint64_t place = state.seed & ((std::uint64_t{1} << place_bits) - 1);
    return {std::move(draws), static_cast<std::size_t>(place), {0, state.offset - first_offset}};
  }

  static AllDraws& of_process() {
    static auto& all = *new AllDraws;  // graphs may outlive statics
    return all;
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::weak_ptr<const Draws>> all_;
  std::uint64_t last_number_ = 0;
};

CommandGraph::CommandGraph(Device& device, std::shared_ptr<MemoryPool> pool)
    : device_(device),
      pool_(pool ? std::move(pool) : device.allocator().make_pool()),
      draws_(AllDraws::of_process().make()) {
  require(&pool_->device() == &device_, "capture: expected a pool of ", device_.name(), ", got one of ",
          pool_->device().name());
}

CommandGraph::~CommandGraph() {
  try {
    if (capture::own == this) end();
  } catch (const Error&) {  // of what was pending, and is of no use any more
  }
  AllDraws::of_process().forget(*draws_);
}

void CommandGraph::begin() {
  require<Error>(!capture::own, "capture: this thread captures already");
  require<Error>(phase_ == Phase::fresh, "capture: this graph has ",
                 phase_ == Phase::capturing ? "a capture under way" : "been captured");
  device_.queue().enqueue_pending();
  phase_ = Phase::capturing;
  capture::own = this;
  capture::under_way.fetch_add(1, std::memory_order_release);
}

void CommandGraph::end() {
  require<Error>(capture::own == this, "capture: this thread does not capture into this graph");
  std::exception_ptr failure;
  try {
    device_.queue().enqueue_pending();
  } catch (...) {
    failure = std::current_exception();
  }
  capture::own = nullptr;
  capture::under_way.fetch_sub(1, std::memory_order_release);
  phase_ = failure ? Phase::failed : Phase::captured;
  if (failure) std::rethrow_exception(failure);
}

CommandGraph::Capture::~Capture() {
  try {
    graph_.end();
  } catch (const Error& e) {  // a replay refuses
    warn_once(e.what());
  }
}

CommandGraph::Pause::Pause() : was_paused_(std::exchange(capture::is_paused, true)) {}

CommandGraph::Pause::~Pause() {
  capture::is_paused = was_paused_;
}

void CommandGraph::replay() {
  refuse_in_capture(device_, "a graph was replayed");
  require<Error>(phase_ != Phase::failed, "replay: the last commands of the capture could not be enqueued");
  require<Error>(phase_ == Phase::captured, "replay: nothing has been captured");
  const std::lock_guard lock(replaying_);
  for (std::size_t i = 0; i < draws_->next.size(); ++i) draws_->last[i] = draws_->next[i]();
  device_.queue().replay(*this);
}

PhiloxState CommandGraph::draw(std::function<PhiloxState()> next) {
  const std::lock_guard lock(drawing_);
  draws_->next.push_back(std::move(next));
  draws_->last.emplace_back();
  return AllDraws::state_of(*draws_, draws_->next.size() - 1);
}

void CommandGraph::require_known(PhiloxState state) {
  require<Error>(!AllDraws::has(state), "random numbers of a graph are asked for outside of captures");
}

void CommandGraph::add_random(PhiloxState state) {
  arguments_.push_back({Argument::Kind::random, 0, randoms_.size()});
  randoms_.push_back(AllDraws::has(state) ? AllDraws::of_process().find(state) : Random{nullptr, 0, state});
}

PhiloxState CommandGraph::Random::state() const {
  if (!draws) return moved_by;
  const PhiloxState& drawn = draws->last[draw];
  return {drawn.seed, drawn.offset + moved_by.offset};
}

void CommandGraph::keep(Storage& storage, std::shared_ptr<Storage> owner) {
  std::weak_ptr<Storage>& known = known_[&storage];
  if (!known.expired()) return;
  known = owner;
  if (storage.pool() != pool_->number()) kept_.push_back(std::move(owner));
}

std::vector<std::shared_ptr<Storage>> CommandGraph::memory_in_use() const {
  std::vector<std::shared_ptr<Storage>> all;
  all.reserve(known_.size());
  for (const auto& [key, known] : known_)
    if (auto storage = known.lock()) all.push_back(std::move(storage));
  return all;
}

void CommandGraph::add_bytes(std::size_t size, const void* bytes) {
  if (!bytes) return arguments_.push_back({Argument::Kind::local_memory, size, 0});
  arguments_.push_back({Argument::Kind::bytes, size, bytes_.size()});
  const auto* first = static_cast<const unsigned char*>(bytes);
  bytes_.insert(bytes_.end(), first, first + size);
}

void CommandGraph::add_memory(const Tensor& tensor) {
  Storage& storage = *tensor.storage;
  keep(storage, tensor.storage);
  const cl_ulong start = storage.byte_offset() / size_of(tensor.dtype) + static_cast<cl_ulong>(tensor.offset);
  arguments_.push_back({Argument::Kind::memory, 0, memory_.size()});
  memory_.emplace_back(storage.buffer(), start);
}

void CommandGraph::add_check(const DeviceCheck& check) {
  arguments_.push_back({Argument::Kind::check, 0, checks_.size()});
  checks_.push_back({check.code});  // what a replay may spoil is all of the graph's memory
}

void CommandGraph::add_launch(Kernel& kernel, const Range& range) {
  add(Launch{&kernel, range, first_argument_, arguments_.size()});
}

void CommandGraph::add(std::variant<Launch, Copy, Zero, Foreign> what) {
  commands_.push_back({std::move(what), call_state.operation ? call_state.operation : ""});
}

std::string CommandGraph::description() const {
  std::string text;
  for (const Command& command : commands_) {
    if (!command.operation.empty()) text += command.operation + ": ";
    if (const auto* launch = std::get_if<Launch>(&command.what)) {
      const auto size = [](const std::array<std::size_t, 3>& n) {
        return concat(n[0], " x ", n[1], " x ", n[2]);
      };
      text += concat(launch->kernel->name, ", ", size(launch->range.global), " items in groups of ",
                     size(launch->range.local));
    } else if (const auto* copy = std::get_if<Copy>(&command.what)) {
      text += concat("copy, ", copy->bytes, " bytes");
    } else if (const auto* zero = std::get_if<Zero>(&command.what)) {
      text += concat("zero, ", zero->bytes, " bytes");
    } else {
      text += std::get<Foreign>(command.what).label;
    }
    text += '\n';
  }
  return text;
}

}  // namespace dlprim
