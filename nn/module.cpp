#include "nn/module.h"

#include <algorithm>

#include "autograd/tape.h"
#include "nn/backward_watch.h"

namespace ocl::nn {
namespace {

using dlprim::concat;
using dlprim::require;

template <class Entries, class Value>
void put(Entries& entries, const std::string& name, Value value) {
  require(!name.empty() && name.find('.') == std::string::npos,
          "a name within a module must be one word without '.', got '", name, "'");
  for (auto& [existing, held] : entries)
    if (existing == name) {
      held = std::move(value);
      return;
    }
  entries.emplace_back(name, std::move(value));
}

std::optional<Tensor> find(const StateDict& entries, const std::string& name) {
  for (const auto& [existing, held] : entries)
    if (existing == name) return held;
  return std::nullopt;
}

template <class Entries>
bool take_out(Entries& entries, const std::string& name) {
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const auto& entry) { return entry.first == name; });
  if (found == entries.end()) return false;
  entries.erase(found);
  return true;
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

template <class Hook>
RemovableHandle add_hook(const std::shared_ptr<std::map<std::int64_t, Hook>>& hooks, Hook hook) {
  const std::int64_t number = hooks->empty() ? 0 : hooks->rbegin()->first + 1;
  hooks->emplace(number, std::move(hook));
  return RemovableHandle([held = std::weak_ptr(hooks), number] {
    if (const auto left = held.lock()) left->erase(number);
  });
}

}  // namespace

Tensor parameter(Tensor data, bool requires_grad) {
  data.impl().is_parameter = true;
  data.requires_grad_(requires_grad);
  return data;
}

Tensor Module::forward(const Tensor&) {
  throw TypeError(concat(name(), " has no forward of one tensor"));
}

Tensor Module::operator()(const Tensor& input) {
  Tensor x = input;
  // Copies: a hook may remove itself.
  for (const auto& [number, hook] : Hooks<ForwardPreHook>(*forward_pre_hooks_))
    if (const Tensor replaced = hook(*this, x); replaced.defined()) x = replaced;
  Tensor y = backward_hooks_->empty() ? forward(x) : watched_forward(x);
  for (const auto& [number, hook] : Hooks<ForwardHook>(*forward_hooks_))
    if (const Tensor replaced = hook(*this, x, y); replaced.defined()) y = replaced;
  return y;
}

Tensor Module::watched_forward(const Tensor& x) {
  BackwardWatch watch([this, hooks = *backward_hooks_](TensorList grad_input, const TensorList& grad_output) {
    for (const auto& [number, hook] : hooks)
      if (const Tensor replaced = hook(*this, grad_input[0], grad_output[0]); replaced.defined())
        grad_input[0] = replaced;
    return grad_input;
  });
  return watch.outputs({forward(watch.inputs({x})[0])})[0];
}

RemovableHandle Module::register_full_backward_hook(BackwardHook hook) {
  return add_hook(backward_hooks_, std::move(hook));
}

RemovableHandle Module::register_forward_hook(ForwardHook hook) {
  return add_hook(forward_hooks_, std::move(hook));
}

RemovableHandle Module::register_forward_pre_hook(ForwardPreHook hook) {
  return add_hook(forward_pre_hooks_, std::move(hook));
}

Tensor& Module::register_parameter(const std::string& name, Tensor tensor) {
  put(parameters_, name, !tensor.defined() || tensor.impl().is_parameter ? tensor : parameter(tensor));
  follow(name, tensor);
  for (auto& [existing, held] : parameters_)
    if (existing == name) return held;
  throw ValueError(name);
}

Tensor& Module::register_buffer(const std::string& name, Tensor tensor, bool persistent) {
  put(buffers_, name, tensor);
  if (persistent)
    transient_.erase(name);
  else
    transient_.insert(name);
  follow(name, tensor);
  for (auto& [existing, held] : buffers_)
    if (existing == name) return held;
  throw ValueError(name);
}

void Module::follow(const std::string& name, const Tensor& value) {
  for (const auto& [existing, member] : members_)
    if (existing == name) *member = value;
}

void Module::register_parameter(const std::string& name, Tensor& member, Tensor value) {
  members_.emplace_back(name, &member);
  register_parameter(name, std::move(value));
}

void Module::register_buffer(const std::string& name, Tensor& member, Tensor value) {
  members_.emplace_back(name, &member);
  register_buffer(name, std::move(value));
}

void Module::register_module(const std::string& name, std::shared_ptr<Module> module) {
  require(module != nullptr && module.get() != this, "register_module: '", name, "' needs another module");
  put(children_, name, std::move(module));
}

void Module::unregister(const std::string& name) {
  transient_.erase(name);
  follow(name, {});
  require(take_out(parameters_, name) || take_out(buffers_, name) || take_out(children_, name), this->name(),
          " has no parameter, buffer or submodule '", name, "'");
}

namespace {

void add_modules(const std::string& path, const Module& module, std::set<const Module*>* seen,
                 std::vector<std::pair<std::string, const Module*>>& all) {
  if (seen && !seen->insert(&module).second) return;
  all.emplace_back(path, &module);
  for (const auto& [name, child] : module.named_children())
    add_modules(dotted(path, name), *child, seen, all);
}

}  // namespace

std::vector<std::pair<std::string, const Module*>> Module::named_modules(const std::string& prefix,
                                                                         bool remove_duplicate) const {
  std::set<const Module*> seen;
  std::vector<std::pair<std::string, const Module*>> all;
  add_modules(prefix, *this, remove_duplicate ? &seen : nullptr, all);
  return all;
}

StateDict Module::collect(StateDict Module::*own, const std::string& prefix, bool recurse,
                          bool remove_duplicate) const {
  StateDict all;
  std::set<TensorImpl*> seen;  // a parameter that two modules share counts once
  const auto add = [&](const std::string& path, const Module& module) {
    for (const auto& [own_name, tensor] : module.*own) {
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

namespace {

TensorList tensors_of(const StateDict& entries) {
  TensorList tensors;
  for (const auto& [name, tensor] : entries) tensors.push_back(tensor);
  return tensors;
}

}  // namespace

TensorList Module::parameters(bool recurse) const {
  return tensors_of(named_parameters("", recurse));
}

TensorList Module::buffers(bool recurse) const {
  return tensors_of(named_buffers("", recurse));
}

const Module& Module::get_submodule(const std::string& target) const {
  if (target.empty()) return *this;
  const auto [path, own_name] = split_target(target);
  const Module& parent = get_submodule(path);
  const std::shared_ptr<Module> child = parent.own_module(own_name);
  require(child != nullptr, parent.name(), " has no attribute `", own_name, "`");
  return *child;
}

Tensor Module::get_parameter(const std::string& target) const {
  const auto [path, own_name] = split_target(target);
  const Module& module = get_submodule(path);
  const std::optional<Tensor> found = module.own_parameter(own_name);
  require(found.has_value(), module.name(), " has no parameter `", own_name, "`");
  return *found;
}

Tensor Module::get_buffer(const std::string& target) const {
  const auto [path, own_name] = split_target(target);
  const Module& module = get_submodule(path);
  const std::optional<Tensor> found = module.own_buffer(own_name);
  require(found.has_value(), module.name(), " has no buffer `", own_name, "`");
  return *found;
}

std::optional<Tensor> Module::own_parameter(const std::string& name) const {
  return find(parameters_, name);
}
std::optional<Tensor> Module::own_buffer(const std::string& name) const {
  return find(buffers_, name);
}

std::shared_ptr<Module> Module::own_module(const std::string& name) const {
  for (const auto& [existing, child] : children_)
    if (existing == name) return child;
  return nullptr;
}

void Module::train(bool on) {
  apply([on](Module& module) { module.training_ = on; });
}

void Module::apply(const std::function<void(Module&)>& function) {
  for (const auto& [child_name, child] : children_) child->apply(function);
  function(*this);
}

namespace {

// Replaces the memory behind a handle, so that optimizers and members keep pointing at the same tensor.
template <class Convert>
void replace_all(const std::vector<StateDict>& groups, const Convert& convert) {
  const NoGradGuard no_grad;
  for (const StateDict& group : groups)
    for (const auto& [name, tensor] : group) {
      tensor.impl().data = convert(tensor.detach()).data();
      if (tensor.grad().defined()) tensor.impl().grad = convert(tensor.grad());
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
  for (const Tensor& p : parameters()) {
    if (set_to_none)
      p.impl().grad = {};
    else if (p.grad().defined())
      p.grad().zero_();
  }
}

void Module::requires_grad_(bool requires_grad) {
  for (Tensor& p : parameters()) p.requires_grad_(requires_grad);
}

}  // namespace ocl::nn
