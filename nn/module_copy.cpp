#include "autograd/ops/views.h"
#include "autograd/tape/tape.h"
#include "nn/layer.h"
#include "nn/module.h"
#include "nn/walk.h"

namespace ocl::nn {

std::shared_ptr<Module> Module::alike() const {
  throw TypeError(dlprim::concat(name(), " does not say how another of its kind is made: override alike()"));
}

std::shared_ptr<Module> Module::clone() const {
  const NoGradGuard no_grad;
  const FactoryScope hollow(std::nullopt, std::nullopt, true);
  Copies copies;
  return copied(copies);
}

std::shared_ptr<Module> Module::copied(Copies& copies) const {
  const WalkLevel level(*this);
  const std::shared_ptr<Module> copy = alike();
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
  set_training(original.is_training());
}

}  // namespace ocl::nn
