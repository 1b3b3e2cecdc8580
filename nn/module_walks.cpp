#include <algorithm>
#include <sstream>
#include <unordered_set>

#include "autograd/tape/ownership.h"
#include "autograd/tape/tape.h"
#include "nn/module.h"
#include "nn/walk.h"

namespace ocl::nn {
namespace {

using dlprim::concat;
using dlprim::require;

/** "block.conv1.weight" as the path of a module and a name within it. */
std::pair<std::string, std::string> split_target(const std::string& target) {
  const std::size_t dot = target.rfind('.');
  if (dot == std::string::npos) return {"", target};
  return {target.substr(0, dot), target.substr(dot + 1)};
}

thread_local int levels = 0;
constexpr int most_levels = 1000;  // as Python's own limit: what takes longer is no net but a mistake

const Module* address_of(const std::shared_ptr<Module>& module) {
  return module.get();
}

/** A handle that does not own, and is not const, as submodules are not. */
std::shared_ptr<Module> unowned(const Module* module) {
  return {std::shared_ptr<Module>(), const_cast<Module*>(module)};
}

}  // namespace

WalkLevel::WalkLevel(const Module& module) {
  const StackGuard guard(module);
  if (levels == 0) module.require_no_cycle();
  if (levels == most_levels)
    throw RecursionError(concat("modules are nested too deep: more than ", most_levels, " levels"));
  ++levels;
}

WalkLevel::~WalkLevel() {
  --levels;
}

Module::Children Module::own_modules() const {
  Children children;
  for (const auto& [own_name, slot] : slots()) children.emplace_back(own_name, slot->module());
  return children;
}

Module::Children Module::named_children() const {
  Children children;
  for (auto& [own_name, child] : own_modules())
    if (child) children.emplace_back(own_name, std::move(child));
  return children;
}

namespace {

std::vector<std::shared_ptr<Module>> without_names(const Module::Children& named) {
  std::vector<std::shared_ptr<Module>> modules;
  for (const auto& [name, module] : named) modules.push_back(module);
  return modules;
}

}  // namespace

std::vector<std::shared_ptr<Module>> Module::children() const {
  return without_names(named_children());
}

std::vector<std::shared_ptr<Module>> Module::modules(bool include_self) const {
  return without_names(named_modules("", include_self));
}

Module::Children Module::named_modules(const std::string& prefix, bool include_self) const {
  Children all = named_modules(prefix);
  if (!include_self) all.erase(all.begin());
  return all;
}

Module::Children Module::named_modules(const std::string& prefix, Duplicates duplicates) const {
  if (const auto other = elsewhere()) return other->named_modules(prefix, duplicates);
  if (duplicates == Duplicates::kept) require_no_cycle();
  const auto all = listed(prefix, unowned(this), duplicates == Duplicates::removed, address_of,
                          [](const auto& module) { return module->named_children(); });
  return {all.begin(), all.end()};
}

bool Module::contains(const Module* other) const {
  for (const auto& [path, module] : named_modules())
    if (module.get() == other) return true;
  return false;
}

// By a loop, so that depth costs no stack.
void Module::require_no_cycle() const {
  struct Step {
    std::shared_ptr<Module> module;
    Children children;
    std::size_t next = 0;
  };
  std::vector<Step> path;
  std::unordered_set<const Module*> on_path, done;
  const auto enter = [&](const std::shared_ptr<Module>& module) {
    on_path.insert(module.get());
    path.push_back({module, module->named_children()});
  };
  enter(unowned(this));
  while (!path.empty()) {
    Step& step = path.back();
    if (step.next == step.children.size()) {
      on_path.erase(step.module.get());
      done.insert(step.module.get());
      path.pop_back();
      continue;
    }
    const auto [own_name, child] = step.children[step.next++];
    if (on_path.count(child.get()))
      throw RecursionError(concat("a module contains itself: the submodule '", own_name, "' of a ",
                                  step.module->name(), " is the ", child->name(), " that holds it"));
    if (!done.count(child.get())) enter(child);
  }
}

void Module::train(bool on) {
  if (const auto other = elsewhere()) return other->train(on);
  const WalkLevel level(*this);
  set_training(on);
  for (const auto& [own_name, child] : distinct(named_children(), address_of)) child->train(on);
}

void Module::apply(const std::function<void(Module&)>& function) {
  if (const auto other = elsewhere()) return other->apply(function);
  const WalkLevel level(*this);
  for (const auto& [own_name, child] : distinct(named_children(), address_of)) child->apply(function);
  function(*this);
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
    for (const auto& [path, module] :
         named_modules(prefix, remove_duplicate ? Duplicates::removed : Duplicates::kept))
      add(path, *module);
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
  if (const auto other = elsewhere()) return other->tensors_of(own, recurse);
  TensorList tensors;
  std::unordered_set<const TensorImpl*> seen;
  std::unordered_set<const Module*> met;
  std::vector<std::shared_ptr<const Module>> stack{unowned(this)};
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
  std::shared_ptr<const Module> module = unowned(this);
  std::istringstream path(target);
  for (std::string own_name; std::getline(path, own_name, '.');) {
    const std::shared_ptr<const Module> child = module->own_module(own_name);
    require<AttributeError>(child != nullptr, module->name(), " has no attribute `", own_name, "`");
    module = child;
  }
  return module;
}

Tensor Module::get_parameter(const std::string& target) const {
  const auto [path, own_name] = split_target(target);
  const std::shared_ptr<const Module> module = get_submodule(path);
  const std::optional<Tensor> found = module->own_parameter(own_name);
  require<AttributeError>(found.has_value(), module->name(), " has no parameter `", own_name, "`");
  return *found;
}

Tensor Module::get_buffer(const std::string& target) const {
  const auto [path, own_name] = split_target(target);
  const std::shared_ptr<const Module> module = get_submodule(path);
  const std::optional<Tensor> found = module->own_buffer(own_name);
  require<AttributeError>(found.has_value(), module->name(), " has no buffer `", own_name, "`");
  return *found;
}

void Module::add_owned(Ownership& ownership) const {
  if (const auto other = elsewhere()) return other->add_owned(ownership);
  std::vector<std::shared_ptr<const Module>> stack{unowned(this)};
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

void Module::to(MemoryFormat format) {
  const std::vector<StateDict> groups{named_parameters(), named_buffers()};
  const auto takes_format = [](const Tensor& t) { return t.dim() == 4 || t.dim() == 5; };
  for (const StateDict& group : groups)
    for (const auto& [name, tensor] : group)
      if (takes_format(tensor))
        dlprim::strides_like(tensor.data(), format);  // throws where it has another rank
  replace_all(groups, [&](const Tensor& t) { return takes_format(t) ? t.to(format) : t; });
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
