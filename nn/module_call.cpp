#include "nn/backward_watch.h"
#include "nn/module.h"
#include "nn/module_scope.h"
#include "nn/stack_guard.h"

namespace ocl::nn {
namespace {

using dlprim::concat;

std::string input_of(const Module& module) {
  return "the input of " + module.name();
}
std::string output_of(const Module& module) {
  return "the output of " + module.name();
}

}  // namespace

const Tensor& Arguments::only_tensor(const Module& callee) const {
  dlprim::require<TypeError>(positional.size() == 1 && named.empty(), callee.name(),
                             " takes one tensor, got ", positional.size() + named.size(), " arguments");
  return positional[0].tensor(input_of(callee));
}

Tensor Module::forward(const Tensor&) {
  throw TypeError(concat("Module [", name(), "] is missing the required \"forward\" function"));
}

Value Module::call(const Arguments& arguments) {
  return forward(arguments.only_tensor(*this));
}

Tensor Module::operator()(const Tensor& x) {
  if (const auto other = elsewhere()) return (*other)(x);
  const StackGuard guard(*this);
  const ModuleScope entered(*this, [&] { return x; });
  if (computes_alone()) return forward(x);
  const auto forward_of_one = [this](const Arguments& arguments) -> Value {
    if (const auto replaced = std::atomic_load(&replaced_forward_)) return (*replaced)(arguments);
    if (own_forward_) return own_forward_(*this, arguments);
    return forward(arguments.only_tensor(*this));
  };
  return with_hooks({{x}, {}}, forward_of_one).tensor(output_of(*this));
}

Value Module::operator()(const Arguments& arguments) {
  if (const auto other = elsewhere()) return (*other)(arguments);
  const StackGuard guard(*this);
  const ModuleScope entered(*this, [&] { return arguments.positional; });
  return with_hooks(arguments, [this](const Arguments& given) {
    const auto replaced = std::atomic_load(&replaced_forward_);
    if (replaced) return (*replaced)(given);
    return own_forward_ ? own_forward_(*this, given) : call(given);
  });
}

void Module::replace_forward(Forward forward) {
  if (const auto other = elsewhere()) return other->replace_forward(std::move(forward));
  std::atomic_store(&replaced_forward_,
                    forward ? std::make_shared<const Forward>(std::move(forward)) : nullptr);
}

bool Module::computes_alone() const {
  if (const auto other = elsewhere()) return other->computes_alone();
  return !has_hooks() && !own_forward_ && !std::atomic_load(&replaced_forward_);
}

bool Module::has_hooks() const {
  if (const auto other = elsewhere()) return other->has_hooks();
  return !(forward_hooks_.empty() && forward_pre_hooks_.empty() && backward_hooks_.empty());
}

Value Module::with_hooks(Arguments arguments, const Forward& forward) {
  for (const auto& hook : forward_pre_hooks_.hooks())
    if (std::optional<Arguments> replaced = (*hook)(*this, arguments)) arguments = std::move(*replaced);
  const auto backward_hooks = backward_hooks_.hooks();
  Value output = backward_hooks.empty() ? forward(arguments) : watched(arguments, forward, backward_hooks);
  for (const auto& hook : forward_hooks_.hooks())
    if (Value replaced = (*hook)(*this, arguments, output); !replaced.is_none()) output = std::move(replaced);
  return output;
}

Value Module::watched(const Arguments& arguments, const Forward& forward,
                      const HookList<BackwardHook>::Hooks& hooks) {
  const TensorPlaces inputs(arguments.positional);
  const auto outputs = std::make_shared<TensorPlaces>();
  const auto call_hooks = [this, alive = std::weak_ptr(alive_), hooks, inputs, outputs](
                              const TensorList& input_gradients, const TensorList& output_gradients) {
    TensorList grad_input = inputs.spread(input_gradients);
    for (const auto& hook : hooks) {
      if (alive.expired()) break;
      std::optional<TensorList> replaced = (*hook)(*this, grad_input, outputs->spread(output_gradients));
      if (!replaced) continue;
      dlprim::require(replaced->size() == grad_input.size(), "a backward hook must return ",
                      grad_input.size(), " gradients of inputs, got ", replaced->size());
      grad_input = std::move(*replaced);
    }
    return inputs.gathered(grad_input);
  };
  std::function<Foreign()> keeper;
  {
    const std::lock_guard locked(mutex_);
    keeper = keeper_;
  }
  BackwardWatch watch(call_hooks, keeper);
  Arguments given = arguments;
  given.positional =
      inputs.replaced(arguments.positional, watch.inputs(inputs.tensors_of(arguments.positional)));
  const Value output = forward(given);
  const Value::Sequence values = output.sequence();
  *outputs = TensorPlaces(values);
  Value::Sequence replaced = outputs->replaced(values, watch.outputs(outputs->tensors_of(values)));
  const bool is_one = values.size() == 1 && !output.is_sequence();
  return is_one ? replaced[0] : Value(std::move(replaced));
}

void Module::set_keeper(std::function<Foreign()> keeper) {
  if (const auto other = elsewhere()) return other->set_keeper(std::move(keeper));
  const std::lock_guard locked(mutex_);
  keeper_ = std::move(keeper);
}

RemovableHandle Module::register_forward_hook(ForwardHook hook, IsIdle is_idle) {
  if (const auto other = elsewhere())
    return other->register_forward_hook(std::move(hook), std::move(is_idle));
  return forward_hooks_.add(std::move(hook), std::move(is_idle));
}

RemovableHandle Module::register_forward_hook(TensorForwardHook hook) {
  return register_forward_hook(
      ForwardHook([hook = std::move(hook)](Module& module, const Arguments& arguments, const Value& output) {
        return Value(hook(module, arguments.only_tensor(module), output.tensor(output_of(module))));
      }));
}

RemovableHandle Module::register_forward_pre_hook(ForwardPreHook hook, IsIdle is_idle) {
  if (const auto other = elsewhere())
    return other->register_forward_pre_hook(std::move(hook), std::move(is_idle));
  return forward_pre_hooks_.add(std::move(hook), std::move(is_idle));
}

RemovableHandle Module::register_forward_pre_hook(TensorForwardPreHook hook) {
  return register_forward_pre_hook(ForwardPreHook(
      [hook = std::move(hook)](Module& module, const Arguments& arguments) -> std::optional<Arguments> {
        const Tensor replaced = hook(module, arguments.only_tensor(module));
        if (!replaced.defined()) return std::nullopt;
        return Arguments{{replaced}, {}};
      }));
}

RemovableHandle Module::register_full_backward_hook(BackwardHook hook, IsIdle is_idle) {
  if (const auto other = elsewhere())
    return other->register_full_backward_hook(std::move(hook), std::move(is_idle));
  return backward_hooks_.add(std::move(hook), std::move(is_idle));
}

RemovableHandle Module::register_full_backward_hook(TensorBackwardHook hook) {
  return register_full_backward_hook(
      BackwardHook([hook = std::move(hook)](Module& module, const TensorList& grad_input,
                                            const TensorList& grad_output) -> std::optional<TensorList> {
        const Tensor replaced = hook(module, grad_input.at(0), grad_output.at(0));
        if (!replaced.defined()) return std::nullopt;
        TensorList all = grad_input;
        all[0] = replaced;
        return all;
      }));
}

}  // namespace ocl::nn
