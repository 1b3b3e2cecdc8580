#include "autograd/tape/engine.h"

#include <algorithm>
#include <map>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "autograd/ops/call.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/views.h"
#include "autograd/tape/anomaly.h"
#include "autograd/tape/gradients.h"
#include "autograd/tape/node_hooks.h"
#include "autograd/tape/tape.h"
#include "autograd/tensor/creation.h"

namespace ocl {
namespace {

using dlprim::require;

class Pass;
thread_local Pass* walked_pass = nullptr;

/** Gradients asked for by autograd::grad: (node, index) to the place in the answer. */
using Captures = std::map<std::pair<Node*, int>, std::size_t>;

struct ByAge {
  bool operator()(const std::shared_ptr<Node>& a, const std::shared_ptr<Node>& b) const {
    return a->sequence() < b->sequence();
  }
};

/** Nodes below `roots`, those from which a capture can be reached. */
std::unordered_set<Node*> nodes_towards(const std::vector<Edge>& roots, const Captures& captures) {
  std::unordered_set<Node*> seen;
  std::vector<Node*> order, stack;
  for (const Edge& root : roots)
    if (root.node && seen.insert(root.node.get()).second) stack.push_back(root.node.get());
  while (!stack.empty()) {
    Node* node = stack.back();
    stack.pop_back();
    order.push_back(node);
    for (const Edge& edge : node->next())
      if (edge.node && seen.insert(edge.node.get()).second) stack.push_back(edge.node.get());
  }
  // Inputs of a node are older than the node, except accumulators, which have no inputs.
  std::sort(order.begin(), order.end(), [](Node* a, Node* b) {
    const bool a_ends = a->next().empty(), b_ends = b->next().empty();
    return a_ends != b_ends ? a_ends : a->sequence() < b->sequence();
  });
  std::unordered_set<Node*> needed;
  for (const auto& [place, answer] : captures) needed.insert(place.first);
  for (Node* node : order)
    for (const Edge& edge : node->next())
      if (edge.node && needed.count(edge.node.get())) needed.insert(node);
  return needed;
}

/**
 * One backward pass. A node runs as soon as all that use its outputs have run, so that its gradients are
 * complete: ends of the tape first, that a leaf's hooks may begin to send its gradient elsewhere, then the
 * youngest. The walk is a loop, so that depth costs no stack.
 */
class Pass {
 public:
  Pass(bool keep_graph, const Captures* captures, std::size_t answers)
      : keep_graph_(keep_graph), captures_(captures), answers_(answers), outer_(walked_pass) {
    static std::atomic<std::uint64_t> next{1};
    number_ = next++;
    walked_pass = this;
  }
  ~Pass() {
    try {
      end(false);
    } catch (...) {  // the error that stopped the pass is the one to tell
    }
    walked_pass = outer_;
  }
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;

  std::uint64_t number() const { return number_; }
  /** Whether the node is visited now or later. */
  bool is_to_be_visited(Node& node) const { return &node == visited_ || waiting_.count(&node) > 0; }

  TensorList run(const std::vector<Edge>& roots, const TensorList& gradients) {
    const InterceptedFrom nobody(nullptr);  // what runs here was chosen as the graph was made
    if (captures_) needed_ = nodes_towards(roots, *captures_);
    count_users(roots);
    for (std::size_t i = 0; i < roots.size(); ++i) send(roots[i], gradients[i]);
    while (!ready_.empty()) {
      const std::shared_ptr<Node> node = ready_.top();
      ready_.pop();
      const auto found = waiting_.find(node.get());
      TensorList arrived = std::move(found->second.arrived);
      waiting_.erase(found);
      visited_ = node.get();
      visit(*node, arrived);
    }
    end(true);
    return std::move(answers_);
  }
  void at_end(std::function<void(bool)> end) { ends_.push_back(std::move(end)); }

 private:
  /** The gradients that a node has got so far. */
  struct Waiting {
    std::size_t missing = 0;  // gradients that are still to come, undefined ones among them
    TensorList arrived;
  };

  bool is_wanted(const Edge& edge) const {
    return edge.node && (!captures_ || needed_.count(edge.node.get()));
  }

  bool runs(const Node& node) const {
    const std::vector<Edge>& next = node.next();
    return !captures_ || std::any_of(next.begin(), next.end(), [&](const Edge& e) { return is_wanted(e); });
  }

  void count_users(const std::vector<Edge>& roots) {
    std::vector<Node*> stack;
    const auto count = [&](const Edge& edge) {
      if (!is_wanted(edge)) return;
      const auto [found, is_new] = waiting_.try_emplace(edge.node.get());
      ++found->second.missing;
      if (is_new) stack.push_back(edge.node.get());
    };
    for (const Edge& root : roots) count(root);
    while (!stack.empty()) {
      const Node* node = stack.back();
      stack.pop_back();
      if (!runs(*node)) continue;
      for (const Edge& edge : node->next()) count(edge);
    }
  }

  /** An undefined gradient counts as well: the node waits for no more of it. */
  void send(const Edge& edge, const Tensor& gradient) {
    if (!is_wanted(edge)) return;
    Waiting& waiting = waiting_.at(edge.node.get());
    if (gradient.defined()) {
      TensorList& slots = waiting.arrived;
      const auto index = static_cast<std::size_t>(edge.index);
      if (slots.size() <= index) slots.resize(std::max(index + 1, edge.node->outputs.size()));
      slots[index] = slots[index].defined() ? add(slots[index], gradient) : gradient;
    }
    if (--waiting.missing == 0) ready_.push(edge.node);
  }

  TensorList run(Node& node, const TensorList& gradients) const {
    const dlprim::CallScope entered(node.name().c_str(), dlprim::Call::Kind::backward, "gradients",
                                    gradients);
    if (!node.module().empty()) dlprim::call_state.module = node.module().c_str();  // as long as `entered`
    const WantedGradients wanted(node, captures_ ? &needed_ : nullptr);
    return node.run(gradients, keep_graph_);
  }

  void visit(Node& node, TensorList& arrived) {
    TensorList results;
    if (arrived.empty()) {  // nothing depends on its outputs
      if (runs(node)) results.resize(node.next().size());
    } else {
      node.call_hooks(arrived);
      capture(node, arrived);
      if (!runs(node)) return;
      const bool may_have_hooks = any_node_has_hooks();
      if (may_have_hooks) call_node_hooks_before(node, arrived);
      const auto is_any = [&] {  // hooks may have taken all gradients away
        return std::any_of(arrived.begin(), arrived.end(), [](const Tensor& g) { return g.defined(); });
      };
      if (!may_have_hooks || is_any()) {
        results = run(node, arrived);
        check_gradients(node, results);
      } else {
        results.resize(node.next().size());
      }
      if (may_have_hooks) call_node_hooks_after(node, results, arrived);
      arrived.clear();
    }
    for (std::size_t i = 0; i < results.size(); ++i) send(node.next()[i], results[i]);
  }

  void end(bool is_complete) {
    const auto ends = std::exchange(ends_, {});
    for (const auto& each : ends) each(is_complete);
  }

  void capture(Node& node, const TensorList& arrived) {
    if (!captures_) return;
    for (std::size_t i = 0; i < arrived.size(); ++i)
      if (const auto found = captures_->find({&node, static_cast<int>(i)}); found != captures_->end())
        answers_[found->second] = arrived[i];
  }

  const bool keep_graph_;
  const Captures* captures_;
  std::unordered_set<Node*> needed_;
  TensorList answers_;
  Pass* const outer_;
  std::vector<std::function<void(bool)>> ends_;
  const Node* visited_ = nullptr;
  std::uint64_t number_;
  std::unordered_map<Node*, Waiting> waiting_;
  std::priority_queue<std::shared_ptr<Node>, std::vector<std::shared_ptr<Node>>, ByAge> ready_;
};

TensorList initial_gradients(const TensorList& outputs, const TensorList& gradients) {
  require(gradients.empty() || gradients.size() == outputs.size(), "backward: ", outputs.size(),
          " outputs but ", gradients.size(), " gradients");
  TensorList initial;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& output = outputs[i];
    require<AutogradError>(output.requires_grad(), "element ", i,
                           " of tensors does not require grad and does not have a grad_fn");
    if (!gradients.empty() && gradients[i].defined()) {
      require(gradients[i].shape() == output.shape(), "backward: gradient of shape ", gradients[i].shape(),
              " for an output of shape ", output.shape());
      initial.push_back(GradientKind(output).fitted(gradients[i], "backward", i));
      continue;
    }
    require<AutogradError>(output.numel() == 1,
                           "grad can be implicitly created only for scalar outputs, got shape ",
                           output.shape());
    require<AutogradError>(is_floating(output.dtype()),
                           "grad can be implicitly created only for real scalar outputs, got ",
                           name(output.dtype()));
    initial.push_back(ones(output.shape().vector(), output.dtype(), output.device()));
  }
  return initial;
}

std::vector<Edge> edges_to(const TensorList& tensors) {
  std::vector<Edge> edges;
  for (const Tensor& tensor : tensors) edges.push_back(edge_to(tensor));
  return edges;
}

}  // namespace

std::uint64_t current_pass() {
  return walked_pass ? walked_pass->number() : 0;
}

void at_end_of_pass(std::function<void(bool)> end) {
  require<AutogradError>(walked_pass, "at_end_of_pass: this thread walks no backward pass");
  walked_pass->at_end(std::move(end));
}

bool is_to_be_visited(Node& node) {
  return walked_pass && walked_pass->is_to_be_visited(node);
}

void backward(const TensorList& outputs, const TensorList& gradients, std::optional<bool> retain_graph,
              bool create_graph, const TensorList& inputs) {
  const GradMode mode(create_graph);
  if (!inputs.empty()) {
    const TensorList found = autograd::grad(outputs, inputs, gradients, retain_graph, create_graph, true);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!found[i].defined()) continue;
      if (inputs[i].is_leaf()) {
        inputs[i].impl().accumulator()->add_to_leaf(found[i]);
        continue;
      }
      const Tensor before = inputs[i].grad();
      inputs[i].impl().set_grad(before.defined() ? add(before, found[i]) : found[i].clone());
    }
    return;
  }
  const TensorList initial = initial_gradients(outputs, gradients);
  Pass(retain_graph.value_or(create_graph), nullptr, 0).run(edges_to(outputs), initial);
}

namespace autograd {

TensorList grad(const TensorList& outputs, const TensorList& inputs, const TensorList& grad_outputs,
                std::optional<bool> retain_graph, bool create_graph, bool allow_unused) {
  const GradMode mode(create_graph);
  const TensorList initial = initial_gradients(outputs, grad_outputs);
  Captures captures;
  std::vector<Edge> alive = edges_to(inputs);
  std::vector<std::size_t> answer_of(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    require<AutogradError>(inputs[i].requires_grad(), "grad: input ", i, " does not require grad");
    answer_of[i] = captures.try_emplace({alive[i].node.get(), alive[i].index}, i).first->second;
  }
  const TensorList found =
      Pass(retain_graph.value_or(create_graph), &captures, inputs.size()).run(edges_to(outputs), initial);
  TensorList answers;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    answers.push_back(found[answer_of[i]]);
    require<AutogradError>(
        allow_unused || answers[i].defined(),
        "One of the differentiated tensors appears to not have been used in the graph (input ", i,
        "). Set allow_unused=True if this is the desired behavior.");
  }
  return answers;
}

bool leads_beyond(const TensorList& tensors, const TensorList& leaves) {
  const std::vector<Edge> known = edges_to(leaves), roots = edges_to(tensors);  // keep the nodes
  std::unordered_set<const Node*> seen;
  for (const Edge& edge : known) seen.insert(edge.node.get());
  std::vector<const Node*> stack;
  const auto reach = [&](const std::vector<Edge>& edges) {
    for (const Edge& edge : edges)
      if (edge.node && seen.insert(edge.node.get()).second) stack.push_back(edge.node.get());
  };
  reach(roots);
  while (!stack.empty()) {
    const Node* node = stack.back();
    stack.pop_back();
    if (dynamic_cast<const AccumulateGrad*>(node)) return true;
    reach(node->next());
  }
  return false;
}

void record_function(const std::string& name, const TensorList& inputs, const TensorList& outputs,
                     const std::function<TensorList(const TensorList&)>& backward, bool saves_tensors,
                     std::shared_ptr<void> foreign) {
  if (!needs_tape(inputs)) return;
  const std::vector<GradientKind> expected(inputs.begin(), inputs.end());
  const auto checked = [name, backward, expected](const TensorList& gradients) {
    TensorList results = backward(gradients);
    require<AutogradError>(results.size() == expected.size(), name, ": returned ", results.size(),
                           " gradients for ", expected.size(), " inputs");
    for (std::size_t i = 0; i < results.size(); ++i)
      if (results[i].defined()) results[i] = expected[i].fitted(results[i], name, i);
    return results;
  };
  const auto node = std::make_shared<Node>(name, edges_to(inputs), checked, saves_tensors);
  node->set_foreign(std::move(foreign));
  set_history(outputs, node);
}

}  // namespace autograd
}  // namespace ocl
