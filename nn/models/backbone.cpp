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

Value::Mapping mapping_of(const Value& value, const std::string& what) {
  const Value opened = value.foreign() ? (*value.foreign())->opened() : value;
  dlprim::require<TypeError>(opened.mapping() != nullptr, what, " must be a dict of tensors, got ",
                             value.kind());
  return *opened.mapping();
}

Tensor entry(const Value::Mapping& mapping, const std::string& name, const std::string& what) {
  for (const auto& [key, value] : mapping)
    if (key == name) return value.tensor(dlprim::concat("'", name, "' of ", what));
  throw ValueError(dlprim::concat(what, " has no '", name, "'"));
}

}  // namespace ocl::models
