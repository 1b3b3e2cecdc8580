#pragma once

#include "autograd/tape/tape.h"

namespace ocl {

/** Gets the gradients of all outputs of a node before it runs, undefined ones for zero. Its result stands in
 * their place, unless it is an empty list. */
using NodePreHook = std::function<TensorList(const TensorList& gradients)>;
/** Gets what a node made of `gradients`. Its result stands in the place of `results`, unless it is empty.
 */
using NodeHook = std::function<TensorList(const TensorList& results, const TensorList& gradients)>;

/** Calls a hook in every pass, with what the hook holds; it ends with the node. (torch's Node.register_hook
 * and register_prehook) */
HookHandle add_node_hook(Node& node, NodePreHook hook, Foreign foreign);
HookHandle add_node_hook(Node& node, NodeHook hook, Foreign foreign);

/** Whether any node has such a hook: a pass asks nothing else where none has. */
bool any_node_has_hooks();
/** Call the hooks of one node. Throw AutogradError where one gives other shapes, dtypes or devices. */
void call_node_hooks_before(const Node& node, TensorList& gradients);
void call_node_hooks_after(const Node& node, TensorList& results, const TensorList& gradients);

/** The number of the backward pass that this thread walks; 0 outside of one. */
std::uint64_t current_pass();
/** Whether that pass visits the node now or later. */
bool is_to_be_visited(Node& node);
/** Calls `end` when the pass of this thread ends, with whether it came to its end or an error stopped it.
 * An error of `end` is lost in the latter case. Throws AutogradError outside of a pass. */
void at_end_of_pass(std::function<void(bool is_complete)> end);

}  // namespace ocl
