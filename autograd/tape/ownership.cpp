#include "autograd/tape/ownership.h"

namespace ocl {

void Ownership::add(const Tensor& tensor, long handles) {
  if (!tensor.defined() || tensor.impl_pointer().use_count() != handles) return;
  const TensorImpl& impl = tensor.impl();
  if (impl.peer.is_owned()) peers_.push_back(impl.peer.object());
  if (impl.requires_grad()) {
    hold(impl.made_by().node);
    hold(impl.base_node());
    hold(impl.kept_accumulator());
  }
  add(impl.base);
  constexpr long member_and_copy = 2;
  add(impl.grad(), member_and_copy);
}

void Ownership::add(const std::shared_ptr<Node>& node, long references) {
  if (!node) return;
  hold(node);
  counts_[node.get()].found += references - 1;
}

void Ownership::hold(std::shared_ptr<Node> node) {
  if (!node) return;
  Count& count = counts_[node.get()];
  ++count.found;
  ++count.copies;
  held_.push_back(std::move(node));
}

std::vector<Node*> Ownership::nodes() {
  std::vector<Node*> owned;
  const auto add_if_owned = [&](const std::shared_ptr<Node>& node, const Count& count) {
    if (node.use_count() == count.found + count.copies) owned.push_back(node.get());
  };
  // A node held twice is met twice.
  std::unordered_map<Node*, const std::shared_ptr<Node>*> roots;
  for (const std::shared_ptr<Node>& node : held_) roots.emplace(node.get(), &node);
  for (const auto& [node, pointer] : roots) add_if_owned(*pointer, counts_[node]);
  for (std::size_t next = 0; next < owned.size(); ++next)  // a loop, so that depth costs no stack
    for (const Edge& edge : owned[next]->next())
      if (edge.node) {
        Count& count = counts_[edge.node.get()];
        ++count.found;
        add_if_owned(edge.node, count);
      }
  return owned;
}

std::vector<void*> Ownership::foreign_objects() {
  std::vector<void*> objects = peers_;
  for (const Node* node : nodes())
    for (void* object : node->foreign_objects()) objects.push_back(object);
  return objects;
}

}  // namespace ocl
