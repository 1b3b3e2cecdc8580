#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <tuple>

#include "nn/optim/lbfgs.h"
#include "nn/optim/stepper.h"

/** Optimizers and learning-rate schedules, as torch.optim. */
namespace ocl::optim {

/** An optimizer's state for one parameter, by torch's names: "step", "exp_avg". */
struct ParameterState {
  std::map<std::string, double> numbers;
  std::map<std::string, Tensor> tensors;
};

/** The settings of a group, with libtorch's words for them: `group.options().set_lr(0.1)`. */
struct GroupOptions : Options {
  GroupOptions() = default;
  GroupOptions(const Options& options) : Options(options) {}
  GroupOptions(std::initializer_list<std::pair<const std::string, Value>> values) : Options(values) {}
  GroupOptions& operator()() { return *this; }
  const GroupOptions& operator()() const { return *this; }
  double get_lr() const { return number("lr"); }
  void set_lr(double lr) { set("lr", lr); }
  /** Throws ValueError, which lists the names, for a setting that the group does not have. */
  void set(const char* name, Value value) override;
  /** A setting that the optimizer does not know: what a schedule notes. */
  void add(const char* name, Value value) { Options::set(name, std::move(value)); }
  /** A copy of the same class: SGDOptions of an SGD's group. */
  virtual std::unique_ptr<GroupOptions> clone() const { return std::make_unique<GroupOptions>(*this); }
};

/** Parameters for a constructor, and the settings that are their own (torch::optim::OptimizerParamGroup):
 *
 *     Adam adam({OptimizerParamGroup(net->parameters()),
 *                OptimizerParamGroup(head->parameters(), std::make_unique<AdamOptions>(1e-2))}, 1e-3);
 *
 * Settings that are given replace the optimizer's as a whole. */
class OptimizerParamGroup {
 public:
  explicit OptimizerParamGroup(TensorList parameters, std::shared_ptr<const GroupOptions> options = nullptr)
      : parameters_(std::move(parameters)), options_(std::move(options)) {}
  TensorList& params() { return parameters_; }
  const TensorList& params() const { return parameters_; }
  bool has_options() const { return options_ != nullptr; }
  /** Throws ValueError where it has none. */
  const GroupOptions& options() const {
    dlprim::require(has_options(), "OptimizerParamGroup: it has no options of its own");
    return *options_;
  }

 private:
  TensorList parameters_;
  std::shared_ptr<const GroupOptions> options_;
};
using ParamGroups = std::vector<OptimizerParamGroup>;

/** An optimizer's parameters that share their settings. */
struct ParameterGroup {
 private:
  std::shared_ptr<GroupOptions> held_;

 public:
  ParameterGroup(TensorList of, std::shared_ptr<GroupOptions> settings)
      : held_(std::move(settings)), parameters(std::move(of)), options(*held_) {}
  ParameterGroup(const ParameterGroup& other) : ParameterGroup(other.parameters, other.options.clone()) {}

  TensorList parameters;
  /** They are of the optimizer's own class: `static_cast<AdamOptions&>(group.options()).lr(1e-4)`. */
  GroupOptions& options;

  TensorList& params() { return parameters; }
  const TensorList& params() const { return parameters; }

  /** Always: groups take the optimizer's options where they have none of their own. */
  bool has_options() const { return true; }
  double number(const char* option) const { return options.number(option); }
};

/** The result of Optimizer::state_dict: the settings of each group, and the states of its parameters. */
struct OptimizerState {
  struct Group {
    Options options;
    std::vector<ParameterState> parameters;
  };
  std::vector<Group> groups;
};

/**
 * Base of all optimizers. One of your own:
 *
 *     struct Descent : ocl::optim::Optimizer {
 *       Descent(const TensorList& parameters, double lr) : Optimizer(parameters, {{"lr", lr}}) {}
 *       std::string name() const override { return "Descent"; }
 *
 *      protected:
 *       void update() override {
 *         for (const ParameterGroup& group : param_groups())
 *           for (Tensor p : group.parameters)
 *             if (const Tensor g = p.grad(); g.defined()) p.sub_(g * group.number("lr"));
 *       }
 *     };
 *
 * Threads may step and read at once, one after the other.
 */
class Optimizer {
 public:
  using Closure = std::function<Tensor()>;
  using Hook = std::function<void(Optimizer&)>;

  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /** Updates every parameter that has a gradient; does not wait. A closure, which computes the loss and its
   * gradients, is called first, and its result returned. */
  virtual Tensor step(const Closure& closure = {});
  /** Drops the gradients of all parameters, or sets them to zero. */
  void zero_grad(bool set_to_none = true);
  /** Adds a group; settings left out take the optimizer's defaults. */
  void add_param_group(const TensorList& parameters, const Options& options = {});
  void add_param_group(const OptimizerParamGroup& group);
  /** References to a group stay valid when others are added. Hold mutex() while another thread may step. */
  std::deque<ParameterGroup>& param_groups() { return groups_; }
  const std::deque<ParameterGroup>& param_groups() const { return groups_; }
  /** Those of all groups, in order. */
  TensorList parameters() const;
  /** The state of a parameter; an empty state before its first step. */
  ParameterState& state(const Tensor& parameter) { return states_[&parameter.impl()]; }

  /** Shares the tensors of the states. */
  OptimizerState state_dict() const;
  /** The state tensors are copied. Throws ValueError, and changes nothing, unless all groups have as many
   * parameters as those here and states that fit them. */
  void load_state_dict(const OptimizerState& state);

  /** Calls `hook` before or after every step, as long as the optimizer lives. */
  void register_step_pre_hook(Hook hook) { before_.push_back(std::move(hook)); }
  void register_step_post_hook(Hook hook) { after_.push_back(std::move(hook)); }
  /** The lock that a step holds. Code that reads or changes a group while another thread may step must hold
   * it too. */
  std::mutex& mutex() const { return mutex_; }
  virtual std::string name() const = 0;

 protected:
  Optimizer(const TensorList& parameters, const GroupOptions& defaults)
      : Optimizer(ParamGroups{OptimizerParamGroup(parameters)}, defaults) {}
  Optimizer(const ParamGroups& groups, const GroupOptions& defaults);
  /** One step, with the tape off and under mutex(). */
  virtual void update() = 0;
  /** Throws ValueError for settings of a group, or states of a parameter, that the optimizer cannot use. */
  virtual void check_group(const Options&) const {}
  virtual void check_state(const Options&, const Tensor&, const ParameterState&) const {}
  void run_hooks(const std::vector<Hook>& hooks);
  /** Gives every group, those to come included, a setting. */
  void set_for_all(const char* option, const Value& value);
  const std::vector<Hook>& pre_hooks() const { return before_; }
  const std::vector<Hook>& post_hooks() const { return after_; }

 private:
  mutable std::mutex mutex_;
  const std::shared_ptr<GroupOptions> defaults_;
  std::deque<ParameterGroup> groups_;
  std::map<TensorImpl*, ParameterState> states_;
  std::vector<Hook> before_, after_;
};

/** An optimizer whose formula is a rule of optimizers.def. */
class RuleOptimizer : public Optimizer {
 public:
  std::string name() const override { return stepper_.rule().name; }
  /** From the next step on parameters of 16 bits have a float32 copy, "master" in their state, which the
   * steps change and which is rounded to them: small updates are not lost. All other state is float32 then,
   * too. Sets the option "master_weights" of every group, those to come included. */
  void keep_master_weights() { set_for_all("master_weights", true); }

 protected:
  RuleOptimizer(const OptimizerRule& rule, const ParamGroups& groups, const GroupOptions& options);
  void update() override;
  void check_group(const Options& options) const override { stepper_.rule().check(options); }
  void check_state(const Options& options, const Tensor& parameter,
                   const ParameterState& state) const override;

 private:
  Stepper stepper_;
};

/** LBFGS: a step evaluates the closure several times. */
class LineSearchOptimizer : public Optimizer {
 public:
  Tensor step(const Closure& closure = {}) override;
  std::string name() const override { return "LBFGS"; }

 protected:
  LineSearchOptimizer(const OptimizerRule& rule, const ParamGroups& groups, const GroupOptions& options);
  void update() override {}

 private:
  LbfgsState memory_;
};

// The classes of optimizers.def, each with its options: `SGD(parameters, SGDOptions(0.1).momentum(0.9))`.
#define SETTER(option, type, held) \
  auto& option(type value) {       \
    set(#option, Value(value));    \
    return *this;                  \
  }                                \
  type option() const {            \
    return held;                   \
  }
#define NUMBER(option, initial, condition) SETTER(option, double, number(#option))
#define WHOLE(option, initial, condition) \
  SETTER(option, std::int64_t, static_cast<std::int64_t>(number(#option)))
#define FLAG(option, initial) SETTER(option, bool, flag(#option))
#define PAIR(option, one, other, condition)              \
  auto& option(double first, double second) {            \
    set(#option, std::vector<double>{first, second});    \
    return *this;                                        \
  }                                                      \
  auto& option(std::tuple<double, double> both) {        \
    return option(std::get<0>(both), std::get<1>(both)); \
  }                                                      \
  std::tuple<double, double> option() const {            \
    const std::vector<double> both = numbers(#option);   \
    return {both.at(0), both.at(1)};                     \
  }
#define MAYBE(option) SETTER(option, Value, get(#option))
#define IGNORED(option, initial)
#define REFUSED(option)
#define FIXED(option, value)
#define KEYWORD_ONLY
#define OPTIMIZER(Name, Base, documentation, settings)                                            \
  /** Settings of Name by name; the defaults are torch's. */                                      \
  class Name##Options : public GroupOptions {                                                     \
   public:                                                                                        \
    Name##Options() : GroupOptions(dlprim::defaults_of(dlprim::optimizer_rule(#Name).options)) {} \
    Name##Options(double rate) : Name##Options() { GroupOptions::set("lr", rate); }               \
    std::unique_ptr<GroupOptions> clone() const override {                                        \
      return std::unique_ptr<GroupOptions>(new Name##Options(*this));                             \
    }                                                                                             \
    settings                                                                                      \
  };                                                                                              \
  class Name : public Base {                                                                      \
   public:                                                                                        \
    explicit Name(const TensorList& parameters, const Name##Options& given = {})                  \
        : Name(ParamGroups{OptimizerParamGroup(parameters)}, given) {}                            \
    explicit Name(const ParamGroups& groups, const Name##Options& given = {})                     \
        : Name(dlprim::optimizer_rule(#Name), groups, given) {}                                   \
                                                                                                  \
   protected:                                                                                     \
    Name(const OptimizerRule& rule, const ParamGroups& groups, const GroupOptions& given)         \
        : Base(rule, groups, given) {}                                                            \
  };
#include "dlprim/ops/optim/optimizers.def"
#undef SETTER

}  // namespace ocl::optim
