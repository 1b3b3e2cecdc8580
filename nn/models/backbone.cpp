#include "nn/models/backbone.h"

namespace ocl::models {

std::string repr_of(const BackboneWeights&) {
  return "None";
}

Value value_of(const NamedTensors& tensors) {
  Value::Mapping values;
  for (const auto& [name, tensor] : tensors) values.emplace_back(name, tensor);
  return values;
}

NamedTensors named_tensors_of(const Value& value, const std::string& what) {
  const Value opened = value.foreign() ? (*value.foreign())->opened() : value;
  dlprim::require<TypeError>(opened.mapping() != nullptr, what, " must be a dict of tensors, got ",
                             value.kind());
  NamedTensors tensors;
  for (const auto& [name, entry] : *opened.mapping())
    tensors.emplace_back(name, entry.tensor(dlprim::concat("'", name, "' of ", what)));
  return tensors;
}

const Tensor& entry(const NamedTensors& tensors, const std::string& name, const std::string& what) {
  for (const auto& [key, tensor] : tensors)
    if (key == name) return tensor;
  throw ValueError(dlprim::concat(what, " has no '", name, "'"));
}

}  // namespace ocl::models
