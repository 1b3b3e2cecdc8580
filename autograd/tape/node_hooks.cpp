#include "autograd/tape/node_hooks.h"

#include <unordered_map>

#include "autograd/tape/gradients.h"

namespace ocl {
namespace {

/** A hook lives as long as `alive`, which its node holds: so the node's owner frees what the hook holds. */
struct OfNode {
  std::weak_ptr<void> alive;
  NodePreHook before;
  NodeHook after;
};

struct Registry {
  std::mutex mutex;  // never held while a hook runs or goes away
  std::unordered_multimap<const Node*, std::shared_ptr<const OfNode>> hooks;
  std::atomic<std::size_t> count{0};
};

Registry& registry() {
  static Registry& all = *new Registry;
  return all;
}

HookHandle add(Node& node, OfNode hook, Foreign foreign) {
  if (!foreign) foreign = std::make_shared<int>();
  hook.alive = foreign;
  const int number = node.add_post_hook([](const Tensor&) { return Tensor(); }, std::move(foreign));
  std::vector<std::shared_ptr<const OfNode>> gone;  // when the lock is free again
  Registry& all = registry();
  const std::lock_guard locked(all.mutex);
  for (auto each = all.hooks.begin(); each != all.hooks.end();) {
    if (each->second->alive.expired()) {
      gone.push_back(each->second);
      each = all.hooks.erase(each);
    } else {
      ++each;
    }
  }
  all.hooks.emplace(&node, std::make_shared<const OfNode>(std::move(hook)));
  all.count = all.hooks.size();
  return {node.weak_from_this(), number};
}

/** The node's hooks in the order in which they came, each with the share that keeps it alive. */
std::vector<std::pair<std::shared_ptr<void>, std::shared_ptr<const OfNode>>> hooks_of(const Node& node) {
  std::vector<std::pair<std::shared_ptr<void>, std::shared_ptr<const OfNode>>> found;
  Registry& all = registry();
  const std::lock_guard locked(all.mutex);
  const auto [begin, end] = all.hooks.equal_range(&node);
  for (auto each = begin; each != end; ++each)
    if (std::shared_ptr<void> alive = each->second->alive.lock()) found.emplace_back(alive, each->second);
  return found;
}

void replace(TensorList& gradients, TensorList given, const Node& node) {
  if (given.empty()) return;
  dlprim::require<AutogradError>(given.size() == gradients.size(), node.name(), ": a hook gave ",
                                 given.size(), " gradients for ", gradients.size());
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (!given[i].defined()) continue;
    if (gradients[i].defined()) GradientKind(gradients[i]).require_same(given[i], "a hook has changed");
    gradients[i] = given[i];
  }
}

}  // namespace

HookHandle add_node_hook(Node& node, NodePreHook hook, Foreign foreign) {
  return add(node, {{}, std::move(hook), {}}, std::move(foreign));
}

HookHandle add_node_hook(Node& node, NodeHook hook, Foreign foreign) {
  return add(node, {{}, {}, std::move(hook)}, std::move(foreign));
}

bool any_node_has_hooks() {
  return registry().count.load(std::memory_order_relaxed) > 0;
}

void call_node_hooks_before(const Node& node, TensorList& gradients) {
  for (const auto& [alive, hook] : hooks_of(node))
    if (hook->before) replace(gradients, hook->before(gradients), node);
}

void call_node_hooks_after(const Node& node, TensorList& results, const TensorList& gradients) {
  for (const auto& [alive, hook] : hooks_of(node))
    if (hook->after) replace(results, hook->after(results, gradients), node);
}

}  // namespace ocl
