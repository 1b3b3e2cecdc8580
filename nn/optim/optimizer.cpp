#include "nn/optim/optimizer.h"

#include <iostream>
#include <set>

#include "autograd/ops/views.h"
#include "autograd/tape/tape.h"

namespace ocl::optim {

using dlprim::require;

void GroupOptions::set(const char* name, Value value) {
  if (!has(name)) {
    std::string names;
    for (const auto& [known, held] : values()) names += (names.empty() ? "" : ", ") + known;
    throw ValueError(dlprim::concat("a parameter group has no option '", name, "', only ", names));
  }
  add(name, std::move(value));
}

Optimizer::Optimizer(const ParamGroups& groups, const GroupOptions& defaults) : defaults_(defaults.clone()) {
  const bool is_empty = groups.empty() || (groups.size() == 1 && groups[0].params().empty());
  require(!is_empty, "optimizer got an empty parameter list");
  for (const OptimizerParamGroup& group : groups) add_param_group(group);
}

void Optimizer::add_param_group(const OptimizerParamGroup& group) {
  if (group.has_options())
    add_param_group(group.params(), group.options());
  else
    add_param_group(group.params());
}

void Optimizer::add_param_group(const TensorList& parameters, const Options& options) {
  ParameterGroup group(parameters, defaults_->clone());
  for (const auto& [option, value] : options.values()) group.options.set(option.c_str(), value);
  check_group(group.options);
  const std::lock_guard locked(mutex_);
  std::set<TensorImpl*> held, added;
  for (const ParameterGroup& other : groups_)
    for (const Tensor& p : other.parameters) held.insert(&p.impl());
  for (const Tensor& p : parameters) {
    require(p.is_leaf(), "can't optimize a non-leaf Tensor");
    require(held.count(&p.impl()) == 0, "some parameters appear in more than one parameter group");
    if (!added.insert(&p.impl()).second)
      std::cerr << "Warning: optimizer contains a parameter group with duplicate parameters\n";
  }
  groups_.push_back(std::move(group));
}

TensorList Optimizer::parameters() const {
  const std::lock_guard locked(mutex_);
  TensorList all;
  for (const ParameterGroup& group : groups_)
    all.insert(all.end(), group.parameters.begin(), group.parameters.end());
  return all;
}

void Optimizer::zero_grad(bool set_to_none) {
  const NoGradGuard no_grad;
  for (Tensor& p : parameters()) {
    if (set_to_none)
      p.set_grad({});
    else if (Tensor grad = p.grad(); grad.defined())
      grad.zero_();
  }
}

void Optimizer::set_for_all(const char* option, const Value& value) {
  const std::lock_guard locked(mutex_);
  defaults_->add(option, value);
  for (ParameterGroup& group : groups_) group.options.add(option, value);
}

void Optimizer::run_hooks(const std::vector<Hook>& hooks) {
  for (const Hook& hook : hooks) hook(*this);
}

Tensor Optimizer::step(const Closure& closure) {
  run_hooks(before_);
  Tensor loss;
  if (closure) {
    const GradMode recording(true);
    loss = closure();
  }
  {
    const NoGradGuard no_grad;
    TensorList gradients;  // may end with closures of another language, which the lock must not wait for
    const std::lock_guard locked(mutex_);
    for (const ParameterGroup& group : groups_)
      for (const Tensor& p : group.parameters) gradients.push_back(p.grad());
    update();
  }
  run_hooks(after_);
  return loss;
}

OptimizerState Optimizer::state_dict() const {
  const std::lock_guard locked(mutex_);
  OptimizerState state;
  for (const ParameterGroup& group : groups_) {
    OptimizerState::Group& saved = state.groups.emplace_back();
    saved.options = group.options;
    for (const Tensor& p : group.parameters) {
      const auto found = states_.find(&p.impl());
      saved.parameters.push_back(found == states_.end() ? ParameterState{} : found->second);
    }
  }
  return state;
}

void Optimizer::load_state_dict(const OptimizerState& state) {
  const NoGradGuard no_grad;
  std::map<TensorImpl*, ParameterState> loaded;
  const std::lock_guard locked(mutex_);
  require(state.groups.size() == groups_.size(),
          "loaded state dict has a different number of parameter groups");
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const OptimizerState::Group& saved = state.groups[g];
    const TensorList& parameters = groups_[g].parameters;
    require(saved.parameters.size() == parameters.size(),
            "loaded state dict contains a parameter group that doesn't match the size of optimizer's group");
    check_group(saved.options);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      check_state(saved.options, parameters[i], saved.parameters[i]);
      ParameterState& copy = loaded[&parameters[i].impl()];
      copy.numbers = saved.parameters[i].numbers;
      for (const auto& [name, tensor] : saved.parameters[i].tensors) copy.tensors[name] = tensor.clone();
    }
  }
  for (std::size_t g = 0; g < groups_.size(); ++g) groups_[g].options = state.groups[g].options;
  std::swap(states_, loaded);  // the old ones go after the lock
}

RuleOptimizer::RuleOptimizer(const OptimizerRule& rule, const ParamGroups& groups,
                             const GroupOptions& options)
    : Optimizer(groups, options), stepper_(rule) {
  rule.check(options);
  for (const ParameterGroup& group : param_groups()) rule.check(group.options);
}

void RuleOptimizer::check_state(const Options& options, const Tensor& parameter,
                                const ParameterState& state) const {
  const OptimizerRule& rule = stepper_.rule();
  if (state.numbers.empty() && state.tensors.empty()) return;
  for (const auto& row : rule.numbers(options)) {
    const auto found = state.numbers.find(row.name);
    require(found != state.numbers.end(), "loaded state has no '", row.name, "'");
    require(found->second >= 0, "loaded state: '", row.name, "' cannot be ", found->second);
  }
  if (!rule.update) return;
  const DType dtype = state_dtype(options, parameter);
  for (const auto& row : stepper_.tensor_rows(options)) {
    const auto found = state.tensors.find(row.name);
    if (found == state.tensors.end() && std::string_view(row.name) == "master") continue;
    require(found != state.tensors.end(), "loaded state has no '", row.name, "'");
    require_state_of(parameter, dtype, row.name, found->second);
  }
}

void RuleOptimizer::update() {
  std::size_t number = 0;
  for (const ParameterGroup& group : param_groups()) {
    const auto number_rows = stepper_.rule().numbers(group.options),
               tensor_rows = stepper_.tensor_rows(group.options);
    std::vector<Participant> participants;
    std::vector<ParameterState*> kept;
    for (const Tensor& p : group.parameters) {
      Tensor gradient = p.grad();
      if (!gradient.defined()) continue;
      ParameterState& state = *kept.emplace_back(&this->state(p));
      Participant& one = participants.emplace_back(Participant{p, std::move(gradient), {}, {}});
      for (const auto& row : number_rows)
        one.numbers.push_back(state.numbers.emplace(row.name, *row.initial).first->second);
      for (const auto& row : tensor_rows) {
        const auto found = state.tensors.find(row.name);
        one.tensors.push_back(found == state.tensors.end() ? Tensor() : found->second);
      }
    }
    stepper_.step(number++, group.options, participants);
    for (std::size_t i = 0; i < kept.size(); ++i) {
      for (std::size_t k = 0; k < number_rows.size(); ++k)
        kept[i]->numbers[number_rows[k].name] = participants[i].numbers[k];
      for (std::size_t k = 0; k < tensor_rows.size(); ++k)
        if (participants[i].tensors[k].defined())
          kept[i]->tensors[tensor_rows[k].name] = participants[i].tensors[k];
    }
  }
}

LineSearchOptimizer::LineSearchOptimizer(const OptimizerRule& rule, const ParamGroups& groups,
                                         const GroupOptions& options)
    : Optimizer(groups, options) {
  rule.check(options);
  for (const ParameterGroup& group : param_groups()) rule.check(group.options);
}

Tensor LineSearchOptimizer::step(const Closure& closure) {
  require<TypeError>(static_cast<bool>(closure), "LBFGS: step needs the closure that computes the loss");
  require(param_groups().size() == 1, "LBFGS doesn't support per-parameter options (parameter groups)");
  run_hooks(pre_hooks());
  const ParameterGroup& group = param_groups().front();
  Tensor loss = lbfgs_step(group.options, group.parameters, memory_, closure);
  run_hooks(post_hooks());
  return loss;
}

}  // namespace ocl::optim
