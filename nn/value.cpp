#include "nn/value.h"

#include <algorithm>

namespace ocl::nn {

const Tensor& Value::tensor(const std::string& what) const {
  const auto* held = std::get_if<Tensor>(&held_);
  dlprim::require<TypeError>(held != nullptr, what, " must be a Tensor, got ", kind());
  return *held;
}

bool Value::flag_or(bool otherwise, const std::string& what) const {
  dlprim::require<TypeError>(is_none() || flag(), what, " must be a bool, got ", kind());
  return flag() ? *flag() : otherwise;
}

bool Value::is_sequence() const {
  return own_sequence() || (foreign() && (*foreign())->opened().own_sequence());
}

Value::Sequence Value::sequence() const {
  if (const Sequence* own = own_sequence()) return *own;
  if (foreign()) {
    const Value opened = (*foreign())->opened();
    if (const Sequence* values = opened.own_sequence()) return *values;
  }
  return {*this};
}

std::string Value::kind() const {
  if (is_none()) return "None";
  if (is_tensor()) return "Tensor";
  if (flag()) return "bool";
  if (foreign()) return (*foreign())->kind();
  return mapping() ? "dict" : "tuple";
}

Value::Sequence Arguments::matched(const std::string& callee,
                                   const std::vector<std::string>& parameters) const {
  Value::Sequence values = positional;
  dlprim::require<TypeError>(values.size() <= parameters.size(), callee, " takes at most ", parameters.size(),
                             " arguments, got ", values.size());
  values.resize(parameters.size());
  for (const auto& [name, value] : named) {
    const auto found = std::find(parameters.begin(), parameters.end(), name);
    dlprim::require<TypeError>(found != parameters.end(), callee, " got an unexpected keyword argument '",
                               name, "'");
    const auto place = static_cast<std::size_t>(found - parameters.begin());
    dlprim::require<TypeError>(place >= positional.size(), callee, " got multiple values for argument '",
                               name, "'");
    values[place] = value;
  }
  return values;
}

TensorPlaces::TensorPlaces(const Value::Sequence& values) {
  for (const Value& value : values) is_tensor_.push_back(value.is_tensor());
}

TensorList TensorPlaces::tensors_of(const Value::Sequence& values) const {
  TensorList tensors;
  for (const Value& value : values)
    if (value.is_tensor()) tensors.push_back(value.tensor("a value"));
  return tensors;
}

Value::Sequence TensorPlaces::replaced(const Value::Sequence& values, const TensorList& tensors) const {
  Value::Sequence result = values;
  auto next = tensors.begin();
  for (std::size_t i = 0; i < result.size(); ++i)
    if (is_tensor_[i]) result[i] = *next++;
  return result;
}

TensorList TensorPlaces::spread(const TensorList& tensors) const {
  TensorList result(is_tensor_.size());
  auto next = tensors.begin();
  for (std::size_t i = 0; i < result.size() && next != tensors.end(); ++i)
    if (is_tensor_[i]) result[i] = *next++;
  return result;
}

TensorList TensorPlaces::gathered(const TensorList& spread) const {
  TensorList result;
  for (std::size_t i = 0; i < is_tensor_.size(); ++i)
    if (is_tensor_[i]) result.push_back(spread[i]);
  return result;
}

}  // namespace ocl::nn
