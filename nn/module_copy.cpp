#include "autograd/ops/views.h"
#include "autograd/tape/tape.h"
#include "nn/layer.h"
#include "nn/module.h"
#include "nn/walk.h"

namespace ocl::nn {

namespace {

/** `made` by alike(). Throws TypeError where a class has inherited that from another. */
std::shared_ptr<Module> of_own_class(const Module& module, std::shared_ptr<Module> made) {
  const Module& other = *made;
  dlprim::require<TypeError>(typeid(module) == typeid(other), module.name(), ": its alike() makes a ",
                             other.name(), ": override it");
  return made;
}

}  // namespace

std::shared_ptr<Module> Module::alike() const {
  throw TypeError(dlprim::concat(name(), " does not say how another of its kind is made: override alike()"));
}

std::shared_ptr<Module> Module::clone() const {
  if (const auto other = elsewhere()) return other->clone();
  const NoGradGuard no_grad;
  const FactoryScope hollow(std::nullopt, std::nullopt, true);
  Copies copies;
  return copied(copies);
}

std::shared_ptr<Module> Module::shared() const {
  if (auto other = elsewhere()) return other;
  std::shared_ptr<Module> moved;
  {
    const FactoryScope hollow(std::nullopt, std::nullopt, true);
    moved = of_own_class(*this, alike());
  }
  for (const auto& [own_name, tensor] : own_parameters()) moved->register_parameter(own_name, tensor);
  for (const auto& [own_name, tensor] : own_buffers())
    moved->register_buffer(own_name, tensor, is_persistent(own_name));
  for (const auto& [own_name, child] : own_modules()) moved->register_module(own_name, child);
  moved->set_training(is_training());
  moved->take_hooks(*this);
  stand_for(std::make_shared<ChildSlot>(moved));
  return moved;
}

void Module::take_hooks(const Module& original) {
  own_forward_ = original.own_forward_;
  replaced_forward_ = std::atomic_load(&original.replaced_forward_);
  forward_hooks_ = original.forward_hooks_;
  forward_pre_hooks_ = original.forward_pre_hooks_;
  backward_hooks_ = original.backward_hooks_;
  state_dict_pre_hooks_ = original.state_dict_pre_hooks_;
  state_dict_hooks_ = original.state_dict_hooks_;
  load_pre_hooks_ = original.load_pre_hooks_;
  load_post_hooks_ = original.load_post_hooks_;
}

std::shared_ptr<Module> Module::copied(Copies& copies) const {
  const WalkLevel level(*this);
  const std::shared_ptr<Module> copy = of_own_class(*this, alike());
  copy->take_copies(*this, copies);
  return copy;
}

void Module::take_copies(const Module& original, Copies& copies) {
  const auto twin_of = [&](const Tensor& tensor) {
    if (!tensor.defined()) return tensor;
    std::shared_ptr<void>& known = copies[&tensor.impl()];
    if (!known) {
      const Tensor twin = tensor.detach().clone();
      known = std::make_shared<Tensor>(tensor.impl().is_parameter ? parameter(twin, tensor.requires_grad())
                                                                  : twin);
    }
    return *std::static_pointer_cast<Tensor>(known);
  };
  for (const auto& [own_name, tensor] : original.own_parameters())
    register_parameter(own_name, twin_of(tensor));
  for (const auto& [own_name, tensor] : original.own_buffers())
    register_buffer(own_name, twin_of(tensor), original.is_persistent(own_name));
  for (const auto& [own_name, child] : original.own_modules()) {
    if (!child) {
      register_module(own_name, nullptr);
      continue;
    }
    std::shared_ptr<void>& known = copies[child.get()];
    if (!known) known = child->copied(copies);
    register_module(own_name, std::static_pointer_cast<Module>(known));
  }
  own_forward_ = original.own_forward_;
  set_training(original.is_training());
}

}  // namespace ocl::nn
