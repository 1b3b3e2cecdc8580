#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "autograd/tensor.h"

namespace ocl {

/** Where a gradient goes: an input of a node. A null node swallows it. */
struct Edge {
  std::shared_ptr<Node> node;
  int index = 0;
};

/** Gradients of a node's inputs from the gradients of its outputs; undefined stands for zero. Runs with the
 * tape off. */
using Backward = std::function<TensorList(const TensorList& gradients)>;

/**
 * One recorded operation: where the gradients of its inputs go, and how to get them. Its backward closure
 * holds what it saved; it is dropped when backward has walked the node, unless the graph is retained.
 */
class Node {
 public:
  /** `saves_tensors`: whether `backward` holds tensors that a run without `keep` gives up. */
  Node(std::string name, std::vector<Edge> next, Backward backward, bool saves_tensors = true);
  virtual ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  const std::string& name() const { return name_; }
  const std::vector<Edge>& next() const { return next_; }
  /** Grows with every recorded node; a node's consumers are younger than the node. */
  std::uint64_t sequence() const { return sequence_; }

  /** Throws AutogradError when what the node saved is gone already. */
  virtual TensorList run(const TensorList& gradients, bool keep);
  /** Shape, dtype and device of each output, to make zeros for a gradient that nobody sent. */
  std::vector<dlprim::Tensor> outputs;

  /** Calls `function` with the whole gradient of output `output` before the node runs; what it returns, if
   * defined, replaces the gradient. Gives the number that remove_hook takes. */
  int add_hook(int output, std::function<Tensor(const Tensor&)> function);
  void remove_hook(int number);
  void call_hooks(TensorList& gradients) const;

 protected:
  Node(std::string name, std::uint64_t sequence) : name_(std::move(name)), sequence_(sequence) {}

 private:
  std::string name_;
  struct Hook {
    int number, output;
    std::function<Tensor(const Tensor&)> function;
  };

  std::vector<Edge> next_;
  Backward backward_;
  std::uint64_t sequence_;
  bool saves_tensors_ = false;
  std::vector<Hook> hooks_;
  int next_hook_ = 0;
};

/** The end of the tape at a leaf: adds what arrives to the leaf's grad. */
class AccumulateGrad final : public Node {
 public:
  explicit AccumulateGrad(std::weak_ptr<TensorImpl> leaf);
  TensorList run(const TensorList& gradients, bool keep) override;

 private:
  std::weak_ptr<TensorImpl> leaf_;
};

struct TensorImpl {
  dlprim::Tensor data;
  bool requires_grad = false;
  Tensor base;                         // of a view: the tensor, no view itself, whose memory it shows
  std::shared_ptr<Node> base_grad_fn;  // the history of `base` that grad_fn leads to; see history()
  bool is_unrecorded_view = false;     // made under no_grad
  bool is_parameter = false;           // a module registers it by assignment
  std::shared_ptr<Node> grad_fn;
  int output_index = 0;
  Tensor grad;
  std::weak_ptr<AccumulateGrad> accumulator;
  std::shared_ptr<AccumulateGrad> hooked_accumulator;  // kept alive for its hooks
};

/** A tensor kept for backward. Throws AutogradError on use if it was written in place since. */
class SavedTensor {
 public:
  SavedTensor() = default;
  explicit SavedTensor(const Tensor& tensor);
  explicit SavedTensor(const dlprim::Tensor& data);
  bool defined() const { return data_.storage != nullptr; }
  const dlprim::Tensor& unpack() const;

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
  GradMode(const GradMode&) = delete;
  GradMode& operator=(const GradMode&) = delete;

 private:
  bool previous_;
};
/** Stops recording until the guard ends, as torch.no_grad. */
struct NoGradGuard : GradMode {
  NoGradGuard() : GradMode(false) {}
};
void set_grad_enabled(bool enabled);

/** Whether recording is on and some input asks for gradients. */
bool needs_tape(const TensorList& inputs);

/**
 * The node that made a tensor, null for a leaf. Of a view whose base has been written in place since, by
 * itself or through another view, it is a new one that leads to what the base is now.
 */
const std::shared_ptr<Node>& history(TensorImpl& impl);

/** The edge that leads gradients to `tensor`. */
Edge edge_to(const Tensor& tensor);

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
 * As record, for an operation that has just overwritten `target`; counts the write. `backward` gives the
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
