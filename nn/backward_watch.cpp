#include "nn/backward_watch.h"

#include "autograd/tape/gradients.h"

namespace ocl::nn {

TensorList BackwardWatch::recorded(const TensorList& tensors, const Backward& backward) const {
  std::vector<dlprim::Tensor> data;
  for (const Tensor& t : tensors) data.push_back(t.data());
  TensorList results = record_many("BackwardHook", tensors, data, [&] { return backward; });
  if (foreign_)
    for (const Tensor& result : results)
      if (const std::shared_ptr<Node> node = result.grad_fn()) {
        node->set_foreign(foreign_());
        break;  // one node for all
      }
  return results;
}

TensorList BackwardWatch::inputs(const TensorList& tensors) {
  state_->input_count = tensors.size();
  state_->fires_at_inputs = needs_tape(tensors);
  if (!state_->fires_at_inputs) return tensors;
  const std::vector<GradientKind> expected(tensors.begin(), tensors.end());
  return recorded(tensors, [state = state_, expected](const TensorList& gradients) {
    TensorList replaced = state->hook(gradients, state->grad_output);
    if (replaced.empty()) return gradients;
    dlprim::require<AutogradError>(replaced.size() == expected.size(), "a backward hook returned ",
                                   replaced.size(), " gradients for ", expected.size(), " inputs");
    for (std::size_t i = 0; i < replaced.size(); ++i)
      if (replaced[i].defined()) expected[i].require_same(replaced[i], "a backward hook has changed");
    return replaced;
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
