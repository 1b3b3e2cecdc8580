#pragma once

#include <optional>

#include "dlprim/core/named_values.h"
#include "dlprim/ops/optim/fused.h"

namespace dlprim {

/** Something that an optimizer keeps for a parameter, and what it is before the first step (nothing: the step
 * that finds none writes it). */
struct StateRow {
  const char* name;
  std::optional<double> initial;
};
using StateRows = std::vector<StateRow>;

/**
 * An optimizer: its options, what it keeps for each parameter, and its formula. Numbers ("step") are kept on
 * the host and are the same for all parameters of an update; tensors have their parameter's shape and dtype.
 *
 *     const OptimizerRule& adam = optimizer_rule("Adam");      // torch.optim.Adam
 *     Options options = defaults_of(adam.options);
 *     options.set("lr", 1e-3);
 *     adam.check(options);
 *     std::vector<double> numbers;                             // the `initial` of adam.numbers(options)
 *     std::vector<OptimizedParameter> parameters;              // states: the rows of adam.tensors(options)
 *     ParameterPack pack;                                      // these three and `first` live on
 *     fused_step(queue, pack, parameters, adam.update(options, numbers, first));
 */
struct OptimizerRule {
  /** The next step's kernel and coefficients. `numbers` become those after it; `first`: the tensors without
   * an `initial` hold nothing yet, and the step writes them. */
  using Update = FusedUpdate (*)(const NamedValues& options, std::vector<double>& numbers, bool first);

  const char *name, *documentation;
  OptionRows options;
  StateRows (*numbers)(const NamedValues& options);
  StateRows (*tensors)(const NamedValues& options);
  Update update;  // null: written over tensor operators, above this library
  /** Likewise for parameters whose step is counted on the device (OptimizedParameter::step, that of this
   * step, from 1 on, each its own), or null. */
  FusedUpdate (*update_by_steps_on_device)(const NamedValues& options);
  void (*check_more)(const char* name,
                     const NamedValues& options);  // what options must hold together, or null

  /** Throws ValueError or TypeError for options that the optimizer cannot work with. */
  void check(const NamedValues& given) const;
};

/** Those of optimizers.def, in its order. */
const std::vector<OptimizerRule>& optimizer_rules();
/** Throws ValueError for an unknown name. */
const OptimizerRule& optimizer_rule(const std::string& name);

}  // namespace dlprim
