#include "autograd/tape.h"

#include <algorithm>
#include <utility>

#include "autograd/ops/inplace.h"
#include "autograd/ops/strided.h"
#include "autograd/ops/views.h"
#include "dlprim/ops/pointwise/pointwise.h"

namespace ocl {
namespace {

std::atomic<std::uint64_t> next_sequence{1};
thread_local bool recording = true;
thread_local bool has_saved = false;  // a tensor, for the node that is made next

// Nodes whose destruction is due. A chain of nodes would otherwise destroy itself recursively and overflow
// the stack. A list of the outermost destructor's own: no thread-local object that a static tensor could
// outlive.
thread_local std::vector<std::shared_ptr<Node>>* dying = nullptr;

constexpr std::uint64_t older_than_all_nodes = 0;  // a leaf's gradient is complete when all nodes have run

}  // namespace

Node::Node(std::string name, std::vector<Edge> next, Backward backward, bool saves_tensors)
    : name_(std::move(name)),
      next_(std::move(next)),
      backward_(std::move(backward)),
      sequence_(next_sequence++),
      saves_tensors_(saves_tensors) {}

Node::~Node() {
  std::vector<std::shared_ptr<Node>> list;
  const bool outermost = dying == nullptr;
  if (outermost) dying = &list;
  for (Edge& edge : next_)
    if (edge.node) dying->push_back(std::move(edge.node));
  if (!outermost) return;
  while (!list.empty()) {
    const std::shared_ptr<Node> node = std::move(list.back());
    list.pop_back();
  }
  dying = nullptr;
}

TensorList Node::run(const TensorList& gradients, bool keep) {
  dlprim::require<AutogradError>(
      static_cast<bool>(backward_), name_,
      ": trying to backward through the graph a second time (or directly access saved tensors after they "
      "have already "
      "been freed). Saved intermediate values of the graph are freed when you call .backward() or "
      "autograd.grad(). "
      "Specify retain_graph=True if you need to backward through the graph a second time.");
  if (keep || !saves_tensors_) return backward_(gradients);
  const Backward backward = std::move(backward_);
  backward_ = nullptr;
  return backward(gradients);
}

int Node::add_hook(int output, std::function<Tensor(const Tensor&)> function) {
  hooks_.push_back({next_hook_, output, std::move(function)});
  return next_hook_++;
}

void Node::remove_hook(int number) {
  hooks_.erase(std::remove_if(hooks_.begin(), hooks_.end(),
                              [number](const Hook& hook) { return hook.number == number; }),
               hooks_.end());
}

void Node::call_hooks(TensorList& gradients) const {
  if (hooks_.empty()) return;
  const std::vector<Hook> now = hooks_;  // a hook may remove itself
  for (const Hook& hook : now) {
    Tensor& gradient = gradients[static_cast<std::size_t>(hook.output)];
    if (!gradient.defined()) continue;
    if (const Tensor replaced = hook.function(gradient); replaced.defined()) gradient = replaced;
  }
}

AccumulateGrad::AccumulateGrad(std::weak_ptr<TensorImpl> leaf)
    : Node("AccumulateGrad", older_than_all_nodes), leaf_(std::move(leaf)) {}

TensorList AccumulateGrad::run(const TensorList& gradients, bool) {
  const std::shared_ptr<TensorImpl> leaf = leaf_.lock();
  const Tensor& gradient = gradients[0];
  if (!leaf || !gradient.defined()) return {};
  if (leaf->grad.defined()) {
    leaf->grad.add_(gradient);
    return {};
  }
  // A gradient that nothing else holds is taken as it is; one that a sibling shares is copied.
  const bool exclusive = gradient.impl_pointer().use_count() == 1 &&
                         gradient.data().storage.use_count() == 1 && gradient.is_contiguous();
  leaf->grad = exclusive ? gradient : gradient.clone();
  return {};
}

SavedTensor::SavedTensor(const Tensor& tensor) {
  if (tensor.defined()) *this = SavedTensor(tensor.data());
}

SavedTensor::SavedTensor(const dlprim::Tensor& data) : data_(data), version_(data.storage->version()) {
  has_saved = true;
}

const dlprim::Tensor& SavedTensor::unpack() const {
  const std::uint32_t now = data_.storage->version();
  dlprim::require<AutogradError>(now == version_,
                                 "one of the variables needed for gradient computation has been modified by "
                                 "an inplace operation: a tensor of shape ",
                                 data_.shape, " is at version ", now, "; expected version ", version_,
                                 " instead");
  return data_;
}

bool grad_enabled() {
  return recording;
}
void set_grad_enabled(bool enabled) {
  recording = enabled;
}

GradMode::GradMode(bool enabled) : previous_(recording) {
  recording = enabled;
}
GradMode::~GradMode() {
  recording = previous_;
}

bool needs_tape(const TensorList& inputs) {
  if (!recording) return false;
  for (const Tensor& input : inputs)
    if (input.defined() && input.requires_grad()) return true;
  return false;
}

void mark_view(Tensor& result, const Tensor& a) {
  TensorImpl& impl = result.impl();
  const TensorImpl& origin = a.impl();
  impl.is_unrecorded_view = !recording || origin.is_unrecorded_view;
  if (impl.is_unrecorded_view) return;  // a base would keep its whole history alive
  impl.base = origin.base.defined() ? origin.base : a;
  impl.base_grad_fn = impl.base.impl().grad_fn;
}

const std::shared_ptr<Node>& history(TensorImpl& impl) {
  if (!impl.base.defined() || impl.base.impl().grad_fn == impl.base_grad_fn) return impl.grad_fn;
  impl.base_grad_fn = impl.base.impl().grad_fn;
  impl.grad_fn = make_node("AsStridedBackward", {impl.base},
                           [span = StridedSpan(impl.base.data(), impl.data)](const TensorList& g) {
                             return TensorList{span.gradient_of_view(g[0])};
                           });
  dlprim::Tensor description = impl.data;
  description.storage = nullptr;
  impl.grad_fn->outputs = {std::move(description)};
  impl.output_index = 0;
  impl.requires_grad = true;
  return impl.grad_fn;
}

Edge edge_to(const Tensor& tensor) {
  if (!tensor.defined()) return {};
  TensorImpl& impl = tensor.impl();
  if (const std::shared_ptr<Node>& node = history(impl)) return {node, impl.output_index};
  if (!impl.requires_grad) return {};
  std::shared_ptr<AccumulateGrad> accumulator = impl.accumulator.lock();
  if (!accumulator) {
    accumulator = std::make_shared<AccumulateGrad>(tensor.impl_pointer());
    impl.accumulator = accumulator;
  }
  return {accumulator, 0};
}

void begin_saving() {
  has_saved = false;
}

std::shared_ptr<Node> make_node(const char* name, const TensorList& inputs, Backward backward) {
  const bool saves_tensors = std::exchange(has_saved, false);
  std::vector<Edge> edges;
  edges.reserve(inputs.size());
  for (const Tensor& input : inputs) edges.push_back(edge_to(input));
  return std::make_shared<Node>(name, std::move(edges), std::move(backward), saves_tensors);
}

void set_history(const TensorList& outputs, const std::shared_ptr<Node>& node) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    TensorImpl& impl = outputs[i].impl();
    dlprim::Tensor description = impl.data;
    const bool differentiable = is_floating(description.dtype);
    description.storage = nullptr;  // the tape must not keep the result alive
    node->outputs.push_back(std::move(description));
    if (!differentiable) continue;
    impl.grad_fn = node;
    impl.output_index = static_cast<int>(i);
    impl.requires_grad = true;
  }
}

void set_history_in_place(const char* name, Tensor& target, const TensorList& others, Backward backward) {
  const bool is_view = target.impl().base.defined();
  const Tensor whole = is_view ? target.impl().base : target;
  TensorList inputs{whole};
  inputs.insert(inputs.end(), others.begin(), others.end());
  if (is_view)
    backward = [span = StridedSpan(whole.data(), target.data()), backward = std::move(backward)](
                   const TensorList& g) { return span.gradients_of_write(g[0], backward); };
  set_history({whole}, make_node(is_view ? "CopySlices" : name, inputs, std::move(backward)));
}

}  // namespace ocl
