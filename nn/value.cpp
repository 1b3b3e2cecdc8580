#include "nn/value.h"

namespace ocl::nn {

const Tensor& Value::tensor(const std::string& what) const {
  const auto* held = std::get_if<Tensor>(&held_);
  dlprim::require<TypeError>(held != nullptr, what, " must be a Tensor, got ", kind());
  return *held;
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
  if (foreign()) return (*foreign())->kind();
  return mapping() ? "dict" : "tuple";
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
