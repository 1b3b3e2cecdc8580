#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "autograd/tensor/peer.h"
#include "autograd/tensor/tensor.h"

namespace ocl {

/** Where a gradient goes: an input of a node. A null node swallows it. */
struct Edge {
  std::shared_ptr<Node> node;
  int index = 0;
};

/**
 * Gradients of a node's inputs from the gradients of its outputs. Undefined stands for zero, on both sides.
 * Outputs that the loss did not use are undefined (GradientKind::or_zeros, contiguous_or_none), but never all
 * of them, and an only output is always defined.
 *
 * Runs with the tape off, but where the gradients are to be differentiated in turn (create_graph): then what
 * it does must be recorded. So it is made of operators, and takes saved tensors from SavedTensor::input and
 * ::output. Or it asks grad_enabled(), with kernels for one case and operators for the other. Or it is the
 * transpose of a linear operator (linear_gradient). See autograd/tape/recordable.h and docs/architecture.md.
 */
using Backward = std::function<TensorList(const TensorList& gradients)>;

/**
 * In a backward closure, whether anybody asks for the gradient of its node's input. Nobody does for an input
 * that needs none, nor, as autograd::grad goes towards some tensors, for one that leads to none of them. A
 * gradient that nobody asks for may come back undefined. True outside of a pass.
 */
bool gradient_is_wanted(std::size_t input);

using Hook = std::function<Tensor(const Tensor& gradient)>;

/**
 * One counted reference to an object of another language that a closure of the tape calls. The tape holds it
 * beside the closure, so that the garbage collector of that language can follow it; see
 * autograd/tape/ownership.h.
 */
using Foreign = std::shared_ptr<void>;

/**
 * One recorded operation: where the gradients of its inputs go, and how to get them. Its backward closure
 * holds what it saved; it is dropped when backward has walked the node, unless the graph is retained.
 * Several threads may walk and hook a node at once.
 */
class Node : public std::enable_shared_from_this<Node> {
 public:
  /** `saves_tensors`: whether `backward` holds tensors that a run without `keep` gives up. */
  Node(std::string name, std::vector<Edge> next, Backward backward, bool saves_tensors = true);
  virtual ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  const std::string& name() const { return name_; }
  const std::vector<Edge>& next() const { return next_; }
  /** Grows with every recorded node; a node's consumers are younger than the node. Ends of the tape come
   * before all others. */
  std::uint64_t sequence() const { return sequence_; }

  /** Throws AutogradError when what the node saved is gone already. */
  virtual TensorList run(const TensorList& gradients, bool keep);
  /** The call during which the node was made, under autograd::AnomalyMode; empty otherwise. */
  const std::string& origin() const { return origin_; }
  /** The module that was being called then (CallState::module), where anybody asked for it; empty otherwise.
   */
  const std::string& module() const { return module_; }

  /** Shape and dtype of each output, to make zeros for a gradient that nobody sent. Set before the node is
   * shared. */
  std::vector<dlprim::Tensor> outputs;

  /** Calls `hook` with the whole gradient of output `output` before the node runs; what it returns, if
   * defined, replaces the gradient. Gives the number that remove_hook takes. */
  int add_hook(int output, Hook hook, Foreign foreign = {});
  /** Like add_hook, for one that runs after all others and only looks. */
  void add_observer(int output, Hook hook);
  /** Calls `hook` after the node has run. */
  int add_post_hook(Hook hook, Foreign foreign = {});
  void remove_hook(int number);
  /** Throws AutogradError where a hook gives a gradient of another shape, dtype or device. */
  void call_hooks(TensorList& gradients) const;

  /** Calls the hooks of add_post_hook with `argument`; what they return counts for nothing. */
  void call_post_hooks(const Tensor& argument) const;

  /** Notes what the backward closure calls. Set before the node is shared. */
  void set_foreign(Foreign foreign) { foreign_ = std::move(foreign); }
  /** The foreign objects that hooks and backward hold, those that nothing else holds a share of. */
  std::vector<void*> foreign_objects() const;
  /** Lets hooks and backward go: for a garbage collector that has found them unreachable. */
  void drop_foreign();

 protected:
  Node(std::string name, std::uint64_t sequence) : name_(std::move(name)), sequence_(sequence) {}

 private:
  struct NumberedHook {
    int number, output;
    Hook call;
    Foreign foreign;
    /** When it is called, in this order. */
    enum class Kind { before, observer, after } kind = Kind::before;
  };
  using Hooks = std::vector<std::shared_ptr<const NumberedHook>>;
  class Use;
  Hooks hooks() const;
  int add(NumberedHook hook);

  std::string name_, origin_, module_;
  std::vector<Edge> next_;
  std::uint64_t sequence_;
  bool saves_tensors_ = false;

  mutable std::mutex mutex_;  // of what follows; never held while a closure runs or goes away
  Backward backward_;
  Foreign foreign_;
  int runs_ = 0;           // of backward_ that are under way
  bool is_spent_ = false;  // backward_ goes when the last run ends
  Hooks hooks_;
  int next_hook_ = 0;
};

/** The end of the tape at a leaf: adds what arrives to the leaf's grad. */
class AccumulateGrad final : public Node {
 public:
  explicit AccumulateGrad(std::weak_ptr<TensorImpl> leaf);
  TensorList run(const TensorList& gradients, bool keep) override;
  /** Adds a gradient of the leaf's shape, dtype and device, and calls the leaf's hooks for that moment. */
  void add_to_leaf(const Tensor& gradient) const;
  /** Adds to that leaf from now on. */
  void follow(std::weak_ptr<TensorImpl> leaf);

 private:
  std::shared_ptr<TensorImpl> leaf() const;

  mutable std::mutex leaf_mutex_;
  std::weak_ptr<TensorImpl> leaf_;
  // One gradient at a time. Code that runs under it never waits for another language's lock.
  mutable std::mutex adding_;
};

/**
 * A tensor and the tape's knowledge of it. Threads may share a tensor: what changes afterwards is
 * behind functions that copy or swap it under a lock, so that a race gives either value. The lock is never
 * held while a kernel, a hook or a destructor runs. (`data` alone is replaced without one.)
 */
struct TensorImpl : std::enable_shared_from_this<TensorImpl> {
  TensorImpl() = default;
  ~TensorImpl();

  dlprim::Tensor data;
  // Set before the tensor is shared.
  Tensor base;                      // of a view: the tensor, no view itself, whose memory it shows
  bool is_unrecorded_view = false;  // made under no_grad

  std::atomic<bool> retains_grad{false};  // of a tensor that is no leaf, wherever its history is
  std::atomic<bool> is_parameter{false};  // a module registers it by assignment
  Peer peer;

  /** Whether gradients are asked for; true of all that have a history. */
  bool requires_grad() const { return requires_grad_.load(std::memory_order_relaxed); }
  void set_requires_grad(bool on) { requires_grad_.store(on, std::memory_order_relaxed); }

  Tensor grad() const;
  /** Gives back the one before, which may go only where no lock is held. */
  Tensor set_grad(Tensor grad);

  /** The node that made the tensor, and as which output. See history() for a view. */
  Edge made_by() const;
  void set_made_by(Edge made_by);
  /** The history of `base` that made_by() leads to. */
  std::shared_ptr<Node> base_node() const;
  void set_base_node(std::shared_ptr<Node> node);
  /** made_by(), if it leads to that history of `base`. */
  std::optional<Edge> made_by_over(const std::shared_ptr<Node>& base_node) const;
  void set_made_by_over(std::shared_ptr<Node> base_node, Edge made_by);

  /** Where gradients of this leaf end. One at a time. */
  std::shared_ptr<AccumulateGrad> accumulator();
  /** That node, kept for its hooks from now on. */
  void keep_accumulator(std::shared_ptr<AccumulateGrad> accumulator);
  std::shared_ptr<Node> kept_accumulator() const;

  /** Another tensor that takes over all that this one is, its peer too: for a tensor whose last owner has
   * gone while its peer lives on. */
  std::shared_ptr<TensorImpl> successor();

 private:
  std::atomic<bool> requires_grad_{false};
  mutable std::mutex mutex_;  // of what follows
  Edge made_by_;
  std::shared_ptr<Node> base_node_;
  Tensor grad_;
  std::weak_ptr<AccumulateGrad> accumulator_;
  std::shared_ptr<AccumulateGrad> kept_accumulator_;
};

class StridedSpan;

/** The answer of gradient_is_wanted until it ends: for a node, in a pass that goes towards `needed`, or
 * everywhere. */
class WantedGradients {
 public:
  WantedGradients(Node& node, const std::unordered_set<Node*>* needed);
  ~WantedGradients();
  WantedGradients(const WantedGradients&) = delete;
  WantedGradients& operator=(const WantedGradients&) = delete;

  bool has(std::size_t input) const;
  Node& node() const { return node_; }

 private:
  Node& node_;
  const std::unordered_set<Node*>* needed_;
  const WantedGradients* outer_;
  const StridedSpan* outer_span_;
};

/** A tensor kept for backward. Throws AutogradError on use if it was written in place since. */
class SavedTensor {
 public:
  SavedTensor() = default;
  explicit SavedTensor(const Tensor& tensor);
  explicit SavedTensor(const dlprim::Tensor& data);
  bool defined() const { return data_.storage != nullptr; }
  const dlprim::Tensor& unpack() const;

  /**
   * In a backward closure: what was saved, as its node's input of that number, or as its output. Where the
   * closure is recorded the tensor has the history of that input or output, so that gradients flow there.
   */
  Tensor input(std::size_t number) const;
  Tensor output(std::size_t number = 0) const;

 private:
  dlprim::Tensor data_;
  std::uint32_t version_ = 0;
};

/** Whether operations of this thread are recorded. */
bool grad_enabled();

/** Sets whether this thread records until the guard ends. */
class GradMode {
 public:
  explicit GradMode(bool enabled);
  ~GradMode();
  static bool is_enabled() { return grad_enabled(); }
  GradMode(const GradMode&) = delete;
  GradMode& operator=(const GradMode&) = delete;

 private:
  bool previous_;
};
using AutoGradMode = GradMode;
/** Stops recording until the guard ends, as torch.no_grad. */
struct NoGradGuard : GradMode {
  NoGradGuard() : GradMode(false) {}
};
/** Stops recording as NoGradGuard does, under libtorch's name. */
struct InferenceMode : GradMode {
  explicit InferenceMode(bool enabled = true) : GradMode(!enabled && grad_enabled()) {}
};
void set_grad_enabled(bool enabled);

/** Whether recording is on and some input asks for gradients. */
bool needs_tape(const TensorList& inputs);

/**
 * The node that made a tensor (null for a leaf) and as which output. For a view whose base has been written
 * in place since, by itself or through another view, it is a new node that leads to what the base is now.
 */
Edge history(TensorImpl& impl);

/** The edge that leads gradients to `tensor`. */
Edge edge_to(const Tensor& tensor);

/** Keeps the gradient that the history of a tensor gets, after all its hooks, as its grad. */
void retain_grad(TensorImpl& impl);

/** Tensor::register_hook, with what the hook calls. */
HookHandle register_hook(const Tensor& tensor, Hook hook, Foreign foreign);

/** Tensor::register_post_accumulate_grad_hook, with what the hook calls. */
HookHandle register_post_accumulate_grad_hook(const Tensor& leaf, std::function<void(const Tensor&)> hook,
                                              Foreign foreign);

/** Notes that `result` shows the memory of `a`: what is written through either enters the other's history. */
void mark_view(Tensor& result, const Tensor& a);

/**
 * Makes `outputs` the results of a recorded operation on `inputs`, if needs_tape(inputs); `backward` is asked
 * for only then. Every differentiable function is one call of it:
 *
 *     return record("ExpBackward", {x}, y, [&] { return [y = SavedTensor(y)](const TensorList& g) { … }; });
 */
template <class MakeBackward>
Tensor record(const char* name, const TensorList& inputs, const dlprim::Tensor& output,
              const MakeBackward& make_backward);
template <class MakeBackward>
TensorList record_many(const char* name, const TensorList& inputs, const std::vector<dlprim::Tensor>& outputs,
                       const MakeBackward& make_backward);

/**
 * Like record, for an operation that has just overwritten `target`; counts the write. `backward` gives the
 * gradients of target's old value and of `others`. Written through a view, the
 * operation becomes part of the base's history (torch's CopySlices).
 */
template <class MakeBackward>
void record_in_place(const char* name, Tensor& target, const TensorList& others,
                     const MakeBackward& make_backward);

/** Ties existing tensors to a node as its outputs. */
void set_history(const TensorList& outputs, const std::shared_ptr<Node>& node);
/** A node over `inputs`; call it right after `backward` has saved its tensors. */
std::shared_ptr<Node> make_node(const char* name, const TensorList& inputs, Backward backward);
void set_history_in_place(const char* name, Tensor& target, const TensorList& others, Backward backward);

/** Forgets what was saved before: what is saved from now on is for the node that is made next. */
void begin_saving();

// ---- implementation

template <class MakeBackward>
std::shared_ptr<Node> saving_node(const char* name, const TensorList& inputs,
                                  const MakeBackward& make_backward) {
  begin_saving();
  return make_node(name, inputs, make_backward());
}

template <class MakeBackward>
TensorList record_many(const char* name, const TensorList& inputs, const std::vector<dlprim::Tensor>& outputs,
                       const MakeBackward& make_backward) {
  TensorList results;
  for (const dlprim::Tensor& output : outputs) results.emplace_back(output);
  if (needs_tape(inputs)) set_history(results, saving_node(name, inputs, make_backward));
  return results;
}

template <class MakeBackward>
Tensor record(const char* name, const TensorList& inputs, const dlprim::Tensor& output,
              const MakeBackward& make_backward) {
  Tensor result(output);
  if (needs_tape(inputs)) set_history({result}, saving_node(name, inputs, make_backward));
  return result;
}

template <class MakeBackward>
void record_in_place(const char* name, Tensor& target, const TensorList& others,
                     const MakeBackward& make_backward) {
  target.data().storage->bump_version();
  if (!needs_tape({target}) && !needs_tape(others)) return;
  begin_saving();
  set_history_in_place(name, target, others, make_backward());
}

}  // namespace ocl
