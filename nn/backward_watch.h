#pragma once

#include <functional>
#include <memory>

#include "autograd/tape/tape.h"

namespace ocl::nn {

/**
 * Lets a hook see the gradients of a stretch of the tape: `outputs` marks its end, `inputs` its beginning.
 * The hook gets the gradients of the inputs and of the outputs once both are known, an undefined tensor for
 * one that nobody asked for. Its result, unless empty, goes on in place of the inputs' gradients. Throws
 * AutogradError in backward where that does not fit the inputs.
 */
class BackwardWatch {
 public:
  using Hook = std::function<TensorList(const TensorList& grad_input, const TensorList& grad_output)>;

  /** `foreign` gives one reference more to what the hook calls, each time it is asked. */
  explicit BackwardWatch(Hook hook, std::function<Foreign()> foreign = nullptr)
      : state_(std::make_shared<State>()), foreign_(std::move(foreign)) {
    state_->hook = std::move(hook);
  }
  /** The inputs to compute with in place of `tensors`. */
  TensorList inputs(const TensorList& tensors);
  /** The results to give out in place of `tensors`. */
  TensorList outputs(const TensorList& tensors);

 private:
  struct State {
    Hook hook;
    std::size_t input_count = 0;
    bool fires_at_inputs = false;  // else no input asks for a gradient, and the outputs' is all there is
    TensorList grad_output;
  };
  /** These tensors as results of a recorded step whose backward is `backward`. */
  TensorList recorded(const TensorList& tensors, const Backward& backward) const;

  std::shared_ptr<State> state_;
  std::function<Foreign()> foreign_;
};

}  // namespace ocl::nn
