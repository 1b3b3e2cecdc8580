#include "nn/module.h"

#include <cxxabi.h>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <typeinfo>

#include "autograd/creation.h"
#include "autograd/tape.h"

namespace ocl::nn {
namespace {

using dlprim::concat;
using dlprim::require;

template <class Entries, class Value>
void put(Entries& entries, const std::string& name, Value value) {
  require(!name.empty() && name.find('.') == std::string::npos,
          "a name within a module must be one word without '.', got '", name, "'");
  for (auto& [existing, held] : entries)
    if (existing == name) {
      held = std::move(value);
      return;
    }
  entries.emplace_back(name, std::move(value));
}

std::optional<Tensor> find(const StateDict& entries, const std::string& name) {
  for (const auto& [existing, held] : entries)
    if (existing == name) return held;
  return std::nullopt;
}

std::string quoted_list(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += concat(text.empty() ? "" : ", ", '"', name, '"');
  return text;
}

std::string indented(const std::string& text) {
  std::string result;
  for (char c : text) {
    result += c;
    if (c == '\n') result += "  ";
  }
  return result;
}

}  // namespace

std::string float_repr(double value) {
  const double size = std::abs(value);
  const bool plain = size == 0 || (size >= 1e-4 && size < 1e16);
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value,
                                 plain ? std::chars_format::fixed : std::chars_format::scientific)
                       .ptr;
  const std::string digits(text, end);
  return plain && digits.find('.') == std::string::npos ? digits + ".0" : digits;
}

std::string module_repr(const std::string& name, const std::string& extra_repr,
                        const std::vector<std::pair<std::string, std::string>>& children) {
  if (children.empty()) return concat(name, '(', extra_repr, ')');
  std::string body = extra_repr;
  for (const auto& [child_name, text] : children)
    body += concat(body.empty() ? "" : "\n", "(", child_name, "): ", text);
  return concat(name, "(\n  ", indented(body), "\n)");
}

Tensor parameter(Tensor data, bool requires_grad) {
  data.impl().is_parameter = true;
  data.requires_grad_(requires_grad);
  return data;
}

Tensor Module::forward(const Tensor&) {
  throw TypeError(concat(name(), " has no forward of one tensor"));
}

Tensor Module::operator()(const Tensor& x) {
  Tensor y = forward(x);
  for (const ForwardHook& hook : forward_hooks_)
    if (const Tensor replaced = hook(*this, x, y); replaced.defined()) y = replaced;
  return y;
}

std::string Module::name() const {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> full(
      abi::__cxa_demangle(typeid(*this).name(), nullptr, nullptr, &status), std::free);
  const std::string text = full ? full.get() : "Module";
  return text.substr(text.rfind(':') + 1);
}

std::string Module::repr() const {
  std::vector<std::pair<std::string, std::string>> children;
  for (const auto& [child_name, child] : children_) children.emplace_back(child_name, child->repr());
  return module_repr(name(), extra_repr(), children);
}

Tensor& Module::register_parameter(const std::string& name, Tensor tensor) {
  put(parameters_, name, !tensor.defined() || tensor.impl().is_parameter ? tensor : parameter(tensor));
  follow(name, tensor);
  for (auto& [existing, held] : parameters_)
    if (existing == name) return held;
  throw ValueError(name);
}

Tensor& Module::register_buffer(const std::string& name, Tensor tensor) {
  put(buffers_, name, tensor);
  follow(name, tensor);
  for (auto& [existing, held] : buffers_)
    if (existing == name) return held;
  throw ValueError(name);
}

void Module::follow(const std::string& name, const Tensor& value) {
  for (const auto& [existing, member] : members_)
    if (existing == name) *member = value;
}

void Module::register_parameter(const std::string& name, Tensor& member, Tensor value) {
  members_.emplace_back(name, &member);
  register_parameter(name, std::move(value));
}

void Module::register_buffer(const std::string& name, Tensor& member, Tensor value) {
  members_.emplace_back(name, &member);
  register_buffer(name, std::move(value));
}

void Module::register_module(const std::string& name, std::shared_ptr<Module> module) {
  require(module != nullptr && module.get() != this, "register_module: '", name, "' needs another module");
  put(children_, name, std::move(module));
}

// Calls visitor(dotted prefix, module) here and below.
template <class Visit>
void Module::visit(const std::string& prefix, const Visit& visitor) const {
  visitor(prefix, *this);
  for (const auto& [child_name, child] : children_) child->visit(concat(prefix, child_name, '.'), visitor);
}

StateDict Module::named_parameters() const {
  StateDict all;
  std::set<TensorImpl*> seen;  // a parameter that two modules share counts once
  visit("", [&](const std::string& prefix, const Module& module) {
    for (const auto& [own, tensor] : module.parameters_)
      if (tensor.defined() && seen.insert(&tensor.impl()).second) all.emplace_back(prefix + own, tensor);
  });
  return all;
}

TensorList Module::parameters() const {
  TensorList all;
  for (const auto& [own, tensor] : named_parameters()) all.push_back(tensor);
  return all;
}

StateDict Module::named_buffers() const {
  StateDict all;
  visit("", [&](const std::string& prefix, const Module& module) {
    for (const auto& [own, tensor] : module.buffers_)
      if (tensor.defined()) all.emplace_back(prefix + own, tensor);
  });
  return all;
}

std::optional<Tensor> Module::own_parameter(const std::string& name) const {
  return find(parameters_, name);
}
std::optional<Tensor> Module::own_buffer(const std::string& name) const {
  return find(buffers_, name);
}

std::shared_ptr<Module> Module::own_module(const std::string& name) const {
  for (const auto& [existing, child] : children_)
    if (existing == name) return child;
  return nullptr;
}

void Module::train(bool on) {
  apply([on](Module& module) { module.training_ = on; });
}

void Module::apply(const std::function<void(Module&)>& function) {
  for (const auto& [child_name, child] : children_) child->apply(function);
  function(*this);
}

namespace {

// Replaces the memory behind a handle, so that optimizers and members keep pointing at the same tensor.
template <class Convert>
void replace_all(const std::vector<StateDict>& groups, const Convert& convert) {
  const NoGradGuard no_grad;
  for (const StateDict& group : groups)
    for (const auto& [name, tensor] : group) {
      tensor.impl().data = convert(tensor.detach()).data();
      if (tensor.grad().defined()) tensor.impl().grad = convert(tensor.grad());
    }
}

}  // namespace

void Module::to(const Device& device) {
  replace_all({named_parameters(), named_buffers()}, [&](const Tensor& t) { return t.to(device); });
}

void Module::to(DType dtype) {
  require<TypeError>(is_floating(dtype), "Module.to only accepts floating dtypes, got ", dlprim::name(dtype));
  replace_all({named_parameters(), named_buffers()},
              [&](const Tensor& t) { return is_floating(t.dtype()) ? t.to(dtype) : t; });
}

void Module::zero_grad(bool set_to_none) {
  const NoGradGuard no_grad;
  for (const Tensor& p : parameters()) {
    if (set_to_none)
      p.impl().grad = {};
    else if (p.grad().defined())
      p.grad().zero_();
  }
}

void Module::requires_grad_(bool requires_grad) {
  for (Tensor& p : parameters()) p.requires_grad_(requires_grad);
}

StateDict Module::state_dict() const {
  StateDict state;
  visit("", [&](const std::string& prefix, const Module& module) {
    for (const StateDict* own : {&module.parameters_, &module.buffers_})
      for (const auto& [own_name, tensor] : *own)
        if (tensor.defined()) state.emplace_back(prefix + own_name, tensor.detach());
    for (const auto& [own_name, counter] : module.counters_) {
      const Device device = module.buffers_.empty() ? Device() : module.buffers_.front().second.device();
      state.emplace_back(prefix + own_name, tensor(std::vector<std::int64_t>{*counter}, {}, device));
    }
  });
  return state;
}

void Module::load_state_dict(const StateDict& state, bool strict) {
  std::map<std::string, Tensor> given(state.begin(), state.end());
  std::vector<std::string> missing, problems;
  const NoGradGuard no_grad;
  std::vector<std::pair<Tensor, Tensor>> copies;  // destination, source: done only when everything fits
  std::vector<std::pair<std::int64_t*, Tensor>> counts;
  visit("", [&](const std::string& prefix, const Module& module) {
    const auto take = [&](const std::string& own_name) {
      const auto found = given.find(prefix + own_name);
      if (found == given.end()) {
        missing.push_back(prefix + own_name);
        return Tensor();
      }
      const Tensor value = found->second;
      given.erase(found);
      return value;
    };
    for (const StateDict* own : {&module.parameters_, &module.buffers_})
      for (const auto& [own_name, tensor] : *own) {
        if (!tensor.defined()) continue;
        const Tensor value = take(own_name);
        if (!value.defined()) continue;
        if (value.shape() != tensor.shape())
          problems.push_back(concat("size mismatch for ", prefix, own_name, ": copying a param with shape ",
                                    value.shape(), " from checkpoint, the shape in current model is ",
                                    tensor.shape(), "."));
        else
          copies.emplace_back(tensor.detach(), value);
      }
    for (const auto& [own_name, counter] : module.counters_)
      if (const Tensor value = take(own_name); value.defined()) counts.emplace_back(counter, value);
  });
  if (strict && !given.empty()) {
    std::vector<std::string> unexpected;
    for (const auto& [key, tensor] : given) unexpected.push_back(key);
    problems.insert(problems.begin(),
                    concat("Unexpected key(s) in state_dict: ", quoted_list(unexpected), ". "));
  }
  if (strict && !missing.empty())
    problems.insert(problems.begin(), concat("Missing key(s) in state_dict: ", quoted_list(missing), ". "));
  if (!problems.empty()) {
    std::string text = concat("Error(s) in loading state_dict for ", name(), ":");
    for (const std::string& problem : problems) text += "\n\t" + problem;
    throw ValueError(text);
  }
  for (auto& [destination, source] : copies) destination.copy_(source);
  for (auto& [counter, value] : counts) *counter = value.item<std::int64_t>();
}

}  // namespace ocl::nn
