#include "nn/modules/container.h"

#include <algorithm>

#include "nn/modules/norm.h"
#include "nn/walk.h"

namespace ocl::nn {

using dlprim::require;

std::size_t ModuleSequence::position(std::int64_t index, std::size_t size, std::size_t end) const {
  const auto count = static_cast<std::int64_t>(size);
  const std::int64_t counted = index < 0 ? index + count : index;
  require<IndexError>(counted >= 0 && counted < static_cast<std::int64_t>(end), "index ", index,
                      " is out of range for a ", name(), " of ", count, " modules");
  return static_cast<std::size_t>(counted);
}

std::shared_ptr<Module> ModuleSequence::at(std::int64_t index) const {
  const ModulePointers all = entries();
  return all[position(index, all.size(), all.size())];
}

ModulePointers ModuleSequence::entries() const {
  ModulePointers all;
  for (const auto& [child_name, module] : own_modules()) all.push_back(module);
  return all;
}

void ModuleSequence::append(std::shared_ptr<Module> module) {
  register_module(std::to_string(size()), std::move(module));
}

void ModuleSequence::extend(const ModulePointers& modules) {
  for (const auto& module : modules) append(module);
}

void ModuleSequence::insert(std::int64_t index, std::shared_ptr<Module> module) {
  ModulePointers all = entries();
  all.insert(all.begin() + static_cast<std::ptrdiff_t>(position(index, all.size(), all.size() + 1)),
             std::move(module));
  assign(all);
}

void ModuleSequence::set(std::int64_t index, std::shared_ptr<Module> module) {
  const Children all = own_modules();
  register_module(all[position(index, all.size(), all.size())].first, std::move(module));
}

void ModuleSequence::erase(std::int64_t index) {
  ModulePointers all = entries();
  all.erase(all.begin() + static_cast<std::ptrdiff_t>(position(index, all.size(), all.size())));
  assign(all);
}

void ModuleSequence::assign(const ModulePointers& modules) {
  for (const auto& [child_name, module] : own_modules()) unregister(child_name);
  extend(modules);
}

std::shared_ptr<Sequential> Sequential::slice(std::int64_t begin, std::int64_t end) const {
  const Children children = own_modules();
  const auto count = static_cast<std::int64_t>(children.size());
  const auto clamped = [count](std::int64_t i) {
    return std::min(std::max<std::int64_t>(i < 0 ? i + count : i, 0), count);
  };
  const std::int64_t first = clamped(begin), last = std::max(clamped(end), first);
  return std::make_shared<Sequential>(Children(children.begin() + first, children.begin() + last));
}

bool Sequential::parts_work_on_last_dimension() const {
  const ModulePointers parts = entries();
  return std::all_of(parts.begin(), parts.end(), [](const std::shared_ptr<Module>& part) {
    return part && part->computes_alone() && part->works_on_last_dimension();
  });
}

Tensor Sequential::forward(const Tensor& x) {
  Tensor y = x;
  const Children children = own_modules();
  for (std::size_t i = 0; i < children.size(); ++i) {
    const auto& [child_name, module] = children[i];
    require<TypeError>(module != nullptr, "Sequential: there is no module under '", child_name, "'");
    const Module* next = i + 1 < children.size() ? children[i + 1].second.get() : nullptr;
    if (next && runs_as_one(*module, *next, false))
      y = norm_then(*module, y, *children[++i].second);
    else
      y = (*module)(y);
  }
  return y;
}

Tensor Sequential::forward(const Tensor& first, const Tensor& second, const Tensor& third) {
  Arguments arguments{{first, second}, {}};
  if (third.defined()) arguments.positional.emplace_back(third);
  const Tensor y = (*at(0))(arguments).tensor("the output of the first module of Sequential");
  return slice(1, static_cast<std::int64_t>(size()))->forward(y);
}

std::string ModuleList::repr() const {
  const WalkLevel level(*this);
  std::vector<std::string> texts;
  for (const ModulePointers::value_type& module : entries())
    texts.push_back(module ? module->repr() : "None");
  return module_list_repr(name(), texts);
}

std::shared_ptr<Module> ModuleDict::at(const std::string& key) const {
  std::shared_ptr<Module> module = own_module(key);
  require(module != nullptr, "ModuleDict has no module '", key, "'");
  return module;
}

std::vector<std::string> ModuleDict::keys() const {
  std::vector<std::string> names;
  for (const auto& [key, module] : named_children()) names.push_back(key);
  return names;
}

Tensor as_parameter(const Tensor& tensor) {
  return tensor.impl().is_parameter ? tensor : parameter(tensor.detach());
}

void ParameterList::append(const Tensor& tensor) {
  register_parameter(std::to_string(size()), as_parameter(tensor));
}

std::string ParameterList::name_at(std::int64_t index) const {
  const auto count = static_cast<std::int64_t>(size());
  require<IndexError>(index >= -count && index < count, "index ", index,
                      " is out of range for a ParameterList of ", count);
  return std::to_string(index < 0 ? index + count : index);
}

Tensor ParameterList::at(std::int64_t index) const {
  return *own_parameter(name_at(index));
}

void ParameterList::set(std::int64_t index, const Tensor& tensor) {
  register_parameter(name_at(index), as_parameter(tensor));
}

namespace {

std::string lines_of(const StateDict& parameters) {
  std::string text;
  for (const auto& [own_name, p] : parameters) {
    std::string sizes;
    for (const std::int64_t size : p.shape()) sizes += (sizes.empty() ? "" : "x") + std::to_string(size);
    text += dlprim::concat(text.empty() ? "" : "\n", "  (", own_name, "): Parameter containing: [ocl.",
                           dlprim::name(p.dtype()), " of size ", sizes, ']');
  }
  return text;
}

}  // namespace

std::string ParameterList::extra_repr() const {
  return lines_of(named_parameters("", false, false));
}

std::string ParameterDict::extra_repr() const {
  return lines_of(named_parameters("", false, false));
}

}  // namespace ocl::nn
