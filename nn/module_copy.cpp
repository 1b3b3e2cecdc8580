#include "autograd/ops/views.h"
#include "autograd/tape.h"
#include "nn/layer.h"
#include "nn/module.h"

namespace ocl::nn {

std::shared_ptr<Module> Module::alike() const {
  throw TypeError(dlprim::concat(name(), " does not say how another of its kind is made: override alike()"));
}

std::shared_ptr<Module> Module::clone() const {
  require_no_cycle();
  const NoGradGuard no_grad;
  const FactoryScope hollow(std::nullopt, std::nullopt, true);
  std::map<const void*, std::shared_ptr<void>> copies;
  const std::shared_ptr<Module> copy = alike();
  copy->take_copies(*this, copies);
  return copy;
}

void Module::take_copies(const Module& original, std::map<const void*, std::shared_ptr<void>>& copies) {
  const auto copied = [&](const Tensor& tensor) {
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
    register_parameter(own_name, copied(tensor));
  for (const auto& [own_name, tensor] : original.own_buffers())
    register_buffer(own_name, copied(tensor), original.is_persistent(own_name));
  for (const auto& [own_name, child] : original.named_children()) {
    std::shared_ptr<void>& known = copies[child.get()];
    if (!known) {
      const std::shared_ptr<Module> twin = child->alike();
      known = twin;
      twin->take_copies(*child, copies);
    }
    register_module(own_name, std::static_pointer_cast<Module>(known));
  }
  set_training(original.is_training());
}

}  // namespace ocl::nn
