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
 * numbers (steps taken); none waits. Lock `mutex` from before the participants are gathered until what the
 * step has changed is stored.
 */
class Stepper {
 public:
  explicit Stepper(const OptimizerRule& rule) : rule_(rule) {}

  const OptimizerRule& rule() const { return rule_; }
  /** One step of group number `group`. */
  void step(std::size_t group, const Options& options, std::vector<Participant>& participants);

  std::mutex mutex;

 private:
  void launch(dlprim::ParameterPack& pack, const Options& options,
              const std::vector<Participant*>& participants, bool first);

  const OptimizerRule& rule_;
  std::map<std::pair<std::size_t, std::size_t>, dlprim::ParameterPack> packs_;  // by group and launch
};

/** Throws ValueError unless a state tensor fits its parameter. */
void require_state_of(const Tensor& parameter, const char* name, const Tensor& state);

}  // namespace ocl::optim
