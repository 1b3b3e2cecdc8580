#include "nn/optim/optimizer.h"

#include <set>

#include "autograd/creation.h"
#include "autograd/ops/views.h"
#include "autograd/tape.h"

namespace ocl::optim {

using dlprim::require;

Optimizer::Optimizer(const TensorList& parameters, Options defaults) : defaults_(std::move(defaults)) {
  require(!parameters.empty(), "optimizer got an empty parameter list");
  add_param_group(parameters);
}

void Optimizer::add_param_group(const TensorList& parameters, const Options& options) {
  const std::lock_guard locked(*mutex_);
  std::set<TensorImpl*> held;
  for (const ParameterGroup& group : groups_)
    for (const Tensor& p : group.parameters) held.insert(&p.impl());
  for (const Tensor& p : parameters) {
    require(p.is_leaf(), "can't optimize a non-leaf Tensor");
    require(held.insert(&p.impl()).second, "some parameters appear in more than one parameter group");
  }
  ParameterGroup group{parameters, defaults_, std::vector<ParameterState>(parameters.size()), mutex_};
  for (const auto& [option, value] : options) {
    require(defaults_.count(option) != 0, "optimizer has no option '", option, "'");
    group.options.at(option) = value;
  }
  groups_.push_back(std::move(group));
}

void Optimizer::zero_grad(bool set_to_none) {
  const NoGradGuard no_grad;
  TensorList parameters;
  {
    const std::lock_guard locked(*mutex_);
    for (const ParameterGroup& group : groups_)
      parameters.insert(parameters.end(), group.parameters.begin(), group.parameters.end());
  }
  for (Tensor& p : parameters) {
    if (set_to_none)
      p.set_grad({});
    else if (Tensor grad = p.grad(); grad.defined())
      grad.zero_();
  }
}

std::vector<ParameterGroup> Optimizer::snapshot() const {
  const std::lock_guard locked(*mutex_);
  return {groups_.begin(), groups_.end()};
}

namespace {

void require_state_of(const Tensor& parameter, const ParameterState& state,
                      const std::vector<std::string>& names) {
  require(state.step >= 0, "loaded state has taken ", state.step, " steps");
  require(state.tensors.size() == names.size() || (state.step == 0 && state.tensors.empty()),
          "loaded state has ", state.tensors.size(), " tensors for a parameter, expected ", names.size());
  for (std::size_t k = 0; k < state.tensors.size(); ++k) {
    const Tensor& loaded = state.tensors[k];
    require(loaded.shape() == parameter.shape(), "loaded ", names[k], " of shape ", loaded.shape(),
            " for a parameter of shape ", parameter.shape());
    require(loaded.dtype() == parameter.dtype() && loaded.device() == parameter.device(), "loaded ", names[k],
            " of dtype ", dlprim::name(loaded.dtype()), " on ", loaded.device()->name(),
            " for a parameter of dtype ", dlprim::name(parameter.dtype()), " on ",
            parameter.device()->name());
  }
}

}  // namespace

void Optimizer::load_param_groups(std::vector<ParameterGroup> groups) {
  const std::lock_guard locked(*mutex_);
  require(groups.size() == groups_.size(), "loaded state dict has a different number of parameter groups");
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const TensorList& parameters = groups_[g].parameters;
    require(groups[g].state.size() == parameters.size(),
            "loaded state dict contains a parameter group that doesn't match the size of optimizer's group");
    const std::vector<std::string> names = state_names(groups[g]);
    for (std::size_t i = 0; i < parameters.size(); ++i)
      require_state_of(parameters[i], groups[g].state[i], names);
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {  // the old ones go after the lock
    std::swap(groups_[g].options, groups[g].options);
    std::swap(groups_[g].state, groups[g].state);
  }
}

void Optimizer::step() {
  const NoGradGuard no_grad;
  TensorList gradients;  // may end with closures of another language, which the lock must not wait for
  const std::lock_guard locked(*mutex_);
  for (std::size_t i = 0; i < groups_.size(); ++i) step_group(i, gradients);
}

// Parameters that missed a step (no gradient) need other bias corrections: one launch for each count of steps
// taken.
void Optimizer::step_group(std::size_t index, TensorList& gradients) {
  ParameterGroup& group = groups_[index];
  const std::size_t state_count = state_names(group).size();
  std::map<std::pair<int, std::int64_t>, std::vector<dlprim::OptimizedParameter>>
      batches;  // by device and steps taken
  std::map<int, dlprim::Device*> devices;
  std::int64_t newest = 0;
  for (const ParameterState& state : group.state) newest = std::max(newest, state.step);
  for (std::size_t i = 0; i < group.parameters.size(); ++i) {
    const Tensor& p = group.parameters[i];
    gradients.push_back(p.grad());
    const Tensor& gradient = gradients.back();
    if (!gradient.defined()) continue;
    require(p.is_contiguous(), name(), ": expected contiguous parameters, got strides ", p.strides());
    ParameterState& state = group.state[i];
    while (state.tensors.size() < state_count)
      state.tensors.push_back(full(p.shape().vector(), initial_state(group), p.dtype(), p.device()));
    dlprim::OptimizedParameter optimized{p.data(), contiguous(gradient).data(), {}};
    for (std::size_t k = 0; k < state_count; ++k) optimized.state.push_back(state.tensors[k].data());
    devices[p.device()->index()] = &*p.device();
    batches[{p.device()->index(), state.step}].push_back(std::move(optimized));
    ++state.step;
  }
  for (const auto& [key, parameters] : batches) {
    const auto [device, step] = key;
    // The pack is keyed by how far behind the batch is, which stays the same from step to step.
    const std::int64_t lag = (newest - step) * 256 + device;
    update(devices.at(device)->queue(), packs_[{index, lag}], parameters, group, step);
    for (const dlprim::OptimizedParameter& optimized : parameters)
      optimized.parameter.storage->bump_version();
  }
}

namespace {

void require_nonnegative(const char* optimizer, const char* option, double value) {
  require(value >= 0, optimizer, ": invalid ", option, " value: ", value);
}

}  // namespace

SGD::SGD(const TensorList& parameters, double lr, double momentum, double dampening, double weight_decay,
         bool nesterov, bool maximize)
    : Optimizer(parameters, {{"lr", lr},
                             {"momentum", momentum},
                             {"dampening", dampening},
                             {"weight_decay", weight_decay},
                             {"nesterov", nesterov},
                             {"maximize", maximize}}) {
  require_nonnegative("SGD", "lr", lr);
  require_nonnegative("SGD", "momentum", momentum);
  require_nonnegative("SGD", "weight_decay", weight_decay);
  require(!nesterov || (momentum > 0 && dampening == 0),
          "SGD: Nesterov momentum requires a momentum and zero dampening");
}

std::vector<std::string> SGD::state_names(const ParameterGroup& group) const {
  return group.number("momentum") != 0 ? std::vector<std::string>{"momentum_buffer"}
                                       : std::vector<std::string>{};
}

void SGD::update(dlprim::Queue& queue, dlprim::ParameterPack& pack,
                 const std::vector<dlprim::OptimizedParameter>& parameters, const ParameterGroup& group,
                 std::int64_t step) {
  dlprim::sgd_step(queue, pack, parameters,
                   {group.number("lr"), group.number("momentum"), group.number("dampening"),
                    group.number("weight_decay"), group.flag("nesterov"), group.flag("maximize"), step == 0});
}

Adam::Adam(const TensorList& parameters, double lr, double beta1, double beta2, double eps,
           double weight_decay, bool amsgrad, bool maximize, bool decoupled_weight_decay)
    : Optimizer(parameters, {{"lr", lr},
                             {"beta1", beta1},
                             {"beta2", beta2},
                             {"eps", eps},
                             {"weight_decay", weight_decay},
                             {"amsgrad", amsgrad},
                             {"maximize", maximize}}),
      decoupled_(decoupled_weight_decay) {
  require_nonnegative("Adam", "lr", lr);
  require_nonnegative("Adam", "eps", eps);
  require_nonnegative("Adam", "weight_decay", weight_decay);
  require(beta1 >= 0 && beta1 < 1 && beta2 >= 0 && beta2 < 1, "Adam: betas must be in [0, 1), got ", beta1,
          " and ", beta2);
}

std::vector<std::string> Adam::state_names(const ParameterGroup& group) const {
  std::vector<std::string> names{"exp_avg", "exp_avg_sq"};
  if (group.flag("amsgrad")) names.push_back("max_exp_avg_sq");
  return names;
}

void Adam::update(dlprim::Queue& queue, dlprim::ParameterPack& pack,
                  const std::vector<dlprim::OptimizedParameter>& parameters, const ParameterGroup& group,
                  std::int64_t step) {
  dlprim::AdamOptions options;
  options.lr = group.number("lr");
  options.beta1 = group.number("beta1");
  options.beta2 = group.number("beta2");
  options.eps = group.number("eps");
  options.weight_decay = group.number("weight_decay");
  options.decoupled_weight_decay = decoupled_;
  options.amsgrad = group.flag("amsgrad");
  options.maximize = group.flag("maximize");
  options.step = step + 1;
  dlprim::adam_step(queue, pack, parameters, options);
}

RMSprop::RMSprop(const TensorList& parameters, double lr, double alpha, double eps, double weight_decay,
                 double momentum, bool centered, bool maximize)
    : Optimizer(parameters, {{"lr", lr},
                             {"alpha", alpha},
                             {"eps", eps},
                             {"weight_decay", weight_decay},
                             {"momentum", momentum},
                             {"centered", centered},
                             {"maximize", maximize}}) {
  require_nonnegative("RMSprop", "lr", lr);
  require_nonnegative("RMSprop", "eps", eps);
  require_nonnegative("RMSprop", "momentum", momentum);
  require_nonnegative("RMSprop", "weight_decay", weight_decay);
  require_nonnegative("RMSprop", "alpha", alpha);
}

std::vector<std::string> RMSprop::state_names(const ParameterGroup& group) const {
  std::vector<std::string> names{"square_avg"};
  if (group.number("momentum") != 0) names.push_back("momentum_buffer");
  if (group.flag("centered")) names.push_back("grad_avg");
  return names;
}

void RMSprop::update(dlprim::Queue& queue, dlprim::ParameterPack& pack,
                     const std::vector<dlprim::OptimizedParameter>& parameters, const ParameterGroup& group,
                     std::int64_t) {
  dlprim::rmsprop_step(
      queue, pack, parameters,
      {group.number("lr"), group.number("alpha"), group.number("eps"), group.number("weight_decay"),
       group.number("momentum"), group.flag("centered"), group.flag("maximize")});
}

Adagrad::Adagrad(const TensorList& parameters, double lr, double lr_decay, double weight_decay,
                 double initial_accumulator_value, double eps, bool maximize)
    : Optimizer(parameters, {{"lr", lr},
                             {"lr_decay", lr_decay},
                             {"weight_decay", weight_decay},
                             {"initial_accumulator_value", initial_accumulator_value},
                             {"eps", eps},
                             {"maximize", maximize}}) {
  require_nonnegative("Adagrad", "lr", lr);
  require_nonnegative("Adagrad", "lr_decay", lr_decay);
  require_nonnegative("Adagrad", "weight_decay", weight_decay);
  require_nonnegative("Adagrad", "initial_accumulator_value", initial_accumulator_value);
  require_nonnegative("Adagrad", "eps", eps);
}

void Adagrad::update(dlprim::Queue& queue, dlprim::ParameterPack& pack,
                     const std::vector<dlprim::OptimizedParameter>& parameters, const ParameterGroup& group,
                     std::int64_t step) {
  dlprim::adagrad_step(queue, pack, parameters,
                       {group.number("lr"), group.number("lr_decay"), group.number("weight_decay"),
                        group.number("eps"), group.flag("maximize"), step + 1});
}

}  // namespace ocl::optim
