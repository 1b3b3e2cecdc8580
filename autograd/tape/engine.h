#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "autograd/tensor/tensor.h"

namespace ocl {

/**
 * Adds the gradients of `outputs` (weighted by `gradients`; undefined ones stand for 1) to the grad of every
 * leaf, or of `inputs` alone where there are any (torch::autograd::backward). With `create_graph` the pass is
 * recorded, so that the gradients can be differentiated in turn. `retain_graph`: whether the graph can be
 * walked again; what `create_graph` says where it is not given.
 */
void backward(const TensorList& outputs, const TensorList& gradients = {},
              std::optional<bool> retain_graph = std::nullopt, bool create_graph = false,
              const TensorList& inputs = {});

namespace autograd {

/**
 * The gradients of `outputs` with respect to `inputs`, as torch::autograd::grad: grad() of no leaf is
 * touched. With `create_graph` the gradients have a history, and can be differentiated in turn.
 * `retain_graph`: as backward's. An input that the outputs do not depend on throws AutogradError, or comes
 * back undefined with `allow_unused`.
 */
TensorList grad(const TensorList& outputs, const TensorList& inputs, const TensorList& grad_outputs = {},
                std::optional<bool> retain_graph = std::nullopt, bool create_graph = false,
                bool allow_unused = false);

/** Whether the histories of `tensors` end at any leaf that is none of `leaves`. */
bool leads_beyond(const TensorList& tensors, const TensorList& leaves);

/**
 * Makes `outputs`, which have no history yet, the results of a function of the caller's own, if
 * needs_tape(inputs) (torch.autograd.Function). `backward` gives one gradient for each input, undefined for
 * zero; one that broadcast is summed to the input's shape. `saves_tensors`: whether it holds some, so that
 * the graph can be walked once only. `foreign`: see Foreign in tape.h. Throws AutogradError in backward where
 * a gradient does not fit its input.
 */
void record_function(const std::string& name, const TensorList& inputs, const TensorList& outputs,
                     const std::function<TensorList(const TensorList&)>& backward, bool saves_tensors = true,
                     std::shared_ptr<void> foreign = {});

}  // namespace autograd
}  // namespace ocl
