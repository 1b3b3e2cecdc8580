#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "autograd/tensor/tensor.h"

namespace ocl::nn {

class Module;
class Value;

/** An object of another language that passes through modules as it is. */
class ForeignValue {
 public:
  virtual ~ForeignValue() = default;
  /** The contents, where it is a sequence or a mapping; none otherwise. */
  virtual Value opened() const = 0;
  /** The word of an error message: "list". */
  virtual std::string kind() const = 0;
};

/** A value that modules take and give: a tensor, nothing, a flag, several values, values by name, or a
 * foreign object. */
class Value {
 public:
  using Sequence = std::vector<Value>;
  using Mapping = std::vector<std::pair<std::string, Value>>;
  using Foreign = std::shared_ptr<const ForeignValue>;

  Value() = default;
  /** An undefined tensor is nothing. */
  Value(const Tensor& tensor) {
    if (tensor.defined()) held_ = tensor;
  }
  template <class Flag, class = std::enable_if_t<std::is_same_v<Flag, bool>>>  // no pointer is a flag
  Value(Flag flag) : held_(flag) {}
  Value(Sequence values) : held_(std::move(values)) {}
  Value(Mapping values) : held_(std::move(values)) {}
  Value(Foreign object) : held_(std::move(object)) {}

  bool is_none() const { return std::holds_alternative<std::monostate>(held_); }
  bool is_tensor() const { return std::holds_alternative<Tensor>(held_); }
  /** Throws TypeError for anything but a tensor; `what` it is: "the output of Net". */
  const Tensor& tensor(const std::string& what) const;
  /** The tensor, undefined for nothing. */
  Tensor tensor_or_none(const std::string& what) const { return is_none() ? Tensor() : tensor(what); }
  /** `otherwise` for nothing. Throws TypeError for anything but a flag. */
  bool flag_or(bool otherwise, const std::string& what) const;
  const bool* flag() const { return std::get_if<bool>(&held_); }
  bool is_sequence() const;
  /** The values in order, of a tuple or list; one alone for anything else. */
  Sequence sequence() const;
  /** Null unless it is of that kind. */
  const Mapping* mapping() const { return std::get_if<Mapping>(&held_); }
  const Foreign* foreign() const { return std::get_if<Foreign>(&held_); }
  /** A tuple of values made in C++, or null. */
  const Sequence* own_sequence() const { return std::get_if<Sequence>(&held_); }
  /** "Tensor", "None", "tuple", … */
  std::string kind() const;

 private:
  std::variant<std::monostate, Tensor, bool, Sequence, Mapping, Foreign> held_;
};

/** The arguments of a call. */
struct Arguments {
  Value::Sequence positional;
  Value::Mapping named;

  /** In the order of `parameters`, nothing for those that are not given. Throws TypeError, which names
   * `callee`, for what is not among them. */
  Value::Sequence matched(const std::string& callee, const std::vector<std::string>& parameters) const;
  /** Throws TypeError, which names `callee`, for anything but one tensor. */
  const Tensor& only_tensor(const Module& callee) const;
};

/** Where among some values the tensors stand. */
class TensorPlaces {
 public:
  TensorPlaces() = default;
  explicit TensorPlaces(const Value::Sequence& values);
  /** The tensors alone. */
  TensorList tensors_of(const Value::Sequence& values) const;
  /** The values, with `tensors` where the tensors stand. */
  Value::Sequence replaced(const Value::Sequence& values, const TensorList& tensors) const;
  /** `tensors` where the tensors stand, undefined ones elsewhere. */
  TensorList spread(const TensorList& tensors) const;
  TensorList gathered(const TensorList& spread) const;

 private:
  std::vector<bool> is_tensor_;
};

}  // namespace ocl::nn
