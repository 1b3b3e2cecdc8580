#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "nn/stack_guard.h"

namespace ocl::nn {

/** "conv1.weight"; the name alone where there is no path. */
inline std::string dotted(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + '.' + name;
}

/**
 * One level of a walk that calls itself for the modules below, so that classes may override what is done with
 * them. The outermost refuses modules that contain themselves, and a nest of more than a thousand levels,
 * or too deep for the thread's stack, is refused too: both throw RecursionError.
 */
class WalkLevel {
 public:
  explicit WalkLevel(const Module& module);
  ~WalkLevel();
  WalkLevel(const WalkLevel&) = delete;
  WalkLevel& operator=(const WalkLevel&) = delete;
};

/** The entries, each value once, as PyTorch's walks meet children. `key_of(value)`: which one it is. */
template <class Entries, class KeyOf>
Entries distinct(Entries entries, const KeyOf& key_of) {
  std::set<const void*> met;
  const auto again = [&](const auto& entry) { return !met.insert(key_of(entry.second)).second; };
  entries.erase(std::remove_if(entries.begin(), entries.end(), again), entries.end());
  return entries;
}

/**
 * `root` under `prefix` and what is below it under dotted names, each before what it holds: modules, or what
 * stands for them. `key_of(node)`: which one it is; `children_of(node)`: pairs of a name and a node. A loop,
 * so that depth costs no stack.
 */
template <class Node, class KeyOf, class ChildrenOf>
std::vector<std::pair<std::string, Node>> listed(const std::string& prefix, Node root, bool remove_duplicate,
                                                 const KeyOf& key_of, const ChildrenOf& children_of) {
  std::set<const void*> seen;
  std::vector<std::pair<std::string, Node>> all, stack;
  stack.emplace_back(prefix, std::move(root));
  while (!stack.empty()) {
    const auto [path, node] = std::move(stack.back());
    stack.pop_back();
    if (!seen.insert(key_of(node)).second && remove_duplicate) continue;
    all.emplace_back(path, node);
    auto children = children_of(node);
    for (auto child = children.rbegin(); child != children.rend(); ++child)
      stack.emplace_back(dotted(path, child->first), std::move(child->second));
  }
  return all;
}

}  // namespace ocl::nn
