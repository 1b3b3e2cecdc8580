#include "nn/backward_watch.h"

#include "autograd/tape.h"

namespace ocl::nn {
namespace {

/** The same tensors as results of a recorded step whose backward is `backward`. */
TensorList recorded(const TensorList& tensors, const Backward& backward) {
  std::vector<dlprim::Tensor> data;
  for (const Tensor& t : tensors) data.push_back(t.data());
  return record_many("BackwardHook", tensors, data, [&] { return backward; });
}

}  // namespace

TensorList BackwardWatch::inputs(const TensorList& tensors) {
  state_->input_count = tensors.size();
  state_->fires_at_inputs = needs_tape(tensors);
  if (!state_->fires_at_inputs) return tensors;
  return recorded(tensors, [state = state_](const TensorList& gradients) {
    const TensorList replaced = state->hook(gradients, state->grad_output);
    return replaced.empty() ? gradients : replaced;
  });
}

TensorList BackwardWatch::outputs(const TensorList& tensors) {
  if (!needs_tape(tensors)) return tensors;
  return recorded(tensors, [state = state_](const TensorList& gradients) {
    state->grad_output = gradients;
    if (!state->fires_at_inputs) state->hook(TensorList(state->input_count), gradients);
    return gradients;
  });
}

}  // namespace ocl::nn
