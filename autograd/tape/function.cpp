#include "autograd/tape/function.h"

#include <algorithm>

#include "autograd/tape/engine.h"
#include "autograd/tensor/creation.h"
#include "dlprim/core/class_name.h"

namespace ocl::autograd {
namespace {

bool is_among(const Tensor& tensor, const TensorList& all) {
  return std::any_of(all.begin(), all.end(),
                     [&](const Tensor& each) { return &each.impl() == &tensor.impl(); });
}

}  // namespace

void AutogradContext::save_for_backward(const TensorList& tensors) {
  saved_.clear();
  for (const Tensor& tensor : tensors)
    saved_.push_back(tensor.defined() ? Saved{SavedTensor(tensor), tensor} : Saved{});
}

TensorList AutogradContext::get_saved_variables() const {
  TensorList tensors;
  for (const Saved& saved : saved_) {
    if (saved.output >= 0) {
      tensors.push_back(saved.tensor.output(static_cast<std::size_t>(saved.output)));
      continue;
    }
    if (saved.tensor.defined()) saved.tensor.unpack();  // throws if it was written in place
    tensors.push_back(saved.given);
  }
  return tensors;
}

void FunctionCall::note_tensor(const Tensor& tensor) {
  context_->needed_.push_back(tensor.defined() && tensor.requires_grad());
  are_tensors_.push_back(tensor.defined());
  if (tensor.defined()) tensors_.push_back(tensor);
}

TensorList FunctionCall::recorded(const std::type_info& type, const TensorList& results,
                                  const OwnBackward& backward) {
  if (!needs_tape(tensors_)) return results;
  const std::string name = dlprim::class_name(type) + "Backward";
  TensorList outputs, roots;
  std::vector<bool> flows;
  std::vector<int> places;  // of each result among those that gradients flow through
  for (const Tensor& result : results) {
    // One that has a history, or is an argument, comes back as another tensor over the same memory.
    const bool is_another = result.defined() && (result.requires_grad() || is_among(result, tensors_));
    outputs.push_back(is_another ? result.detach() : result);
    flows.push_back(result.defined() && dlprim::is_differentiable(result.dtype()) &&
                    !is_among(result, context_->not_differentiable_));
    places.push_back(flows.back() ? static_cast<int>(roots.size()) : -1);
    if (flows.back()) roots.push_back(outputs.back());
  }
  if (roots.empty()) return outputs;

  for (AutogradContext::Saved& saved : context_->saved_)
    for (std::size_t i = 0; i < results.size(); ++i)
      if (saved.given.defined() && results[i].defined() && &saved.given.impl() == &results[i].impl() &&
          !is_among(results[i], tensors_)) {
        saved.given = places[i] < 0 ? results[i].detach() : Tensor();
        saved.output = places[i];
      }

  struct Described {
    dlprim::Dims shape;
    DType dtype;
    Device device;
  };
  std::vector<std::optional<Described>> described;
  for (const Tensor& output : outputs)
    described.push_back(output.defined()
                            ? std::optional(Described{output.shape(), output.dtype(), output.device()})
                            : std::nullopt);
  const auto run = [name, backward, flows, described, context = context_,
                    are_tensors = are_tensors_](const TensorList& gradients) {
    TensorList given, wanted;
    std::size_t arriving = 0;
    for (std::size_t i = 0; i < flows.size(); ++i) {
      Tensor gradient = flows[i] ? gradients[arriving++] : Tensor();
      if (!gradient.defined() && context->materializes_ && described[i])
        gradient = zeros(described[i]->shape.vector(), described[i]->dtype, described[i]->device);
      given.push_back(gradient);
    }
    const TensorList made = backward(context.get(), given);
    dlprim::require<AutogradError>(made.size() == are_tensors.size(), "function ", name,
                                   " returned an incorrect number of gradients (expected ",
                                   are_tensors.size(), ", got ", made.size(), ")");
    for (std::size_t i = 0; i < made.size(); ++i)
      if (are_tensors[i]) wanted.push_back(made[i]);
    return wanted;
  };
  record_function(name, tensors_, roots, run, !context_->saved_.empty(), nullptr);
  return outputs;
}

}  // namespace ocl::autograd
