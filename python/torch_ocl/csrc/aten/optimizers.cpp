#include <ATen/Operators.h>
#include <torch/library.h>

#include "arguments.h"
#include "aten/fallback.h"
#include "aten/kernels.h"
#include "aten/packs.h"
#include "dlprim/core/memory_format.h"
#include "dlprim/ops/optim/rules.h"

/** \file The steps of torch.optim's optimizers with fused=True: one launch for all parameters. */

namespace torch_ocl {
namespace {

/** Whether one launch takes them: all of one floating dtype. */
bool can_be_fused(at::TensorList parameters) {
  for (const at::Tensor& p : parameters)
    if (p.scalar_type() != parameters.front().scalar_type() || !p.is_floating_point()) return false;
  return true;
}

/** Gradients as a scaler leaves them: without its factor. */
void unscale(at::TensorList gradients, const std::optional<at::Tensor>& scale) {
  if (!scale || !scale->defined()) return;
  for (const at::Tensor& g : gradients) g.div_(*scale);
}

/** Parameters, without gaps in their memory, with the tensors of each, which lie as it does: others lend a
 * copy. */
class Parameters {
 public:
  Parameters(at::TensorList parameters, at::TensorList gradients, const std::vector<at::TensorList>& states,
             at::TensorList steps = {}) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const auto lend = [&](const at::Tensor& t, bool is_written) {
        at::Tensor copy = at::empty_like(parameters[i]);  // without gaps, in its order of memory
        copy.copy_(t);
        if (is_written) lent_.emplace_back(t, copy);
        return raw(copy);
      };
      const dlprim::Tensor own = raw(parameters[i]);
      const dlprim::Tensor parameter = dlprim::is_dense(own) ? own : lend(parameters[i], true);
      const auto alike = [&](const at::Tensor& t, bool is_written) {
        return dlprim::lie_alike(parameter, raw(t)) ? raw(t) : lend(t, is_written);
      };
      dlprim::OptimizedParameter& row = rows_.emplace_back();
      row = {parameter, alike(gradients[i], false), {}};
      for (const at::TensorList& state : states) row.state.push_back(alike(state[i], true));
      if (!steps.empty()) row.step = raw(steps[i].to(parameters[i].device(), c10::kFloat));
    }
  }
  const std::vector<dlprim::OptimizedParameter>& all() const { return rows_; }
  void give_back() const {
    for (const auto& [owner, copy] : lent_) owner.copy_(copy);
  }

 private:
  std::vector<dlprim::OptimizedParameter> rows_;
  std::vector<std::pair<at::Tensor, at::Tensor>> lent_;
};

/** `found_inf`: whether a scaler (torch.amp.GradScaler) has seen an infinite gradient. Then there is no step,
 * which the kernel sees: nothing waits. */
void step_of(at::TensorList self, const std::vector<dlprim::OptimizedParameter>& parameters,
             const dlprim::FusedUpdate& update, const std::optional<at::Tensor>& found_inf) {
  dlprim::Tensor has_found;
  if (found_inf && found_inf->defined()) has_found = raw(found_inf->to(self.front().device(), c10::kFloat));
  std::vector<std::vector<const dlprim::Tensor*>> tensors;
  for (const dlprim::OptimizedParameter& p : parameters) {
    tensors.push_back({&p.parameter, &p.gradient});
    for (const dlprim::Tensor& state : p.state) tensors.back().push_back(&state);
    if (p.step.defined()) tensors.back().push_back(&p.step);
  }
  with_pack(tensors, [&](dlprim::ParameterPack& pack) {
    dlprim::fused_step(device_under(self.front()).queue(), pack, parameters, update,
                       has_found.defined() ? &has_found : nullptr);
  });
}

/** Adam and AdamW, as dlprim's rule of that name. */
void adam(const char* rule_name, at::TensorList self, at::TensorList grads, at::TensorList exp_avgs,
          at::TensorList exp_avg_sqs, at::TensorList max_exp_avg_sqs, at::TensorList steps, double lr,
          double beta1, double beta2, double weight_decay, double eps, bool amsgrad, bool maximize,
          const std::optional<at::Tensor>& grad_scale, const std::optional<at::Tensor>& found_inf) {
  if (self.empty()) return;
  unscale(grads, grad_scale);
  const dlprim::OptimizerRule& rule = dlprim::optimizer_rule(rule_name);
  dlprim::Options options = dlprim::defaults_of(rule.options);
  options.set("lr", lr);
  options.set("betas", std::vector<double>{beta1, beta2});
  options.set("weight_decay", weight_decay);
  options.set("eps", eps);
  options.set("amsgrad", amsgrad);
  options.set("maximize", maximize);
  std::vector<at::TensorList> states{exp_avgs, exp_avg_sqs};
  if (amsgrad) states.push_back(max_exp_avg_sqs);
  // PyTorch has counted this step, on the device, where it is read: nothing waits.
  const Parameters parameters(self, grads, states, steps);
  step_of(self, parameters.all(), rule.update_by_steps_on_device(options), found_inf);
  parameters.give_back();
}

using List = at::TensorList;
using Given = const std::optional<at::Tensor>&;

/** Adam or AdamW by dlprim's rule of that name; `Operator` is PyTorch's. */
template <class Operator, const char* rule>
void fused_adam(List self, List grads, List exp_avgs, List exp_avg_sqs, List max_exp_avg_sqs, List steps,
                double lr, double beta1, double beta2, double weight_decay, double eps, bool amsgrad,
                bool maximize, Given grad_scale, Given found_inf) {
  if (!can_be_fused(self))
    return OnTheCpu<Operator>::call(self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, steps, lr, beta1,
                                    beta2, weight_decay, eps, amsgrad, maximize, grad_scale, found_inf);
  adam(rule, self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, steps, lr, beta1, beta2, weight_decay, eps,
       amsgrad, maximize, grad_scale, found_inf);
}

template <class Operator, const char* rule>
void fused_adam_tensor_lr(List self, List grads, List exp_avgs, List exp_avg_sqs, List max_exp_avg_sqs,
                          List steps, const at::Tensor& lr, double beta1, double beta2, double weight_decay,
                          double eps, bool amsgrad, bool maximize, Given grad_scale, Given found_inf) {
  fused_adam<Operator, rule>(self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, steps, lr.item<double>(),
                             beta1, beta2, weight_decay, eps, amsgrad, maximize, grad_scale, found_inf);
}

void fused_sgd(List self, List grads, List buffers, double weight_decay, double momentum, double lr,
               double dampening, bool nesterov, bool maximize, bool is_first_step, Given grad_scale,
               Given found_inf) {
  if (!can_be_fused(self))
    return OnTheCpu<at::_ops::_fused_sgd_>::call(self, grads, buffers, weight_decay, momentum, lr, dampening,
                                                 nesterov, maximize, is_first_step, grad_scale, found_inf);
  if (self.empty()) return;
  unscale(grads, grad_scale);
  const dlprim::OptimizerRule& rule = dlprim::optimizer_rule("SGD");
  dlprim::Options options = dlprim::defaults_of(rule.options);
  options.set("lr", lr);
  options.set("momentum", momentum);
  options.set("dampening", dampening);
  options.set("weight_decay", weight_decay);
  options.set("nesterov", nesterov);
  options.set("maximize", maximize);
  const Parameters parameters(self, grads,
                              momentum != 0 ? std::vector{buffers} : std::vector<at::TensorList>());
  std::vector<double> numbers;
  step_of(self, parameters.all(), rule.update(options, numbers, is_first_step), found_inf);
  parameters.give_back();
}

void fused_sgd_tensor_lr(List self, List grads, List buffers, double weight_decay, double momentum,
                         const at::Tensor& lr, double dampening, bool nesterov, bool maximize,
                         bool is_first_step, Given grad_scale, Given found_inf) {
  fused_sgd(self, grads, buffers, weight_decay, momentum, lr.item<double>(), dampening, nesterov, maximize,
            is_first_step, grad_scale, found_inf);
}

constexpr char adam_rule[] = "Adam", adamw_rule[] = "AdamW";

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  Kernels m(library);
  m.impl("_fused_adam_", &fused_adam<at::_ops::_fused_adam_, adam_rule>);
  m.impl("_fused_adam_.tensor_lr", &fused_adam_tensor_lr<at::_ops::_fused_adam_, adam_rule>);
  m.impl("_fused_adamw_", &fused_adam<at::_ops::_fused_adamw_, adamw_rule>);
  m.impl("_fused_adamw_.tensor_lr", &fused_adam_tensor_lr<at::_ops::_fused_adamw_, adamw_rule>);
  m.impl("_fused_sgd_", &fused_sgd);
  m.impl("_fused_sgd_.tensor_lr", &fused_sgd_tensor_lr);
}

}  // namespace
}  // namespace torch_ocl
