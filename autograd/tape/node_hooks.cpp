#include "autograd/tape/node_hooks.h"

#include <iterator>
#include <unordered_map>

#include "autograd/tape/gradients.h"

namespace ocl {
namespace {

struct OfNode {
  NodePreHook before;
  NodeHook after;
};

/** The hooks of all nodes. Each belongs to its node, in which it lives. */
struct Registry {
  std::mutex mutex;  // never held while a hook runs or goes away
  std::unordered_multimap<const Node*, std::weak_ptr<const OfNode>> hooks;
  std::atomic<std::size_t> count{0};
};

Registry& registry() {
  static Registry& all = *new Registry;
  return all;
}

HookHandle add(Node& node, OfNode hook, Foreign foreign) {
  auto kept = std::make_shared<const OfNode>(std::move(hook));
  const std::weak_ptr<const OfNode> known = kept;
  const int number =
      node.add_post_hook([kept = std::move(kept)](const Tensor&) { return Tensor(); }, std::move(foreign));
  Registry& all = registry();
  const std::lock_guard locked(all.mutex);
  for (auto each = all.hooks.begin(); each != all.hooks.end();)
    each = each->second.expired() ? all.hooks.erase(each) : std::next(each);
  all.hooks.emplace(&node, known);
  all.count = all.hooks.size();
  return {node.weak_from_this(), number};
}

/** The node's hooks in the order in which they came. */
std::vector<std::shared_ptr<const OfNode>> hooks_of(const Node& node) {
  std::vector<std::shared_ptr<const OfNode>> found;
  Registry& all = registry();
  const std::lock_guard locked(all.mutex);
  const auto [begin, end] = all.hooks.equal_range(&node);
  for (auto each = begin; each != end; ++each)
    if (std::shared_ptr<const OfNode> hook = each->second.lock()) found.push_back(std::move(hook));
  return found;
}

void replace(TensorList& gradients, TensorList given, const Node& node) {
  if (given.empty()) return;
  dlprim::require<AutogradError>(given.size() == gradients.size(), node.name(), ": a hook gave ",
                                 given.size(), " gradients for ", gradients.size());
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (!given[i].defined()) continue;
    dlprim::require<AutogradError>(gradients[i].defined(), node.name(),
                                   ": a hook can't replace a None gradient with a non-None value");
    GradientKind(gradients[i]).require_same(given[i], "a hook has changed");
  }
  gradients = std::move(given);
}

}  // namespace

HookHandle add_node_hook(Node& node, NodePreHook hook, Foreign foreign) {
  return add(node, {std::move(hook), {}}, std::move(foreign));
}

HookHandle add_node_hook(Node& node, NodeHook hook, Foreign foreign) {
  return add(node, {{}, std::move(hook)}, std::move(foreign));
}

bool any_node_has_hooks() {
  return registry().count.load(std::memory_order_relaxed) > 0;
}

void call_node_hooks_before(const Node& node, TensorList& gradients) {
  for (const auto& hook : hooks_of(node))
    if (hook->before) replace(gradients, hook->before(gradients), node);
}

void call_node_hooks_after(const Node& node, TensorList& results, const TensorList& gradients) {
  for (const auto& hook : hooks_of(node))
    if (hook->after) replace(results, hook->after(results, gradients), node);
}

}  // namespace ocl
