#pragma once

#include <map>
#include <mutex>

#include "autograd/tensor/tensor.h"
#include "dlprim/ops/optim/rules.h"

namespace ocl::optim {

using dlprim::NamedValues;
using dlprim::OptimizerRule;
using dlprim::Options;
using dlprim::Value;

/** A parameter that takes part in a step, and what is kept for it, in the order of its rule's rows. */
struct Participant {
  Tensor parameter, gradient;
  TensorList tensors;  // undefined where nothing is kept yet: the step makes them
  std::vector<double> numbers;
};

/**
 * Takes the steps of one optimizer: one launch for all parameters of a group that agree in device, dtype and
 * numbers (steps taken); none waits. With master_weights the gradients are converted before, and the masters
 * to the parameters behind. Lock `mutex` from before the participants are gathered until what the
 * step has changed is stored.
 */
class Stepper {
 public:
  explicit Stepper(const OptimizerRule& rule) : rule_(rule) {}

  const OptimizerRule& rule() const { return rule_; }
  /** The tensors that are kept for each parameter: the rule's rows, and with the option master_weights the
   * float32 copy of a parameter of 16 bits, which the steps change (undefined for others). */
  dlprim::StateRows tensor_rows(const Options& options) const;
  /** One step of group number `group`. */
  void step(std::size_t group, const Options& options, std::vector<Participant>& participants);

  std::mutex mutex;

 private:
  /** One step of participants with complex parameters among them. */
  void step_parts(std::size_t group, const Options& options, std::vector<Participant>& participants);
  void update(std::size_t group, const Options& options, std::vector<Participant>& participants);
  /** The data kept for the parameters that one launch updates. */
  struct Batch {
    dlprim::ParameterPack pack;
    Tensor step;         // with `capturable`: the count of their steps on the device,
    double counted = 0;  // and on the host
  };

  void launch(Batch& kept, const Options& options, const std::vector<Participant*>& participants, bool first);
  /** The update of the next step, whose number it counts on the device. */
  dlprim::FusedUpdate next_by_steps_on_device(Batch& kept, const Options& options, const Participant& one,
                                              std::vector<double>& numbers);

  const OptimizerRule& rule_;
  std::map<std::pair<std::size_t, std::size_t>, Batch> batches_;  // by group and launch
};

/** The dtype of what is kept for a parameter: its own, or float32 beside a master copy. */
DType state_dtype(const Options& options, const Tensor& parameter);

/** Throws ValueError unless a state tensor fits its parameter. */
void require_state_of(const Tensor& parameter, DType dtype, const char* name, const Tensor& state);

}  // namespace ocl::optim
