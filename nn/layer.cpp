#include "nn/layer.h"

#include "autograd/tensor/creation.h"

namespace ocl::nn {
namespace {

thread_local const FactoryScope* innermost = nullptr;

}  // namespace

// The scope around it says what a scope leaves open.
FactoryScope::FactoryScope(std::optional<Device> device, std::optional<DType> dtype, bool hollow)
    : device_(std::move(device)), dtype_(dtype), hollow_(hollow), outer_(innermost) {
  dlprim::require<TypeError>(!dtype || is_floating(*dtype),
                             "a module's dtype must be a floating point one, got ",
                             name(dtype.value_or(DType::float32)));
  if (outer_) {
    if (!device_) device_ = outer_->device_;
    if (!dtype_) dtype_ = outer_->dtype_;
    hollow_ = hollow_ || outer_->hollow_;
  }
  innermost = this;
}

FactoryScope::~FactoryScope() {
  innermost = outer_;
}

bool FactoryScope::is_hollow() {
  return innermost && innermost->hollow_;
}

Tensor made(const Dims& shape, std::optional<DType> dtype) {
  if (FactoryScope::is_hollow()) return {};
  const DType own = innermost ? innermost->dtype_.value_or(DType::float32) : DType::float32;
  const Device device = innermost && innermost->device_ ? *innermost->device_ : Device();
  return empty(shape.vector(), dtype.value_or(own), device);
}

std::shared_ptr<Module> held_as_module(Module* made) {
  return std::shared_ptr<Module>(made);
}

}  // namespace ocl::nn
