#pragma once

#include <optional>
#include <string>

#include "autograd/call.h"
#include "nn/module.h"

namespace ocl::nn {

/** On the seam a foreign object is its kind. (A template, so that what only converts to a Value is not taken
 * for one.) */
template <class T, class = std::enable_if_t<std::is_same_v<T, Value>>>
dlprim::ArgumentValue argument_value(const T& value) {
  if (value.is_none()) return {};
  if (value.is_tensor()) return ocl::argument_value(value.tensor("an input"));
  if (const bool* flag = value.flag()) return *flag;
  if (const Value::Sequence* values = value.own_sequence()) return dlprim::value_of(*values);
  return value.kind();
}

/** A module's call on the seam (dlprim/core/call.h), where anybody wants to know of it. */
class ModuleScope {
 public:
  /** `input`: makes the arguments, where they are asked for. */
  template <class MakeInput>
  ModuleScope(const Module& module, const MakeInput& input) {
    if (!dlprim::call_state.listeners && !dlprim::names_modules()) return;
    name_ = module.name();
    scope_.emplace(name_.c_str(), dlprim::Call::Kind::module, "input", input());
  }

 private:
  std::string name_;
  std::optional<dlprim::CallScope> scope_;
};

}  // namespace ocl::nn
