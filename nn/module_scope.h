#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "autograd/ops/call.h"
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

/** Where modules stand below the one that the thread calls: "layer1.0.conv1". */
using ModulePaths = std::unordered_map<const Module*, std::string>;

/**
 * A module's call on the seam (dlprim/core/call.h), where anybody wants to know of it. Meanwhile
 * CallState::module is its path below the outermost module that is being called, and its class:
 * "layer1.0.conv1 (Conv2d)". It is the class alone for the outermost, and for a module that is not registered
 * below it.
 */
class ModuleScope {
 public:
  /** `input`: makes the arguments, where they are asked for. */
  template <class MakeInput>
  ModuleScope(const Module& module, const MakeInput& input) {
    if (!dlprim::call_state.listeners && !dlprim::names_modules()) return;
    names_ = std::make_unique<Names>(module);
    scope_.emplace(names_->of_class.c_str(), dlprim::Call::Kind::module, "input", input());
    dlprim::call_state.module = names_->in_full.c_str();
  }

 private:
  /** While the outermost's live, the thread knows the paths below it. */
  struct Names {
    explicit Names(const Module& module);
    ~Names();
    Names(const Names&) = delete;
    Names& operator=(const Names&) = delete;

    const std::string of_class;
    std::string in_full;
    std::optional<ModulePaths> paths;
  };

  std::unique_ptr<Names> names_;
  std::optional<dlprim::CallScope> scope_;
};

}  // namespace ocl::nn
