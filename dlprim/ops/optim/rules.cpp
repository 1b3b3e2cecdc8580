#include "dlprim/ops/optim/rules.h"

#include <cmath>

#include "dlprim/core/error.h"

namespace dlprim {
namespace {

using Numbers = std::vector<double>;

double sign_of(const NamedValues& o) {
  return o.flag("maximize") ? -1 : 1;
}

StateRows none(const NamedValues&) {
  return {};
}
StateRows steps(const NamedValues&) {
  return {{"step", 0}};
}

StateRows sgd_tensors(const NamedValues& o) {
  return o.number("momentum") != 0 ? StateRows{{"momentum_buffer", std::nullopt}} : StateRows{};
}
FusedUpdate sgd(const NamedValues& o, Numbers&, bool first) {
  FusedUpdate update{"sgd_step",
                     {o.number("lr"), o.number("momentum"), 1 - o.number("dampening"),
                      o.number("weight_decay"), sign_of(o), first ? 1.0 : 0.0}};
  update.defines.set("MOMENTUM", o.number("momentum") != 0 ? 1 : 0)
      .set("NESTEROV", o.flag("nesterov") ? 1 : 0);
  return update;
}
void check_sgd(const char* name, const NamedValues& o) {
  require(!o.flag("nesterov") || (o.number("momentum") > 0 && o.number("dampening") == 0), name,
          ": Nesterov momentum requires a momentum and zero dampening");
}

/** The common part of Adam and its kin: the coefficients that their kernels begin with, and corrections. */
struct Moments {
  Moments(const NamedValues& o, Numbers& numbers, bool decoupled)
      : lr(o.number("lr")), beta1(o.numbers("betas")[0]), beta2(o.numbers("betas")[1]), step(++numbers[0]) {
    const double decay = o.number("weight_decay");
    correction1 = 1 - std::pow(beta1, step);
    correction2 = 1 - std::pow(beta2, step);
    coefficients = {sign_of(o), decoupled ? 0 : decay, decoupled ? 1 - lr * decay : 1, 1 - beta1, beta2,
                    1 - beta2,  o.number("eps")};
  }
  FusedUpdate update(const char* kernel, std::initializer_list<double> more) {
    coefficients.insert(coefficients.end(), more);
    return {kernel, coefficients};
  }
  double lr, beta1, beta2, step, correction1, correction2;
  std::vector<double> coefficients;
};

StateRows moments(const NamedValues&) {
  return {{"exp_avg", 0}, {"exp_avg_sq", 0}};
}

StateRows adam_tensors(const NamedValues& o) {
  StateRows rows = moments(o);
  if (o.flag("amsgrad")) rows.push_back({"max_exp_avg_sq", 0});
  return rows;
}
FusedUpdate adam(const NamedValues& o, Numbers& numbers, bool) {
  Moments m(o, numbers, o.flag("decoupled_weight_decay"));
  FusedUpdate update = m.update("adam_step", {m.lr / m.correction1, std::sqrt(m.correction2)});
  update.defines.set("AMSGRAD", o.flag("amsgrad") ? 1 : 0).set("STEP_ON_DEVICE", 0);
  return update;
}

FusedUpdate adam_by_steps_on_device(const NamedValues& options) {
  Numbers unknown{0};
  Moments m(options, unknown, options.flag("decoupled_weight_decay"));
  FusedUpdate update = m.update("adam_step", {m.lr, std::log(m.beta1), std::log(m.beta2)});
  update.defines.set("AMSGRAD", options.flag("amsgrad") ? 1 : 0).set("STEP_ON_DEVICE", 1);
  return update;
}

/** A number of the state as PyTorch keeps it, in a tensor of float32 whatever the parameters are: steps of
 * float64 differ by 1e-8 otherwise, and so do those after a state was saved and loaded. */
double float32(double number) {
  return double{static_cast<float>(number)};
}

StateRows nadam_numbers(const NamedValues&) {
  return {{"step", 0}, {"mu_product", 1}};
}
FusedUpdate nadam(const NamedValues& o, Numbers& numbers, bool) {
  Moments m(o, numbers, o.flag("decoupled_weight_decay"));
  const auto mu_at = [&](double step) {
    return m.beta1 * (1 - 0.5 * std::pow(0.96, step * o.number("momentum_decay")));
  };
  const double mu = mu_at(m.step), next = mu_at(m.step + 1);
  const double product = numbers[1] = float32(float32(numbers[1]) * float32(mu));
  return m.update("nadam_step",
                  {m.correction2, m.lr * (1 - mu) / (1 - product), m.lr * next / (1 - product * next)});
}

FusedUpdate radam(const NamedValues& o, Numbers& numbers, bool) {
  Moments m(o, numbers, o.flag("decoupled_weight_decay"));
  const double longest = 2 / (1 - m.beta2) - 1;
  const double length = longest - 2 * m.step * std::pow(m.beta2, m.step) / m.correction2;
  const double rectified =
      length > 5 ? std::sqrt((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length))
                 : 0;
  return m.update("radam_step", {m.correction1, m.lr, std::sqrt(m.correction2), rectified});
}

StateRows adamax_tensors(const NamedValues&) {
  return {{"exp_avg", 0}, {"exp_inf", 0}};
}
FusedUpdate adamax(const NamedValues& o, Numbers& numbers, bool) {
  const Moments m(o, numbers, false);
  return {
      "adamax_step",
      {sign_of(o), o.number("weight_decay"), 1 - m.beta1, m.beta2, o.number("eps"), m.lr / m.correction1}};
}

StateRows rmsprop_tensors(const NamedValues& o) {
  StateRows rows{{"square_avg", 0}};
  if (o.number("momentum") > 0) rows.push_back({"momentum_buffer", 0});
  if (o.flag("centered")) rows.push_back({"grad_avg", 0});
  return rows;
}
FusedUpdate rmsprop(const NamedValues& o, Numbers& numbers, bool) {
  ++numbers[0];
  FusedUpdate update{"rmsprop_step",
                     {o.number("lr"), o.number("alpha"), 1 - o.number("alpha"), o.number("eps"),
                      o.number("weight_decay"), o.number("momentum"), sign_of(o)}};
  update.defines.set("MOMENTUM", o.number("momentum") > 0 ? 1 : 0)
      .set("CENTERED", o.flag("centered") ? 1 : 0);
  return update;
}

StateRows adagrad_tensors(const NamedValues& o) {
  return {{"sum", o.number("initial_accumulator_value")}};
}
FusedUpdate adagrad(const NamedValues& o, Numbers& numbers, bool) {
  const double taken = numbers[0]++;
  return {"adagrad_step",
          {o.number("lr") / (1 + taken * o.number("lr_decay")), o.number("eps"), o.number("weight_decay"),
           sign_of(o)}};
}

StateRows adadelta_tensors(const NamedValues&) {
  return {{"square_avg", 0}, {"acc_delta", 0}};
}
FusedUpdate adadelta(const NamedValues& o, Numbers& numbers, bool) {
  ++numbers[0];
  return {"adadelta_step",
          {o.number("lr"), o.number("rho"), 1 - o.number("rho"), o.number("eps"), o.number("weight_decay"),
           sign_of(o)}};
}

StateRows rprop_tensors(const NamedValues& o) {
  return {{"prev", 0}, {"step_size", o.number("lr")}};
}
FusedUpdate rprop(const NamedValues& o, Numbers& numbers, bool) {
  ++numbers[0];
  const std::vector<double> etas = o.numbers("etas"), sizes = o.numbers("step_sizes");
  return {"rprop_step", {etas[0], etas[1], sizes[0], sizes[1], sign_of(o)}};
}

StateRows asgd_numbers(const NamedValues& o) {
  return {{"step", 0}, {"eta", float32(o.number("lr"))}, {"mu", 1}};
}
StateRows asgd_tensors(const NamedValues&) {
  return {{"ax", 0}};
}
FusedUpdate asgd(const NamedValues& o, Numbers& numbers, bool) {
  const double lr = o.number("lr"), lambd = o.number("lambd"), step = ++numbers[0];
  FusedUpdate update{"asgd_step",
                     {1 - lambd * numbers[1], numbers[1], numbers[2], o.number("weight_decay"), sign_of(o)}};
  numbers[1] = float32(lr / std::pow(1 + lambd * lr * step, o.number("alpha")));
  numbers[2] = float32(1 / std::fmax(1, step - o.number("t0")));
  return update;
}

StateRows adafactor_tensors(const NamedValues&) {
  return {{"row_var", std::nullopt}, {"col_var", std::nullopt}, {"variance", std::nullopt}};
}

struct Behaviour {
  StateRows (*numbers)(const NamedValues&);
  StateRows (*tensors)(const NamedValues&);
  OptimizerRule::Update update;
  void (*check)(const char*, const NamedValues&) = nullptr;
  FusedUpdate (*by_steps_on_device)(const NamedValues&) = nullptr;
};
constexpr Behaviour of_SGD{none, sgd_tensors, sgd, check_sgd};
constexpr Behaviour of_Adam{steps, adam_tensors, adam, nullptr, adam_by_steps_on_device};
constexpr Behaviour of_AdamW = of_Adam;
constexpr Behaviour of_NAdam{nadam_numbers, moments, nadam};
constexpr Behaviour of_RAdam{steps, moments, radam};
constexpr Behaviour of_Adamax{steps, adamax_tensors, adamax};
constexpr Behaviour of_RMSprop{steps, rmsprop_tensors, rmsprop};
constexpr Behaviour of_Adagrad{steps, adagrad_tensors, adagrad};
constexpr Behaviour of_Adadelta{steps, adadelta_tensors, adadelta};
constexpr Behaviour of_Rprop{steps, rprop_tensors, rprop};
constexpr Behaviour of_ASGD{asgd_numbers, asgd_tensors, asgd};
constexpr Behaviour of_Adafactor{steps, adafactor_tensors, nullptr};
constexpr Behaviour of_LBFGS{none, none, nullptr};

std::vector<OptimizerRule> read_table() {
  std::vector<OptimizerRule> rules;
#include "dlprim/core/option_rows.def"
#define OPTIMIZER(Name, Base, documentation, options)                                                     \
  {                                                                                                       \
    OptionRows rows;                                                                                      \
    bool keyword_only = false;                                                                            \
    options rules.push_back({#Name, documentation, std::move(rows), of_##Name.numbers, of_##Name.tensors, \
                             of_##Name.update, of_##Name.by_steps_on_device, of_##Name.check});           \
  }
#include "dlprim/ops/optim/optimizers.def"
  return rules;
}

}  // namespace

void OptimizerRule::check(const NamedValues& given) const {
  check_options(name, options, given);
  if (check_more) check_more(name, given);
}

const std::vector<OptimizerRule>& optimizer_rules() {
  static const auto& rules = *new std::vector<OptimizerRule>(read_table());
  return rules;
}

const OptimizerRule& optimizer_rule(const std::string& name) {
  for (const OptimizerRule& rule : optimizer_rules())
    if (rule.name == name) return rule;
  throw ValueError(concat("there is no optimizer '", name, "'"));
}

}  // namespace dlprim
