#include <map>

#include "autograd/creation.h"
#include "autograd/tape.h"
#include "nn/module.h"

namespace ocl::nn {
namespace {

using dlprim::concat;

std::string quoted_list(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += concat(text.empty() ? "" : ", ", '"', name, '"');
  return text;
}

/** What the given state dict has under `key`, taken out of `given`; noted as missing if nothing. */
Tensor take(std::map<std::string, Tensor>& given, const std::string& key, std::vector<std::string>& missing) {
  const auto found = given.find(key);
  if (found == given.end()) {
    missing.push_back(key);
    return {};
  }
  const Tensor value = found->second;
  given.erase(found);
  return value;
}

[[noreturn]] void refuse(const std::string& module, const std::vector<std::string>& problems) {
  std::string text = concat("Error(s) in loading state_dict for ", module, ":");
  for (const std::string& problem : problems) text += "\n\t" + problem;
  throw ValueError(text);
}

std::string own_prefix(const std::string& path) {
  return path.empty() ? "" : path + '.';
}

}  // namespace

StateDict Module::own_state() const {
  const std::lock_guard locked(mutex_);
  StateDict own;
  for (const auto& [own_name, tensor] : parameters_)
    if (tensor.defined()) own.emplace_back(own_name, tensor);
  for (const auto& [own_name, tensor] : buffers_)
    if (tensor.defined() && !transient_.count(own_name)) own.emplace_back(own_name, tensor);
  return own;
}

StateDict Module::state_dict(const std::string& prefix) const {
  StateDict state;
  for (const auto& [path, module] : named_modules("", false)) {
    const std::string start = prefix + own_prefix(path);
    for (const auto& [own_name, tensor] : module->own_state())
      state.emplace_back(start + own_name, tensor.detach());
    for (const auto& [own_name, counter] : module->counters_) {
      const TensorList buffers = module->buffers(false);
      const Device device = buffers.empty() ? Device() : buffers.front().device();
      state.emplace_back(start + own_name, tensor(std::vector<std::int64_t>{*counter}, {}, device));
    }
  }
  return state;
}

IncompatibleKeys Module::load_state_dict(const StateDict& state, bool strict, bool assign) {
  std::map<std::string, Tensor> given(state.begin(), state.end());
  IncompatibleKeys keys;
  std::vector<std::string> problems;
  std::vector<std::function<void()>> changes;  // made only when everything fits
  for (const auto& [path, module] : named_modules("", false)) {
    const std::string start = own_prefix(path);
    for (const auto& [own_name, tensor] : module->own_state()) {
      const Tensor value = take(given, start + own_name, keys.missing_keys);
      if (!value.defined()) continue;
      if (value.shape() != tensor.shape())
        problems.push_back(concat("size mismatch for ", start, own_name, ": copying a param with shape ",
                                  value.shape(), " from checkpoint, the shape in current model is ",
                                  tensor.shape(), "."));
      else if (assign)
        changes.push_back([target = module, own = own_name, value, tensor = tensor] {
          target->assign(own, tensor, value);
        });
      else
        changes.push_back([tensor = tensor.detach(), value]() mutable { tensor.copy_(value); });
    }
    for (const auto& [own_name, counter] : module->counters_)
      if (const Tensor value = take(given, start + own_name, keys.missing_keys); value.defined())
        changes.push_back([counter = counter, value] { *counter = value.item<std::int64_t>(); });
  }
  for (const auto& [key, value] : state)
    if (given.count(key)) keys.unexpected_keys.push_back(key);
  if (strict && !keys.unexpected_keys.empty())
    problems.insert(problems.begin(),
                    concat("Unexpected key(s) in state_dict: ", quoted_list(keys.unexpected_keys), ". "));
  if (strict && !keys.missing_keys.empty())
    problems.insert(problems.begin(),
                    concat("Missing key(s) in state_dict: ", quoted_list(keys.missing_keys), ". "));
  if (!problems.empty()) refuse(name(), problems);
  const NoGradGuard no_grad;
  for (const std::function<void()>& change : changes) change();
  return keys;
}

void Module::assign(const std::string& own_name, const Tensor& held, const Tensor& value) {
  if (held.impl().is_parameter)
    register_parameter(own_name, parameter(value.detach(), held.requires_grad()));
  else
    register_buffer(own_name, value, !transient_.count(own_name));
}

}  // namespace ocl::nn
