#pragma once

#include <deque>
#include <functional>

#include "nn/optim/stepper.h"

namespace ocl::optim {

/** The state of LBFGS from step to step, by torch's names. Tensors hold all parameters one after the other.
 */
struct LbfgsState {
  std::int64_t func_evals = 0, n_iter = 0;
  Tensor d, prev_flat_grad;               // the direction, and the gradient where it was taken
  double t = 0, prev_loss = 0;            // the step taken along it
  std::deque<Tensor> old_dirs, old_stps;  // changes of the gradient and of the parameters
  std::deque<double> ro;                  // one over their product
  double H_diag = 1;
};

/** torch.optim.LBFGS.step: calls `closure`, which computes the loss and its gradients, several times; waits
 * for each loss. Returns the first loss. */
Tensor lbfgs_step(const NamedValues& options, const TensorList& parameters, LbfgsState& state,
                  const std::function<Tensor()>& closure);

}  // namespace ocl::optim
