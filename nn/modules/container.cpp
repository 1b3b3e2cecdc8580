#include "nn/modules/container.h"

namespace ocl::nn {

Sequential& Sequential::append(std::shared_ptr<Module> module) {
  register_module(std::to_string(size()), std::move(module));
  return *this;
}

std::shared_ptr<Module> Sequential::at(std::int64_t index) const {
  const auto count = static_cast<std::int64_t>(size());
  dlprim::require<IndexError>(index >= -count && index < count, "index ", index,
                              " is out of range for a Sequential of ", count, " modules");
  return named_children()[static_cast<std::size_t>(index < 0 ? index + count : index)].second;
}

Tensor Sequential::forward(const Tensor& x) {
  Tensor y = x;
  for (const auto& [name, module] : named_children()) y = (*module)(y);
  return y;
}

}  // namespace ocl::nn
