#include "dlprim/ops/pointwise/fusion.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "dlprim/ops/pointwise/chain.h"
#include "dlprim/ops/pointwise/pointwise_source.h"
#include "dlprim/runtime/allocator.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/pending.h"

namespace dlprim {
namespace {

/** Whether both are the same elements in the same order. */
bool are_same(const Tensor& a, const Tensor& b) {
  if (a.storage != b.storage || a.offset != b.offset || a.dtype != b.dtype || a.shape != b.shape)
    return false;
  for (int d = 0; d < a.rank(); ++d)
    if (a.shape[d] > 1 && a.strides[d] != b.strides[d]) return false;
  return true;
}

enum class Relation { none, same, overlapping };

/** Memory of allocators overlaps within a storage alone. */
Relation relation_of(const Tensor& a, const Tensor& b) {
  if (a.storage != b.storage) return Relation::none;
  if (are_same(a, b)) return Relation::same;
  return a.overlaps(b) ? Relation::overlapping : Relation::none;
}

/** How often a chain was met, and its expression once it is worth a kernel. */
class KnownChains {
 public:
  /** The expression of a chain that was met often enough; null until then, and for more chains than a process
   * builds. */
  const PointwiseExpression* of(const PointwiseChain& chain) {
    const std::string key = key_of(chain);
    const std::lock_guard lock(mutex_);
    Known& known = known_[key];
    if (known.expression || ++known.meetings <= meetings_before_fusion || built_ == most_built)
      return known.expression;
    ++built_;
    return known.expression = &chain_expression(chain);
  }

  static KnownChains& of_process() {
    static auto& all = *new KnownChains;
    return all;
  }

 private:
  struct Known {
    const PointwiseExpression* expression = nullptr;
    std::size_t meetings = 0;
  };
  static constexpr int most_built = 512;

  static std::string key_of(const PointwiseChain& chain) {
    std::string key;
    const auto add = [&](auto value) { key.append(reinterpret_cast<const char*>(&value), sizeof value); };
    add(chain.dtype);
    for (const ChainStep& step : chain.steps) {
      add(step.expression);
      for (const ChainOperand& operand : step.operands) {
        add(static_cast<char>(operand.kind));
        add(static_cast<char>(operand.index));
      }
    }
    for (const std::size_t output : chain.outputs) add(static_cast<char>(output));
    return key;
  }

  std::mutex mutex_;
  std::unordered_map<std::string, Known> known_;
  int built_ = 0;
};

/** Calls over the same elements that depend on each other, in their order. */
class PendingChain {
 public:
  /** How a call relates to the chain. It may have nothing to do with it, or go on from it. Or it uses some of
   * the chain's memory in another way, and has to come behind it. */
  Relation relation_to(const PointwiseCall& call) const;
  /** Whether there is room for a call that goes on from this chain, or for another chain. */
  bool has_room_for(const PointwiseCall& call) const;
  bool has_room_for(const PendingChain& other) const;

  void add(PointwiseCall& call);
  void append(PendingChain&& other);
  void enqueue(Queue& queue);
  /** The handles to that memory which the chain has. */
  long handles(const Storage& storage) const;
  /** Gives the memory back of large results that only steps here read: one kernel needs none for them. */
  void release_results();
  /** Bytes of large tensors that nobody else has any more. */
  std::size_t idle_bytes() const;

 private:
  struct Step {
    PointwiseCall call;
    std::string operation, module;  // that called it
    std::uint64_t numbered;         // CallState::numbered
  };
  /** The tensors of a chain by their places in its expression. */
  struct Places;

  template <class Visit>
  void for_each_tensor(const Visit& visit);
  void move_to(const Storage* from, const std::shared_ptr<Storage>& to);
  bool is_read_later(std::size_t step, const Tensor& result) const;
  bool reads_from_before(const Storage* storage) const;
  bool enqueue_as_one(Queue& queue) const;
  bool is_wanted(const Tensor& result, bool is_read) const;
  static void launch_within(Queue& queue, const Step& last, const char* operation, const PointwiseCall& call);
  bool knows(const Tensor& tensor) const;
  std::size_t new_inputs(const PointwiseCall& call) const;

  std::vector<Step> steps_;
  std::size_t inputs_ = 0, parameters_ = 0;  // at most
};

template <class Visit>
void for_each_input(const PointwiseCall& call, const Visit& visit) {
  for (const PointwiseOperand& input : call.inputs)
    if (const auto* tensor = std::get_if<Tensor>(&input)) visit(*tensor);
}

Relation PendingChain::relation_to(const PointwiseCall& call) const {
  bool goes_on = false, overlaps = false;
  const auto compare = [&](const Tensor& ours, const Tensor& theirs) {
    const Relation relation = relation_of(ours, theirs);
    goes_on = goes_on || relation == Relation::same;
    overlaps = overlaps || relation == Relation::overlapping;
  };
  for (const Step& step : steps_) {
    for (const Tensor& result : step.call.outputs) {
      for_each_input(call, [&](const Tensor& input) { compare(result, input); });
      for (const Tensor& output : call.outputs) compare(result, output);
    }
    for_each_input(step.call, [&](const Tensor& input) {
      for (const Tensor& output : call.outputs) compare(input, output);
    });
  }
  if (!overlaps && !goes_on) return Relation::none;
  const PointwiseCall& first = steps_.front().call;
  const bool is_alike =
      call.compute == first.compute && call.outputs.front().shape == first.outputs.front().shape;
  return overlaps || !is_alike ? Relation::overlapping : Relation::same;
}

std::size_t parameters_of(const PointwiseCall& call) {
  std::size_t count = call.parameters.size() + call.inputs.size();
  for_each_input(call, [&](const Tensor&) { --count; });
  return count;
}

/** Whether a tensor is an input or a result of a step. */
bool PendingChain::knows(const Tensor& tensor) const {
  bool is_known = false;
  const auto compare = [&](const Tensor& other) { is_known = is_known || are_same(tensor, other); };
  for (const Step& step : steps_) {
    for_each_input(step.call, compare);
    for (const Tensor& output : step.call.outputs) compare(output);
  }
  return is_known;
}

std::size_t PendingChain::new_inputs(const PointwiseCall& call) const {
  std::size_t count = 0;
  for_each_input(call, [&](const Tensor& input) { count += knows(input) ? 0 : 1; });
  return count;
}

bool PendingChain::has_room_for(const PointwiseCall& call) const {
  return steps_.size() < PointwiseChain::max_steps &&
         inputs_ + new_inputs(call) <= PointwiseChain::max_inputs &&
         parameters_ + parameters_of(call) <= PointwiseChain::max_parameters;
}

bool PendingChain::has_room_for(const PendingChain& other) const {
  return steps_.size() + other.steps_.size() < PointwiseChain::max_steps &&
         inputs_ + other.inputs_ < PointwiseChain::max_inputs &&
         parameters_ + other.parameters_ <= PointwiseChain::max_parameters;
}

void PendingChain::add(PointwiseCall& call) {
  inputs_ += new_inputs(call);
  parameters_ += parameters_of(call);
  steps_.push_back({std::move(call), call_state.operation ? call_state.operation : "",
                    call_state.module ? call_state.module : "", call_state.numbered});
}

void PendingChain::append(PendingChain&& other) {
  inputs_ += other.inputs_;
  parameters_ += other.parameters_;
  steps_.insert(steps_.end(), std::make_move_iterator(other.steps_.begin()),
                std::make_move_iterator(other.steps_.end()));
}

long PendingChain::handles(const Storage& storage) const {
  long count = 0;
  const auto visit = [&](const Tensor& tensor) { count += tensor.storage.get() == &storage; };
  for (const Step& step : steps_) {
    for_each_input(step.call, visit);
    for (const Tensor& output : step.call.outputs) visit(output);
  }
  return count;
}

template <class Visit>
void PendingChain::for_each_tensor(const Visit& visit) {
  for (Step& step : steps_) {
    for (PointwiseOperand& input : step.call.inputs)
      if (auto* const tensor = std::get_if<Tensor>(&input)) visit(*tensor);
    for (Tensor& output : step.call.outputs) visit(output);
  }
}

/** All tensors over one storage lie in another from now on. */
void PendingChain::move_to(const Storage* from, const std::shared_ptr<Storage>& to) {
  for_each_tensor([&](Tensor& tensor) {
    if (tensor.storage.get() == from) tensor.storage = to;
  });
}

bool PendingChain::is_read_later(std::size_t step, const Tensor& result) const {
  bool is_read = false;
  for (std::size_t later = step + 1; later < steps_.size(); ++later)
    for_each_input(steps_[later].call,
                   [&](const Tensor& input) { is_read = is_read || are_same(input, result); });
  return is_read;
}

/** Whether a step reads what was in that memory before the chain, as a call in place does. */
bool PendingChain::reads_from_before(const Storage* storage) const {
  bool is_read = false;
  for (std::size_t i = 0; i < steps_.size(); ++i)
    for_each_input(steps_[i].call, [&](const Tensor& input) {
      if (input.storage.get() != storage) return;
      bool is_result = false;
      for (std::size_t before = 0; before < i; ++before)
        for (const Tensor& result : steps_[before].call.outputs)
          is_result = is_result || are_same(result, input);
      is_read = is_read || !is_result;
    });
  return is_read;
}

constexpr std::size_t least_large = 1 << 20;  // bytes; smaller tensors are not worth the host's time

/** In their place stands a storage without memory, which tells them apart. */
void PendingChain::release_results() {
  const auto needs_none = [&](const Storage* storage) {
    if (reads_from_before(storage)) return false;
    for (std::size_t i = 0; i < steps_.size(); ++i)
      for (const Tensor& result : steps_[i].call.outputs)
        if (result.storage.get() == storage && !is_read_later(i, result)) return false;
    return true;
  };
  for (const Step& step : steps_)
    for (const Tensor& result : step.call.outputs) {
      const Storage* const storage = result.storage.get();
      if (storage->bytes() >= least_large && storage->is_allocated() &&
          result.storage.use_count() == handles(*storage) && needs_none(storage))
        move_to(storage, std::make_shared<Storage>(storage->device(), storage->bytes()));
    }
}

std::size_t PendingChain::idle_bytes() const {
  std::size_t bytes = 0;
  std::vector<const Storage*> seen;
  const auto visit = [&](const Tensor& tensor) {
    const Storage* const storage = tensor.storage.get();
    if (storage->bytes() < least_large || !storage->is_allocated() ||
        std::find(seen.begin(), seen.end(), storage) != seen.end())
      return;
    seen.push_back(storage);
    if (tensor.storage.use_count() <= handles(*storage)) bytes += storage->bytes();
  };
  for (const Step& step : steps_) {
    for_each_input(step.call, visit);
    for (const Tensor& output : step.call.outputs) visit(output);
  }
  return bytes;
}

void PendingChain::enqueue(Queue& queue) {
  if (steps_.size() > 1 && enqueue_as_one(queue)) return;
  for (Step& step : steps_) {
    for (Tensor& output : step.call.outputs)
      if (!output.storage->is_allocated())
        move_to(output.storage.get(), queue.device().allocator().allocate(output.storage->bytes()));
    launch_within(queue, step, step.operation.c_str(), step.call);
    step.call.inputs.clear();  // so that memory is free as early as without waiting
    step.call.outputs.clear();
  }
}

struct PendingChain::Places {
  struct Result {
    const Tensor* tensor;
    bool is_read = false, is_overwritten = false;
  };
  std::vector<const Tensor*> inputs;
  std::vector<Result> results;

  ChainOperand of(const Tensor& tensor) {
    for (std::size_t r = results.size(); r-- > 0;)
      if (!results[r].is_overwritten && are_same(*results[r].tensor, tensor)) {
        results[r].is_read = true;
        return {ChainOperand::Kind::result, r};
      }
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (are_same(*inputs[i], tensor)) return {ChainOperand::Kind::input, i};
    inputs.push_back(&tensor);
    return {ChainOperand::Kind::input, inputs.size() - 1};
  }

  void add_results(const std::vector<Tensor>& outputs) {
    for (const Tensor& output : outputs)
      for (Result& result : results)
        result.is_overwritten = result.is_overwritten || are_same(*result.tensor, output);
    for (const Tensor& output : outputs) results.push_back({&output});
  }
};

/** Whether a result has to be stored: whoever else has its memory may look at it. One that nobody reads is
 * stored as well, as a single call's is. */
bool PendingChain::is_wanted(const Tensor& result, bool is_read) const {
  return !is_read || result.storage.use_count() > handles(*result.storage);
}

/** False for a chain that was not met often enough, and where one kernel cannot take all tensors. */
bool PendingChain::enqueue_as_one(Queue& queue) const {
  PointwiseChain chain{steps_.front().call.compute, {}, {}};
  PointwiseCall call{nullptr, chain.dtype, {}, {}, {}};
  Places places;
  std::string operation;
  for (const Step& step : steps_) {
    chain.steps.push_back({step.call.expression, {}});
    for (const PointwiseOperand& input : step.call.inputs) {
      const auto* const tensor = std::get_if<Tensor>(&input);
      chain.steps.back().operands.push_back(tensor ? places.of(*tensor)
                                                   : ChainOperand{ChainOperand::Kind::number});
      if (!tensor) call.parameters.push_back(std::get<Scalar>(input));
    }
    call.parameters.insert(call.parameters.end(), step.call.parameters.begin(), step.call.parameters.end());
    places.add_results(step.call.outputs);
    operation += concat(operation.empty() ? "" : " + ", step.operation);
  }
  for (std::size_t r = 0; r < places.results.size(); ++r) {
    const Places::Result& result = places.results[r];
    if (result.is_overwritten || !is_wanted(*result.tensor, result.is_read)) continue;
    chain.outputs.push_back(r);
    call.outputs.push_back(*result.tensor);
  }
  const auto is_other_dtype = [&](const Tensor& t) { return t.dtype != call.outputs.front().dtype; };
  if (places.inputs.empty() || places.inputs.size() > PointwiseChain::max_inputs ||
      call.outputs.size() > PointwiseChain::max_outputs ||
      std::any_of(call.outputs.begin(), call.outputs.end(), is_other_dtype))
    return false;
  call.expression = KnownChains::of_process().of(chain);
  if (!call.expression) return false;
  for (const Tensor* input : places.inputs) call.inputs.emplace_back(*input);
  launch_within(queue, steps_.back(), operation.c_str(), call);
  return true;
}

void PendingChain::launch_within(Queue& queue, const Step& last, const char* operation,
                                 const PointwiseCall& call) {
  call_state.operation = *operation ? operation : nullptr;
  call_state.module = last.module.empty() ? nullptr : last.module.c_str();
  call_state.numbered = last.numbered;
  launch_now(queue, call);
}

/** A few chains that have nothing to do with each other, the oldest first. */
class PendingCalls final : public PendingWork {
 public:
  void add(Queue& queue, PendingAccess& pending, PointwiseCall& call);
  void enqueue(Queue& queue) override {
    for (PendingChain& chain : chains_) chain.enqueue(queue);
  }
  long handles(const Storage& storage) const override {
    long count = 0;
    for (const PendingChain& chain : chains_) count += chain.handles(storage);
    return count;
  }
  std::size_t idle_bytes() const {
    std::size_t bytes = 0;
    for (const PendingChain& chain : chains_) bytes += chain.idle_bytes();
    return bytes;
  }

 private:
  static constexpr std::size_t most_chains = 4;

  /** Takes a chain away from the others. */
  PendingChain take(std::size_t place) {
    PendingChain chain = std::move(chains_[place]);
    chains_.erase(chains_.begin() + static_cast<std::ptrdiff_t>(place));
    return chain;
  }

  std::vector<PendingChain> chains_;
};

/** The call goes on from one chain, or from several, which become one; chains that it has to come behind are
 * enqueued. */
void PendingCalls::add(Queue& queue, PendingAccess& pending, PointwiseCall& call) {
  const auto enqueue = [&](PendingChain chain) { pending.enqueue_part([&] { chain.enqueue(queue); }); };
  std::optional<PendingChain> joined;
  for (std::size_t i = 0; i < chains_.size();) {
    const Relation relation = chains_[i].relation_to(call);
    if (relation == Relation::none)
      ++i;
    else if (relation == Relation::overlapping || !chains_[i].has_room_for(call) ||
             (joined && !joined->has_room_for(chains_[i])))
      enqueue(take(i));
    else if (joined)
      joined->append(take(i));
    else
      joined = take(i);
  }
  if (!joined) {
    if (chains_.size() == most_chains) enqueue(take(0));
    joined.emplace();
  }
  for (PendingChain& chain : chains_) chain.release_results();
  joined->release_results();
  joined->add(call);
  chains_.push_back(std::move(*joined));
}

bool can_pend(const Queue& queue, const PointwiseCall& call) {
  if (!fusion() || !call_state.has_elements || !can_be_step(*call.expression, call.compute)) return false;
  if (call.inputs.empty() || (call.compute == DType::float64 && !queue.device().info().fp64)) return false;
  bool is_ours = true;
  const auto check = [&](const Tensor& t) {
    is_ours = is_ours && &t.storage->device() == &queue.device() && t.storage->is_allocated() &&
              !t.storage->is_shared();
  };
  for_each_input(call, check);
  for (const Tensor& output : call.outputs) check(output);
  return is_ours;
}

}  // namespace

bool put_off(Queue& queue, PointwiseCall& call) {
  if (!can_pend(queue, call)) return false;
  PendingAccess pending(queue);
  if (!pending.may_pend()) return false;
  // Pending work keeps memory that is free otherwise. It may never be much of the device's.
  const std::size_t most_idle_bytes = queue.device().info().global_memory / 128;
  if (auto* const calls = static_cast<PendingCalls*>(pending.work()))
    if (calls->idle_bytes() > most_idle_bytes) pending.enqueue();
  if (!pending.work()) pending.put(std::make_unique<PendingCalls>());
  static_cast<PendingCalls*>(pending.work())->add(queue, pending, call);
  return true;
}

}  // namespace dlprim
