#include "nn/module.h"

#include <algorithm>

#include "autograd/tape/tape.h"

namespace ocl::nn {
namespace {

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

// Modules whose destruction is due: a deep nest would otherwise destroy itself recursively and overflow the
// stack. A list of the outermost destructor's own, as for the nodes of the tape.
thread_local std::vector<std::shared_ptr<ChildSlot>>* dying = nullptr;

}  // namespace

std::shared_ptr<Module> ChildSlot::module() const {
  std::shared_ptr<Module> module;
  {
    const std::lock_guard locked(mutex_);
    module = module_ ? module_ : weak_.lock();
  }
  return module && module->is_handle() ? module->place()->module() : module;
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

std::shared_ptr<Module> module_at(const ChildSlot& place) {
  std::shared_ptr<Module> found = place.module();
  if (!found && place.name().empty())
    throw ValueError(
        "a submodule was used before it was registered: its member is yet to be assigned what "
        "register_module(name, ...) returns");
  require(found != nullptr, "there is no submodule '", place.name(), "' any more");
  return found;
}

void refuse_kind(const std::string& user, const Module& module) {
  throw TypeError(dlprim::concat(user, " is of another kind now: a ", module.name()));
}

void Module::stand_for(std::shared_ptr<ChildSlot> place) const {
  place_ = place ? std::move(place) : std::make_shared<ChildSlot>(std::shared_ptr<Module>());
  is_handle_.store(true, std::memory_order_release);
}

std::shared_ptr<Module> Module::found() const {
  return module_at(*place_);
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
  if (const auto other = elsewhere()) return other->register_parameter(name, std::move(tensor));
  require_own_name(name);
  if (tensor.defined() && !tensor.impl().is_parameter) tensor = parameter(tensor);
  Removed removed;  // goes when the lock is free again
  TensorList followed;
  Tensor replaced;
  {
    const std::lock_guard locked(mutex_);
    removed = take_away(name, &parameters_);
    replaced = put(parameters_, name, tensor);
    followed = follow(name, tensor);
  }
  if (removed.child) removed.child->set(nullptr);
  return tensor;
}

Tensor Module::register_buffer(const std::string& name, Tensor tensor, bool persistent) {
  if (const auto other = elsewhere()) return other->register_buffer(name, std::move(tensor), persistent);
  require_own_name(name);
  Removed removed;
  TensorList followed;
  Tensor replaced;
  {
    const std::lock_guard locked(mutex_);
    removed = take_away(name, &buffers_);
    replaced = put(buffers_, name, tensor);
    if (persistent)
      transient_.erase(name);
    else
      transient_.insert(name);
    followed = follow(name, tensor);
  }
  if (removed.child) removed.child->set(nullptr);
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
  if (const auto other = elsewhere()) return other->register_module(name, std::move(module));
  require_own_name(name);
  Removed removed;
  TensorList followed;
  {
    const std::lock_guard locked(mutex_);
    if (find(parameters_, name) || find(buffers_, name)) {
      removed = take_away(name, &children_);
      followed = follow(name, {});
    }
  }
  if (!module) return slot_for(name)->set(nullptr);
  const bool weakly = module.get() == this || (is_submodule_ && module->contains(this));
  module->is_submodule_ = true;
  slot_for(name)->set(std::move(module), weakly);
}

std::shared_ptr<ChildSlot> Module::slot_for(const std::string& name) {
  if (const auto other = elsewhere()) return other->slot_for(name);
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

Module::Removed Module::take_away(const std::string& name, const void* kept) {
  Removed removed;
  if (kept != &parameters_) removed.parameter = take_out(parameters_, name);
  if (kept != &buffers_) {
    removed.buffer = take_out(buffers_, name);
    transient_.erase(name);
  }
  if (kept != &children_) removed.child = take_out(children_, name).value_or(nullptr);
  if (removed.child && removed.child.use_count() > 1) vacant_.push_back(removed.child);
  return removed;
}

void Module::unregister(const std::string& name) {
  if (const auto other = elsewhere()) return other->unregister(name);
  Removed removed;
  TensorList followed;
  {
    const std::lock_guard locked(mutex_);
    followed = follow(name, {});
    removed = take_away(name, nullptr);
  }
  require(removed.parameter || removed.buffer || removed.child, this->name(),
          " has no parameter, buffer or submodule '", name, "'");
  if (removed.child) removed.child->set(nullptr);
}

Module::Slots Module::slots() const {
  if (const auto other = elsewhere()) return other->slots();
  const std::lock_guard locked(mutex_);
  return children_;
}

StateDict Module::copy_of(StateDict Module::* own) const {
  if (const auto other = elsewhere()) return other->copy_of(own);
  const std::lock_guard locked(mutex_);
  return this->*own;
}

std::optional<Tensor> Module::own_parameter(const std::string& name) const {
  if (const auto other = elsewhere()) return other->own_parameter(name);
  const std::lock_guard locked(mutex_);
  return find(parameters_, name);
}
std::optional<Tensor> Module::own_buffer(const std::string& name) const {
  if (const auto other = elsewhere()) return other->own_buffer(name);
  const std::lock_guard locked(mutex_);
  return find(buffers_, name);
}

bool Module::is_persistent(const std::string& buffer) const {
  if (const auto other = elsewhere()) return other->is_persistent(buffer);
  const std::lock_guard locked(mutex_);
  return transient_.count(buffer) == 0;
}

std::shared_ptr<Module> Module::own_module(const std::string& name) const {
  if (const auto other = elsewhere()) return other->own_module(name);
  std::shared_ptr<ChildSlot> slot;
  {
    const std::lock_guard locked(mutex_);
    slot = find(children_, name).value_or(nullptr);
  }
  return slot ? slot->module() : nullptr;
}

bool Module::has_submodule(const std::string& name) const {
  if (const auto other = elsewhere()) return other->has_submodule(name);
  const std::lock_guard locked(mutex_);
  return find(children_, name).has_value();
}

}  // namespace ocl::nn
