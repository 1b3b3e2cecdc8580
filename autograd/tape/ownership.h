#pragma once

#include <deque>
#include <unordered_map>
#include <vector>

#include "autograd/tape/tape.h"

namespace ocl {

/**
 * Finds the tensors and the part of the tape that some tensors keep alive and nothing else does. A garbage
 * collector of another language asks it which foreign objects (peers of tensors, closures of hooks, contexts
 * of functions) belong to its own objects. Objects that others hold too are left out, since they live on
 * without them.
 */
class Ownership {
 public:
  /** Adds a tensor of which the caller holds `handles` handles, unless there are more. */
  void add(const Tensor& tensor, long handles = 1);
  /** Adds a node of which the caller holds so many references. */
  void add(const std::shared_ptr<Node>& node, long references);
  /** The nodes that only what was added keeps alive. Valid until this object goes. */
  std::vector<Node*> nodes();
  /** The foreign objects of those nodes, and the peers that tensors own which only what was added keeps
   * alive.
   */
  std::vector<void*> foreign_objects();

 private:
  struct Count {
    long found = 0;   // references that belong to what was added
    long copies = 0;  // references of ours
  };
  void hold(std::shared_ptr<Node> node);

  std::deque<std::shared_ptr<Node>> held_;  // copies: another thread may replace a tensor's history meanwhile
  std::unordered_map<Node*, Count> counts_;
  std::vector<void*> peers_;
};

}  // namespace ocl
