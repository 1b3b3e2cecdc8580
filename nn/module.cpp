#include "nn/module.h"

#include <algorithm>
#include <sstream>
#include <unordered_set>

#include "autograd/ownership.h"
#include "autograd/tape.h"

namespace ocl::nn {
namespace {

using dlprim::concat;
using dlprim::require;

void require_own_name(const std::string& name) {
  require(!name.empty() && name.find('.') == std::string::npos,
          "a name within a module must be one word without '.', got '", name, "'");
}

/** Puts `value` under `name`; gives back what stood there. */
Tensor put(StateDict& entries, const std::string& name, Tensor value) {
  for (auto& [existing, held] : entries)
    if (existing == name) return std::exchange(held, std::move(value));
  entries.emplace_back(name, std::move(value));
  return {};
}

template <class Entries>
auto find(const Entries& entries, const std::string& name)
    -> std::optional<decltype(entries.front().second)> {
  for (const auto& [existing, held] : entries)
    if (existing == name) return held;
  return std::nullopt;
}

/** Takes the entry of that name out and gives what stood there, if there was one. */
template <class Entries>
auto take_out(Entries& entries, const std::string& name) -> std::optional<decltype(entries.front().second)> {
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const auto& entry) { return entry.first == name; });
  if (found == entries.end()) return std::nullopt;
  auto taken = std::move(found->second);
  entries.erase(found);
  return taken;
}

/** "block.conv1.weight" as the path of a module and a name within it. */
std::pair<std::string, std::string> split_target(const std::string& target) {
  const std::size_t dot = target.rfind('.');
  if (dot == std::string::npos) return {"", target};
  return {target.substr(0, dot), target.substr(dot + 1)};
}

std::string dotted(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + '.' + name;
}

// Modules whose destruction is due: a deep nest would otherwise destroy itself recursively and overflow the
// stack. A list of the outermost destructor's own, as for the nodes of the tape.
thread_local std::vector<std::shared_ptr<ChildSlot>>* dying = nullptr;

}  // namespace

std::shared_ptr<Module> ChildSlot::module() const {
  const std::lock_guard locked(mutex_);
  return module_ ? module_ : weak_.lock();
}

bool ChildSlot::is_only_holder() const {
  const std::lock_guard locked(mutex_);
  return module_.use_count() == 1;
}

void ChildSlot::set(std::shared_ptr<Module> module, bool weakly) {
  std::weak_ptr<Module> weak = weakly ? module : nullptr;
  if (weakly) module = nullptr;
  const std::lock_guard locked(mutex_);
  module_.swap(module);  // the old one goes with the argument, after the lock
  weak_.swap(weak);
}

Module::~Module() {
  std::vector<std::shared_ptr<ChildSlot>> list;
  const bool outermost = dying == nullptr;
  if (outermost) dying = &list;
  for (auto& [name, slot] : children_) dying->push_back(std::move(slot));
  if (!outermost) return;
  while (!list.empty()) {
    const std::shared_ptr<ChildSlot> slot = std::move(list.back());
    list.pop_back();
  }
  dying = nullptr;
}

Tensor parameter(Tensor data, bool requires_grad) {
  data.impl().is_parameter = true;
  data.requires_grad_(requires_grad);
  return data;
}

Tensor Module::register_parameter(const std::string& name, Tensor tensor) {
  require_own_name(name);
  if (tensor.defined() && !tensor.impl().is_parameter) tensor = parameter(tensor);
  Tensor replaced;  // these two go when the lock is free again
  TensorList followed;
  const std::lock_guard locked(mutex_);
  replaced = put(parameters_, name, tensor);
  followed = follow(name, tensor);
  return tensor;
}

Tensor Module::register_buffer(const std::string& name, Tensor tensor, bool persistent) {
  require_own_name(name);
  Tensor replaced;
  TensorList followed;
  const std::lock_guard locked(mutex_);
  replaced = put(buffers_, name, tensor);
  if (persistent)
    transient_.erase(name);
  else
    transient_.insert(name);
  followed = follow(name, tensor);
  return tensor;
}

TensorList Module::follow(const std::string& name, const Tensor& value) {
  TensorList before;
  for (const auto& [existing, member] : members_)
    if (existing == name) before.push_back(std::exchange(*member, value));
  return before;
}

void Module::register_parameter(const std::string& name, Tensor& member, Tensor value) {
  {
    const std::lock_guard locked(mutex_);
    members_.emplace_back(name, &member);
  }
  register_parameter(name, std::move(value));
}

void Module::register_buffer(const std::string& name, Tensor& member, Tensor value) {
  {
    const std::lock_guard locked(mutex_);
    members_.emplace_back(name, &member);
  }
  register_buffer(name, std::move(value));
}

void Module::register_module(const std::string& name, std::shared_ptr<Module> module) {
  require(module != nullptr, "register_module: '", name, "' needs another module");
  require_own_name(name);
  const bool weakly = module.get() == this || (is_submodule_ && module->contains(this));
  module->is_submodule_ = true;
  slot_for(name)->set(std::move(module), weakly);
}

std::shared_ptr<ChildSlot> Module::slot_for(const std::string& name) {
  const std::lock_guard locked(mutex_);
  if (std::shared_ptr<ChildSlot> slot = find(children_, name).value_or(nullptr)) return slot;
  const auto vacant = std::find_if(vacant_.begin(), vacant_.end(),
                                   [&](const auto& candidate) { return candidate->name() == name; });
  const std::shared_ptr<ChildSlot> slot =
      vacant == vacant_.end() ? std::make_shared<ChildSlot>(name) : *vacant;
  if (vacant != vacant_.end()) vacant_.erase(vacant);
  children_.emplace_back(name, slot);
  return slot;
}

void Module::unregister(const std::string& name) {
  std::shared_ptr<ChildSlot> emptied;
  std::optional<Tensor> removed;
  TensorList followed;
  {
    const std::lock_guard locked(mutex_);
    transient_.erase(name);
    followed = follow(name, {});
    removed = take_out(parameters_, name);
    if (!removed) removed = take_out(buffers_, name);
    if (!removed) emptied = take_out(children_, name).value_or(nullptr);
    if (emptied && emptied.use_count() > 1) vacant_.push_back(emptied);
  }
  require(removed || emptied, this->name(), " has no parameter, buffer or submodule '", name, "'");
  if (emptied) emptied->set(nullptr);
}

Module::Slots Module::slots() const {
  const std::lock_guard locked(mutex_);
  return children_;
}

Module::Children Module::named_children() const {
  Children children;
  for (const auto& [name, slot] : slots())
    if (std::shared_ptr<Module> child = slot->module()) children.emplace_back(name, std::move(child));
  return children;
}

namespace {

// Walks go by loops, so that depth costs no stack of the thread's.

/**
 * Calls `leave` on every module below `root`, then on `root`; `skip` says what to pass over with all below
 * it. Throws RecursionError where a module contains itself.
 */
template <class M, class Skip, class Leave>
void walk(M& root, const Skip& skip, const Leave& leave) {
  struct Step {
    std::shared_ptr<M> module;
    Module::Children children;
    std::size_t next = 0;
  };
  std::vector<Step> path;
  std::set<const Module*> on_path;
  const auto enter = [&](std::shared_ptr<M> module) {
    on_path.insert(module.get());
    Module::Children children = module->named_children();
    path.push_back({std::move(module), std::move(children)});
  };
  enter(std::shared_ptr<M>(std::shared_ptr<M>(), &root));
  while (!path.empty()) {
    Step& step = path.back();
    if (step.next < step.children.size()) {
      const auto [name, child] = step.children[step.next++];
      if (on_path.count(child.get()))
        throw RecursionError(concat("a module contains itself: the submodule '", name, "' of a ",
                                    step.module->name(), " is the ", child->name(), " that holds it"));
      if (!skip(*child)) enter(child);
      continue;
    }
    on_path.erase(step.module.get());
    leave(*step.module);
    path.pop_back();
  }
}

}  // namespace

Module::Children Module::named_modules(const std::string& prefix, bool remove_duplicate) const {
  if (!remove_duplicate) require_no_cycle();
  std::set<const Module*> seen;
  Children all, stack;
  // Not owning, and not const, as submodules are not.
  stack.emplace_back(prefix, std::shared_ptr<Module>(std::shared_ptr<Module>(), const_cast<Module*>(this)));
  while (!stack.empty()) {
    const auto [path, module] = std::move(stack.back());
    stack.pop_back();
    if (!seen.insert(module.get()).second && remove_duplicate) continue;
    all.emplace_back(path, module);
    Children children = module->named_children();
    for (auto child = children.rbegin(); child != children.rend(); ++child)
      stack.emplace_back(dotted(path, child->first), std::move(child->second));
  }
  return all;
}

bool Module::contains(const Module* other) const {
  for (const auto& [path, module] : named_modules())
    if (module.get() == other) return true;
  return false;
}

void Module::require_no_cycle() const {
  std::set<const Module*> done;
  walk(
      *this, [&](const Module& module) { return done.count(&module) > 0; },
      [&](const Module& module) { done.insert(&module); });
}

StateDict Module::copy_of(StateDict Module::* own) const {
  const std::lock_guard locked(mutex_);
  return this->*own;
}

StateDict Module::collect(StateDict Module::* own, const std::string& prefix, bool recurse,
                          bool remove_duplicate) const {
  StateDict all;
  std::set<TensorImpl*> seen;  // a parameter that two modules share counts once
  const auto add = [&](const std::string& path, const Module& module) {
    for (const auto& [own_name, tensor] : module.copy_of(own)) {
      if (!tensor.defined() || (!seen.insert(&tensor.impl()).second && remove_duplicate)) continue;
      all.emplace_back(dotted(path, own_name), tensor);
    }
  };
  if (!recurse)
    add(prefix, *this);
  else
    for (const auto& [path, module] : named_modules(prefix, remove_duplicate)) add(path, *module);
  return all;
}

StateDict Module::named_parameters(const std::string& prefix, bool recurse, bool remove_duplicate) const {
  return collect(&Module::parameters_, prefix, recurse, remove_duplicate);
}

StateDict Module::named_buffers(const std::string& prefix, bool recurse, bool remove_duplicate) const {
  return collect(&Module::buffers_, prefix, recurse, remove_duplicate);
}

// Without the names, whose making would be most of the work.
TensorList Module::tensors_of(StateDict Module::* own, bool recurse) const {
  TensorList tensors;
  std::unordered_set<const TensorImpl*> seen;
  std::unordered_set<const Module*> met;
  std::vector<std::shared_ptr<const Module>> stack{
      std::shared_ptr<const Module>(std::shared_ptr<const Module>(), this)};
  while (!stack.empty()) {
    const std::shared_ptr<const Module> module = std::move(stack.back());
    stack.pop_back();
    if (!met.insert(module.get()).second) continue;
    const std::lock_guard locked(module->mutex_);
    for (const auto& [own_name, tensor] : (*module).*own)
      if (tensor.defined() && seen.insert(&tensor.impl()).second) tensors.push_back(tensor);
    if (!recurse) break;
    for (auto slot = module->children_.rbegin(); slot != module->children_.rend(); ++slot)
      if (std::shared_ptr<Module> child = slot->second->module()) stack.push_back(std::move(child));
  }
  return tensors;
}

TensorList Module::parameters(bool recurse) const {
  return tensors_of(&Module::parameters_, recurse);
}

TensorList Module::buffers(bool recurse) const {
  return tensors_of(&Module::buffers_, recurse);
}

std::shared_ptr<const Module> Module::get_submodule(const std::string& target) const {
  std::shared_ptr<const Module> module(std::shared_ptr<const Module>(), this);
  std::istringstream path(target);
  for (std::string own_name; std::getline(path, own_name, '.');) {
    const std::shared_ptr<const Module> child = module->own_module(own_name);
    require(child != nullptr, module->name(), " has no attribute `", own_name, "`");
    module = child;
  }
  return module;
}

Tensor Module::get_parameter(const std::string& target) const {
  const auto [path, own_name] = split_target(target);
  const std::shared_ptr<const Module> module = get_submodule(path);
  const std::optional<Tensor> found = module->own_parameter(own_name);
  require(found.has_value(), module->name(), " has no parameter `", own_name, "`");
  return *found;
}

Tensor Module::get_buffer(const std::string& target) const {
  const auto [path, own_name] = split_target(target);
  const std::shared_ptr<const Module> module = get_submodule(path);
  const std::optional<Tensor> found = module->own_buffer(own_name);
  require(found.has_value(), module->name(), " has no buffer `", own_name, "`");
  return *found;
}

std::optional<Tensor> Module::own_parameter(const std::string& name) const {
  const std::lock_guard locked(mutex_);
  return find(parameters_, name);
}
std::optional<Tensor> Module::own_buffer(const std::string& name) const {
  const std::lock_guard locked(mutex_);
  return find(buffers_, name);
}

bool Module::is_persistent(const std::string& buffer) const {
  const std::lock_guard locked(mutex_);
  return transient_.count(buffer) == 0;
}

std::shared_ptr<Module> Module::own_module(const std::string& name) const {
  std::shared_ptr<ChildSlot> slot;
  {
    const std::lock_guard locked(mutex_);
    slot = find(children_, name).value_or(nullptr);
  }
  return slot ? slot->module() : nullptr;
}

void Module::train(bool on) {
  for (const auto& [path, module] : named_modules()) module->set_training(on);
}

void Module::apply(const std::function<void(Module&)>& function) {
  require_no_cycle();
  walk(*this, [](const Module&) { return false; }, function);
}

void Module::add_owned(Ownership& ownership) const {
  std::vector<std::shared_ptr<const Module>> stack;
  stack.emplace_back(std::shared_ptr<const Module>(), this);
  while (!stack.empty()) {
    const std::shared_ptr<const Module> module = std::move(stack.back());
    stack.pop_back();
    module->add_own_tensors(ownership);
    for (const auto& [child_name, slot] : module->slots())
      if (slot->is_only_holder()) stack.push_back(slot->module());
  }
}

void Module::add_own_tensors(Ownership& ownership) const {
  const StateDict parameters = copy_of(&Module::parameters_), buffers = copy_of(&Module::buffers_);
  std::vector<std::pair<std::string, Tensor*>> members;
  {
    const std::lock_guard locked(mutex_);
    members = members_;
  }
  for (const StateDict& entries : {std::cref(parameters), std::cref(buffers)})
    for (const auto& [own_name, tensor] : entries) {
      const auto follows = [&](const auto& member) { return member.first == own_name; };
      // Its handles here: in the list, in the copy of the list, in the members.
      ownership.add(tensor, 2 + std::count_if(members.begin(), members.end(), follows));
    }
}

namespace {

// Replaces the memory behind a handle, so that optimizers and members keep pointing at the same tensor.
template <class Convert>
void replace_all(const std::vector<StateDict>& groups, const Convert& convert) {
  const NoGradGuard no_grad;
  for (const StateDict& group : groups)
    for (const auto& [name, tensor] : group) {
      tensor.impl().data = convert(tensor.detach()).data();
      if (const Tensor grad = tensor.grad(); grad.defined()) tensor.impl().set_grad(convert(grad));
    }
}

}  // namespace

void Module::to(const Device& device) {
  replace_all({named_parameters(), named_buffers()}, [&](const Tensor& t) { return t.to(device); });
}

void Module::to(DType dtype) {
  require<TypeError>(is_floating(dtype), "Module.to only accepts floating dtypes, got ", dlprim::name(dtype));
  replace_all({named_parameters(), named_buffers()},
              [&](const Tensor& t) { return is_floating(t.dtype()) ? t.to(dtype) : t; });
}

void Module::zero_grad(bool set_to_none) {
  const NoGradGuard no_grad;
  for (Tensor& p : parameters()) {
    if (set_to_none)
      p.set_grad({});
    else if (Tensor grad = p.grad(); grad.defined())
      grad.zero_();
  }
}

void Module::requires_grad_(bool requires_grad) {
  for (Tensor& p : parameters()) p.requires_grad_(requires_grad);
}

}  // namespace ocl::nn
