#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "autograd/tensor.h"
#include "dlprim/ops/optim/fused.h"

/** Optimizers and learning-rate schedules, as torch.optim. */
namespace ocl::optim {

/** The settings of a parameter group by torch's names: "lr", "weight_decay", … */
using Options = std::map<std::string, Scalar>;

/** What an optimizer keeps for one parameter. */
struct ParameterState {
  std::int64_t step = 0;  // steps taken
  TensorList tensors;     // in the order of Optimizer::state_names
};

/** Parameters that share their settings. */
struct ParameterGroup {
  TensorList parameters;
  Options options;
  std::vector<ParameterState> state;  // one per parameter
  // The optimizer's: step() holds it, and so must who reads or changes a group while another thread may step.
  std::shared_ptr<std::mutex> mutex;

  double number(const char* option) const { return options.at(option).real(); }
  bool flag(const char* option) const { return options.at(option).real() != 0; }
};

/**
 * Base of all optimizers. step() updates every parameter that has a gradient, in one launch for all
 * parameters of a group that have taken the same number of steps; it does not wait. Threads may step and read
 * at once, one after the other.
 */
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  void step();
  /** Drops the gradients of all parameters, or sets them to zero. */
  void zero_grad(bool set_to_none = true);
  /** Adds a group; settings left out take the optimizer's defaults. Throws ValueError for a setting it does
   * not know. */
  void add_param_group(const TensorList& parameters, const Options& options = {});
  /** References to a group stay valid when others are added. */
  std::deque<ParameterGroup>& param_groups() { return groups_; }
  const std::deque<ParameterGroup>& param_groups() const { return groups_; }
  /** A copy of the groups as they are between two steps. */
  std::vector<ParameterGroup> snapshot() const;
  /**
   * Takes over settings and states of `groups`: a changed snapshot, or that of another optimizer of this
   * kind. The state tensors are taken themselves. Throws ValueError, and changes nothing, unless all groups
   * have as many parameters as those here and states that fit them.
   */
  void load_param_groups(std::vector<ParameterGroup> groups);
  /** What a group's `mutex` is. Never held while Python runs. */
  std::mutex& mutex() const { return *mutex_; }
  /** Names of the state tensors a group's parameters keep, as in torch's state dict ("exp_avg"). */
  virtual std::vector<std::string> state_names(const ParameterGroup& group) const = 0;
  virtual std::string name() const = 0;

 protected:
  Optimizer(const TensorList& parameters, Options defaults);
  /** One launch: `parameters` have all taken `step` steps before this one. */
  virtual void update(dlprim::Queue& queue, dlprim::ParameterPack& pack,
                      const std::vector<dlprim::OptimizedParameter>& parameters, const ParameterGroup& group,
                      std::int64_t step) = 0;
  /** What a fresh state tensor is filled with. */
  virtual double initial_state(const ParameterGroup&) const { return 0; }

 private:
  /** `gradients` keeps what the step reads, beyond the lock. */
  void step_group(std::size_t index, TensorList& gradients);

  const std::shared_ptr<std::mutex> mutex_ = std::make_shared<std::mutex>();
  Options defaults_;
  std::deque<ParameterGroup> groups_;
  std::map<std::pair<std::size_t, std::int64_t>, dlprim::ParameterPack>
      packs_;  // by group and lag behind the group's first parameter
};

/** torch.optim.SGD: momentum, dampening, weight decay, Nesterov. */
class SGD : public Optimizer {
 public:
  explicit SGD(const TensorList& parameters, double lr = 1e-3, double momentum = 0, double dampening = 0,
               double weight_decay = 0, bool nesterov = false, bool maximize = false);
  std::vector<std::string> state_names(const ParameterGroup& group) const override;
  std::string name() const override { return "SGD"; }

 protected:
  void update(dlprim::Queue& queue, dlprim::ParameterPack& pack,
              const std::vector<dlprim::OptimizedParameter>& parameters, const ParameterGroup& group,
              std::int64_t step) override;
};

/** torch.optim.Adam (Kingma and Ba 2015; AMSGrad: Reddi et al. 2018). */
class Adam : public Optimizer {
 public:
  explicit Adam(const TensorList& parameters, double lr = 1e-3, double beta1 = 0.9, double beta2 = 0.999,
                double eps = 1e-8, double weight_decay = 0, bool amsgrad = false, bool maximize = false)
      : Adam(parameters, lr, beta1, beta2, eps, weight_decay, amsgrad, maximize, false) {}
  std::vector<std::string> state_names(const ParameterGroup& group) const override;
  std::string name() const override { return decoupled_ ? "AdamW" : "Adam"; }

 protected:
  Adam(const TensorList& parameters, double lr, double beta1, double beta2, double eps, double weight_decay,
       bool amsgrad, bool maximize, bool decoupled_weight_decay);
  void update(dlprim::Queue& queue, dlprim::ParameterPack& pack,
              const std::vector<dlprim::OptimizedParameter>& parameters, const ParameterGroup& group,
              std::int64_t step) override;

 private:
  bool decoupled_;
};

/** torch.optim.AdamW: Adam with the weight decay apart from the gradient (Loshchilov and Hutter 2019). */
class AdamW : public Adam {
 public:
  explicit AdamW(const TensorList& parameters, double lr = 1e-3, double beta1 = 0.9, double beta2 = 0.999,
                 double eps = 1e-8, double weight_decay = 1e-2, bool amsgrad = false, bool maximize = false)
      : Adam(parameters, lr, beta1, beta2, eps, weight_decay, amsgrad, maximize, true) {}
};

/** torch.optim.RMSprop: the gradient over a running root of its squares (Tieleman and Hinton 2012). */
class RMSprop : public Optimizer {
 public:
  explicit RMSprop(const TensorList& parameters, double lr = 1e-2, double alpha = 0.99, double eps = 1e-8,
                   double weight_decay = 0, double momentum = 0, bool centered = false,
                   bool maximize = false);
  std::vector<std::string> state_names(const ParameterGroup& group) const override;
  std::string name() const override { return "RMSprop"; }

 protected:
  void update(dlprim::Queue& queue, dlprim::ParameterPack& pack,
              const std::vector<dlprim::OptimizedParameter>& parameters, const ParameterGroup& group,
              std::int64_t step) override;
};

/** torch.optim.Adagrad: the gradient over the root of the sum of its squares (Duchi et al. 2011). */
class Adagrad : public Optimizer {
 public:
  explicit Adagrad(const TensorList& parameters, double lr = 1e-2, double lr_decay = 0,
                   double weight_decay = 0, double initial_accumulator_value = 0, double eps = 1e-10,
                   bool maximize = false);
  std::vector<std::string> state_names(const ParameterGroup&) const override { return {"sum"}; }
  std::string name() const override { return "Adagrad"; }

 protected:
  void update(dlprim::Queue& queue, dlprim::ParameterPack& pack,
              const std::vector<dlprim::OptimizedParameter>& parameters, const ParameterGroup& group,
              std::int64_t step) override;
  double initial_state(const ParameterGroup& group) const override {
    return group.number("initial_accumulator_value");
  }
};

}  // namespace ocl::optim
