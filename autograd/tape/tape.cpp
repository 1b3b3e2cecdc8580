#include "autograd/tape/tape.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "autograd/ops/formats.h"
#include "autograd/ops/inplace.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/strided.h"
#include "autograd/ops/views.h"
#include "autograd/tape/anomaly.h"
#include "autograd/tape/gradients.h"
#include "autograd/tape/saved_tensor_hooks.h"
#include "dlprim/core/call_state.h"
#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/runtime/pending.h"

namespace ocl {
namespace {

std::atomic<std::uint64_t> next_sequence{1};
thread_local bool recording = true;
thread_local const WantedGradients* wanted_gradients = nullptr;
thread_local const StridedSpan* written_span = nullptr;  // of the view that the node wrote through
thread_local bool has_saved = false;                     // a tensor, for the node that is made next

// Nodes whose destruction is due. A chain of nodes would otherwise destroy itself recursively and overflow
// the stack. A list of the outermost destructor's own: no thread-local object that a static tensor could
// outlive.
thread_local std::vector<std::shared_ptr<Node>>* dying = nullptr;

constexpr std::uint64_t before_all_nodes = UINT64_MAX;  // a leaf's gradient is used as soon as it is complete

/** `tensor` without its memory, which the tape must not keep alive. */
dlprim::Tensor description_of(dlprim::Tensor tensor) {
  tensor.storage = nullptr;
  return tensor;
}

}  // namespace

Node::Node(std::string name, std::vector<Edge> next, Backward backward, bool saves_tensors)
    : name_(std::move(name)),
      next_(std::move(next)),
      sequence_(next_sequence++),
      saves_tensors_(saves_tensors),
      backward_(std::move(backward)) {
  if (autograd::is_anomaly_enabled()) origin_ = origin_of_call();
  if (dlprim::names_modules() && dlprim::call_state.module) module_ = dlprim::call_state.module;
}

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

/** A run of a backward closure, which stays until the last run ends. */
class Node::Use {
 public:
  Use(Node& node, bool keep) : node_(node) {
    const std::lock_guard locked(node_.mutex_);
    dlprim::require<AutogradError>(
        !node_.is_spent_, node_.name_,
        ": trying to backward through the graph a second time (or directly access saved tensors after they "
        "have already been freed). Saved intermediate values of the graph are freed when you call "
        ".backward() or "
        "autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second "
        "time.");
    node_.is_spent_ = !keep;
    ++node_.runs_;
  }
  ~Use() {
    Backward backward;
    Foreign foreign;
    const std::lock_guard locked(node_.mutex_);
    if (--node_.runs_ > 0 || !node_.is_spent_) return;
    backward.swap(node_.backward_);
    foreign.swap(node_.foreign_);
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

 private:
  Node& node_;
};

TensorList Node::run(const TensorList& gradients, bool keep) {
  const Use use(*this, keep || !saves_tensors_);
  return backward_(gradients);
}

int Node::add(NumberedHook hook) {
  auto added = std::make_shared<NumberedHook>(std::move(hook));
  const std::lock_guard locked(mutex_);
  added->number = next_hook_++;
  const auto later = [&](const auto& held) { return held->kind > added->kind; };
  hooks_.insert(std::find_if(hooks_.begin(), hooks_.end(), later), added);
  return added->number;
}

int Node::add_hook(int output, Hook hook, Foreign foreign) {
  return add({0, output, std::move(hook), std::move(foreign), NumberedHook::Kind::before});
}

void Node::add_observer(int output, Hook hook) {
  add({0, output, std::move(hook), {}, NumberedHook::Kind::observer});
}

int Node::add_post_hook(Hook hook, Foreign foreign) {
  return add({0, 0, std::move(hook), std::move(foreign), NumberedHook::Kind::after});
}

void Node::remove_hook(int number) {
  std::shared_ptr<const NumberedHook> removed;  // goes when the lock is free again
  const std::lock_guard locked(mutex_);
  const auto found = std::find_if(hooks_.begin(), hooks_.end(),
                                  [number](const auto& hook) { return hook->number == number; });
  if (found == hooks_.end()) return;
  removed = *found;
  hooks_.erase(found);
}

Node::Hooks Node::hooks() const {
  const std::lock_guard locked(mutex_);
  return hooks_;
}

void Node::call_hooks(TensorList& gradients) const {
  for (const auto& hook : hooks()) {  // a copy: a hook may remove itself
    if (hook->kind == NumberedHook::Kind::after) break;
    Tensor& gradient = gradients[static_cast<std::size_t>(hook->output)];
    if (!gradient.defined()) continue;
    const GradientKind expected(gradient);
    if (const Tensor replaced = hook->call(gradient); replaced.defined()) gradient = replaced;
    expected.require_same(gradient, "a hook has changed");
  }
}

void Node::call_post_hooks(const Tensor& argument) const {
  for (const auto& hook : hooks())
    if (hook->kind == NumberedHook::Kind::after) hook->call(argument);
}

std::vector<void*> Node::foreign_objects() const {
  std::vector<void*> objects;
  const std::lock_guard locked(mutex_);
  if (foreign_.use_count() == 1) objects.push_back(foreign_.get());
  for (const auto& hook : hooks_)
    if (hook->foreign.use_count() == 1) objects.push_back(hook->foreign.get());
  return objects;
}

void Node::drop_foreign() {
  Hooks hooks;  // these go when the lock is free again
  Backward backward;
  Foreign foreign;
  const std::lock_guard locked(mutex_);
  hooks.swap(hooks_);
  if (!foreign_) return;
  is_spent_ = true;
  if (runs_ > 0) return;
  backward.swap(backward_);
  foreign.swap(foreign_);
}

AccumulateGrad::AccumulateGrad(std::weak_ptr<TensorImpl> leaf)
    : Node("AccumulateGrad", before_all_nodes), leaf_(std::move(leaf)) {}

std::shared_ptr<TensorImpl> AccumulateGrad::leaf() const {
  const std::lock_guard locked(leaf_mutex_);
  return leaf_.lock();
}

void AccumulateGrad::follow(std::weak_ptr<TensorImpl> leaf) {
  const std::lock_guard locked(leaf_mutex_);
  leaf_.swap(leaf);
}

TensorList AccumulateGrad::run(const TensorList& gradients, bool) {
  const std::shared_ptr<TensorImpl> leaf = this->leaf();
  const Tensor& arrived = gradients[0];
  if (!leaf || !arrived.defined()) return {};
  const GradientKind wanted(leaf->data);  // the leaf may have been given other memory since
  if (wanted.fits(arrived))
    add_to_leaf(arrived);
  else
    add_to_leaf(wanted.fitted(arrived, name(), 0));
  return {};
}

namespace {

/** The strides of a leaf's gradient: the leaf's own, so that a step walks both side by side, or, where those
 * are not dense, row-major ones. */
Dims gradient_strides(const dlprim::Tensor& leaf) {
  return dlprim::is_dense(leaf) ? leaf.strides : dlprim::contiguous_strides(leaf.shape);
}

}  // namespace

void AccumulateGrad::add_to_leaf(const Tensor& gradient) const {
  const std::shared_ptr<TensorImpl> leaf = this->leaf();
  if (!leaf) return;
  {
    Tensor sum;
    const std::lock_guard locked(adding_);
    sum = leaf->grad();
    if (recording) {  // the gradients before may be part of another graph: they stay as they are
      sum = leaf->set_grad(sum.defined() ? ocl::add(sum, gradient) : gradient.clone());
    } else if (sum.defined()) {
      sum.add_(gradient);
    } else {
      // A gradient that nothing else holds is taken as it is; one that a sibling shares is copied.
      const bool exclusive =
          gradient.impl_pointer().use_count() == 1 && dlprim::holders(gradient.data().storage) == 1;
      const Tensor own = laid_out(gradient, gradient_strides(leaf->data));
      sum = leaf->set_grad(exclusive || !is_same(own, gradient) ? own : gradient.clone());
    }
  }
  call_post_hooks(Tensor(leaf));
}

TensorImpl::~TensorImpl() {
  if (peer.is_owned()) Peer::let_go(*this);
}

Tensor TensorImpl::grad() const {
  const std::lock_guard locked(mutex_);
  return grad_;
}

Tensor TensorImpl::set_grad(Tensor grad) {
  const std::lock_guard locked(mutex_);
  return std::exchange(grad_, std::move(grad));
}

Edge TensorImpl::made_by() const {
  const std::lock_guard locked(mutex_);
  return made_by_;
}

void TensorImpl::set_made_by(Edge made_by) {
  {
    const std::lock_guard locked(mutex_);
    std::swap(made_by_, made_by);
  }
  set_requires_grad(true);
}

std::shared_ptr<Node> TensorImpl::base_node() const {
  const std::lock_guard locked(mutex_);
  return base_node_;
}

void TensorImpl::set_base_node(std::shared_ptr<Node> node) {
  const std::lock_guard locked(mutex_);
  base_node_.swap(node);
}

std::optional<Edge> TensorImpl::made_by_over(const std::shared_ptr<Node>& base_node) const {
  const std::lock_guard locked(mutex_);
  return base_node_ == base_node ? std::optional(made_by_) : std::nullopt;
}

void TensorImpl::set_made_by_over(std::shared_ptr<Node> base_node, Edge made_by) {
  {
    const std::lock_guard locked(mutex_);
    std::swap(made_by_, made_by);
    base_node_.swap(base_node);
  }
  set_requires_grad(true);
}

std::shared_ptr<AccumulateGrad> TensorImpl::accumulator() {
  const std::lock_guard locked(mutex_);
  std::shared_ptr<AccumulateGrad> found = accumulator_.lock();
  if (!found) accumulator_ = found = std::make_shared<AccumulateGrad>(weak_from_this());
  return found;
}

void TensorImpl::keep_accumulator(std::shared_ptr<AccumulateGrad> accumulator) {
  const std::lock_guard locked(mutex_);
  kept_accumulator_.swap(accumulator);
}

std::shared_ptr<Node> TensorImpl::kept_accumulator() const {
  const std::lock_guard locked(mutex_);
  return kept_accumulator_;
}

std::shared_ptr<TensorImpl> TensorImpl::successor() {
  auto next = std::make_shared<TensorImpl>();
  next->data = std::move(data);
  next->base = std::move(base);
  next->is_unrecorded_view = is_unrecorded_view;
  next->retains_grad = retains_grad.load();
  next->is_parameter = is_parameter.load();
  next->set_requires_grad(requires_grad());
  next->made_by_ = std::move(made_by_);
  next->base_node_ = std::move(base_node_);
  next->grad_ = std::move(grad_);
  next->kept_accumulator_ = std::move(kept_accumulator_);
  if (const std::shared_ptr<AccumulateGrad> accumulator = accumulator_.lock()) {
    accumulator->follow(next);
    next->accumulator_ = accumulator;
  }
  next->peer.set(peer.object());
  peer.set(nullptr);
  peer.set_owned(false);  // last: a destructor that waits to run looks at it
  return next;
}

namespace {

/** The hooks that are on, the last ones first. Not a list: nothing is made where there are none. */
struct Saving {
  std::shared_ptr<const SavedTensorHooks> hooks;
  Saving* outer;
};
thread_local Saving* saving = nullptr;

/** Stands for the storage of a tensor that a pack hook has replaced: a storage that owns nothing. */
struct Packed {
  std::shared_ptr<const SavedTensorHooks> hooks;
  Foreign value;
  GradientKind kind;
  void operator()(dlprim::Storage*) const {}
};

/** No hooks and no tape while a hook runs. */
class WithoutHooks {
 public:
  WithoutHooks() { push_saved_tensor_hooks(nullptr); }
  ~WithoutHooks() { pop_saved_tensor_hooks(); }
  WithoutHooks(const WithoutHooks&) = delete;
  WithoutHooks& operator=(const WithoutHooks&) = delete;

 private:
  NoGradGuard without_tape_;
};

std::shared_ptr<dlprim::Storage> pack(const Tensor& tensor) {
  static char nothing;
  const std::shared_ptr<const SavedTensorHooks> hooks = saving->hooks;
  const WithoutHooks off;
  Packed packed{hooks, hooks->pack(tensor.is_leaf() ? tensor : Tensor(tensor.data())), GradientKind(tensor)};
  return {reinterpret_cast<dlprim::Storage*>(&nothing), std::move(packed)};
}

/** Hooks gave these back while nodes run; they go when the outermost node has run. */
thread_local std::deque<dlprim::Tensor> unpacked;

const dlprim::Tensor& unpack(const Packed& packed, const dlprim::Tensor& saved) {
  if (!wanted_gradients) unpacked.clear();
  const WithoutHooks off;
  Tensor tensor = packed.hooks->unpack(packed.value);
  packed.kind.require_same(tensor, "an unpack hook has changed");
  if (dlprim::is_dense(saved)) tensor = laid_out(tensor, saved.strides);
  return unpacked.emplace_back(tensor.data());
}

}  // namespace

void push_saved_tensor_hooks(std::shared_ptr<const SavedTensorHooks> hooks) {
  saving = new Saving{std::move(hooks), saving};
}

void pop_saved_tensor_hooks() {
  const std::unique_ptr<Saving> last(saving);
  if (last) saving = last->outer;
}

bool packs_saved_tensors() {
  return saving && saving->hooks;
}

SavedTensor::SavedTensor(const Tensor& tensor) {
  if (!tensor.defined()) return;
  if (!packs_saved_tensors()) {
    *this = SavedTensor(tensor.data());
    return;
  }
  data_ = tensor.data();
  data_.storage = pack(tensor);
  has_saved = true;
}

SavedTensor::SavedTensor(const dlprim::Tensor& data) : data_(data) {
  if (packs_saved_tensors())
    data_.storage = pack(Tensor(data));
  else
    version_ = data_.storage->version();
  has_saved = true;
}

const dlprim::Tensor& SavedTensor::unpack() const {
  if (const Packed* packed = std::get_deleter<Packed>(data_.storage)) return ocl::unpack(*packed, data_);
  const std::uint32_t now = data_.storage->version();
  dlprim::require<AutogradError>(now == version_,
                                 "one of the variables needed for gradient computation has been modified by "
                                 "an inplace operation: a tensor of shape ",
                                 data_.shape, " is at version ", now, "; expected version ", version_,
                                 " instead");
  return data_;
}

namespace {

/** Gives `saved` the history that `edge` leads to; of an input or output that is the whole of what the node
 * wrote a view of (`may_be_view`), that of the view. */
Tensor with_history(const Tensor& saved, const Edge& edge, bool may_be_view) {
  if (!recording || !edge.node || !is_differentiable(saved.dtype())) return saved;
  Edge own = edge;
  if (may_be_view && written_span) {
    own = {
        std::make_shared<Node>(
            "AsStridedBackward", std::vector<Edge>{edge},
            [span = *written_span](const TensorList& g) { return TensorList{span.gradient_of_view(g[0])}; },
            false),
        0};
    own.node->outputs = {description_of(saved.data())};
  }
  saved.impl().set_made_by(own);
  return saved;
}

}  // namespace

Tensor SavedTensor::input(std::size_t number) const {
  if (!defined()) return {};
  const Tensor saved(unpack());
  if (!wanted_gradients) return saved;
  return with_history(saved, wanted_gradients->node().next().at(number), number == 0);
}

Tensor SavedTensor::output(std::size_t number) const {
  if (!defined()) return {};
  const Tensor saved(unpack());
  if (!wanted_gradients) return saved;
  return with_history(saved, {wanted_gradients->node().shared_from_this(), static_cast<int>(number)}, true);
}

WrittenView::WrittenView(const StridedSpan& span) : outer_(std::exchange(written_span, &span)) {}
WrittenView::~WrittenView() {
  written_span = outer_;
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
  impl.set_base_node(impl.base.impl().made_by().node);
}

namespace {

void observe(const Edge& edge, const std::weak_ptr<TensorImpl>& tensor) {
  edge.node->add_observer(edge.index, [tensor, node = edge.node.get()](const Tensor& gradient) {
    const std::shared_ptr<TensorImpl> impl = tensor.lock();
    if (!impl || impl->made_by().node.get() != node) return Tensor();  // written since: of a former value
    const Tensor before = impl->grad();
    impl->set_grad(before.defined() ? before.add(gradient) : gradient.clone());
    return Tensor();
  });
}

}  // namespace

void retain_grad(TensorImpl& impl) {
  observe(history(impl), impl.weak_from_this());
}

Edge history(TensorImpl& impl) {
  if (!impl.base.defined()) return impl.requires_grad() ? impl.made_by() : Edge();
  const TensorImpl& base = impl.base.impl();
  if (!impl.requires_grad() && !base.requires_grad()) return {};
  std::shared_ptr<Node> base_node = base.made_by().node;
  if (std::optional<Edge> made_by = impl.made_by_over(base_node)) return *std::move(made_by);
  const std::shared_ptr<Node> node =
      make_node("AsStridedBackward", {impl.base},
                [span = StridedSpan(impl.base.data(), impl.data)](const TensorList& g) {
                  return TensorList{span.gradient_of_view(g[0])};
                });
  node->outputs = {description_of(impl.data)};
  impl.set_made_by_over(std::move(base_node), {node, 0});
  if (impl.retains_grad) observe({node, 0}, impl.weak_from_this());
  return {node, 0};
}

HookHandle register_hook(const Tensor& tensor, Hook hook, Foreign foreign) {
  dlprim::require<AutogradError>(tensor.requires_grad(),
                                 "cannot register a hook on a tensor that doesn't require gradient");
  Edge edge = history(tensor.impl());
  if (!edge.node) {
    const auto accumulator = tensor.impl().accumulator();
    tensor.impl().keep_accumulator(accumulator);
    edge = {accumulator, 0};
  }
  return {edge.node, edge.node->add_hook(edge.index, std::move(hook), std::move(foreign))};
}

HookHandle register_post_accumulate_grad_hook(const Tensor& leaf, std::function<void(const Tensor&)> hook,
                                              Foreign foreign) {
  dlprim::require<AutogradError>(leaf.requires_grad(),
                                 "cannot register a hook on a tensor that doesn't require gradient");
  dlprim::require<AutogradError>(!leaf.grad_fn(),
                                 "post accumulate grad hooks cannot be registered on non-leaf tensors");
  const auto accumulator = leaf.impl().accumulator();
  leaf.impl().keep_accumulator(accumulator);
  const int number = accumulator->add_post_hook(
      [hook = std::move(hook)](const Tensor& complete) {
        hook(complete);
        return Tensor();
      },
      std::move(foreign));
  return {accumulator, number};
}

WantedGradients::WantedGradients(Node& node, const std::unordered_set<Node*>* needed)
    : node_(node),
      needed_(needed),
      outer_(std::exchange(wanted_gradients, this)),
      outer_span_(std::exchange(written_span, nullptr)) {}

WantedGradients::~WantedGradients() {
  wanted_gradients = outer_;
  written_span = outer_span_;
  if (!outer_) unpacked.clear();
}

bool WantedGradients::has(std::size_t input) const {
  const std::shared_ptr<Node>& node = node_.next().at(input).node;
  return node && (!needed_ || needed_->count(node.get()) > 0);
}

bool gradient_is_wanted(std::size_t input) {
  return !wanted_gradients || wanted_gradients->has(input);
}

Edge edge_to(const Tensor& tensor) {
  if (!tensor.defined()) return {};
  TensorImpl& impl = tensor.impl();
  if (Edge made_by = history(impl); made_by.node) return made_by;
  if (!impl.requires_grad()) return {};
  return {impl.accumulator(), 0};
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
  for (const Tensor& output : outputs) node->outputs.push_back(description_of(output.data()));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!is_differentiable(outputs[i].dtype())) continue;
    outputs[i].impl().set_made_by({node, static_cast<int>(i)});
    if (outputs[i].impl().retains_grad) retain_grad(outputs[i].impl());
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
