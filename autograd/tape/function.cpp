#include "autograd/tape/function.h"

#include <algorithm>

#include "autograd/tape/engine.h"
#include "autograd/tape/saved_tensor_hooks.h"
#include "autograd/tensor/creation.h"
#include "dlprim/core/class_name.h"

namespace ocl::autograd {
namespace {

bool is_among(const Tensor& tensor, const TensorList& all) {
  return std::any_of(all.begin(), all.end(),
                     [&](const Tensor& each) { return &each.impl() == &tensor.impl(); });
}

template <class T>
T held(const std::any& value) {
  const auto* found = std::any_cast<T>(&value);
  dlprim::require<TypeError>(
      found, "saved_data: expected a value of ", dlprim::class_name(typeid(T)),
      value.has_value() ? ", got one of " + dlprim::class_name(value.type()) : std::string(", got none"));
  return *found;
}

}  // namespace

double SavedValue::toDouble() const {
  if (const auto* value = std::any_cast<double>(this)) return *value;
  if (const auto* value = std::any_cast<float>(this)) return *value;
  return static_cast<double>(toInt());
}

std::int64_t SavedValue::toInt() const {
  if (const auto* value = std::any_cast<int>(this)) return *value;
  if (const auto* value = std::any_cast<std::size_t>(this)) return static_cast<std::int64_t>(*value);
  return held<std::int64_t>(*this);
}

bool SavedValue::toBool() const {
  return held<bool>(*this);
}

Tensor SavedValue::toTensor() const {
  return held<Tensor>(*this);
}

std::string SavedValue::toStringRef() const {
  if (const auto* value = std::any_cast<const char*>(this)) return *value;
  return held<std::string>(*this);
}

void AutogradContext::save_for_backward(const TensorList& tensors) {
  saved_.clear();
  packs_ = packs_saved_tensors();
  for (const Tensor& tensor : tensors)
    saved_.push_back(tensor.defined() ? Saved{SavedTensor(tensor), tensor} : Saved{});
}

TensorList AutogradContext::get_saved_variables() const {
  const GradMode with_history(true);
  TensorList tensors;
  for (const Saved& saved : saved_) {
    if (saved.output >= 0) {
      tensors.push_back(saved.tensor.output(static_cast<std::size_t>(saved.output)));
      continue;
    }
    if (saved.input >= 0) {
      tensors.push_back(saved.tensor.input(static_cast<std::size_t>(saved.input)));
      continue;
    }
    const Tensor unpacked = saved.tensor.defined() ? Tensor(saved.tensor.unpack()) : Tensor();
    tensors.push_back(packs_ ? unpacked : saved.given);  // unpacked, it was not written in place
  }
  return tensors;
}

void AutogradContext::forget_packed(const TensorList& arguments) {
  if (!packs_) return;
  for (Saved& saved : saved_) {
    for (std::size_t i = 0; i < arguments.size() && saved.given.defined(); ++i)
      if (&saved.given.impl() == &arguments[i].impl()) {
        saved.input = static_cast<int>(i);
        break;
      }
    saved.given = {};
  }
}

void FunctionCall::note_tensor(const Tensor& tensor) {
  context_->needed_.push_back(tensor.defined() && tensor.requires_grad());
  are_tensors_.push_back(tensor.defined());
  if (tensor.defined()) tensors_.push_back(tensor);
}

TensorList FunctionCall::recorded(const std::type_info& type, const TensorList& results,
                                  const OwnBackward& backward) {
  if (!needs_tape(tensors_)) return results;
  for (const Tensor& tensor : context_->dirty_) {
    dlprim::require<AutogradError>(is_among(tensor, results),
                                   "mark_dirty: an argument that was written in place is no result");
    dlprim::require<AutogradError>(!tensor.is_leaf() || !tensor.requires_grad(),
                                   "mark_dirty: a leaf that requires a gradient was written in place");
    dlprim::require<AutogradError>(!tensor.impl().base.defined(), "mark_dirty: a view cannot be marked");
  }
  const std::string name = dlprim::class_name(type) + "Backward";
  TensorList outputs, roots;
  std::vector<bool> flows;
  std::vector<int> places;  // of each result among those that gradients flow through
  for (const Tensor& result : results) {
    // One that has a history, or is an argument, comes back as another tensor over the same memory.
    const bool is_another = result.defined() && !is_among(result, context_->dirty_) &&
                            (result.requires_grad() || is_among(result, tensors_));
    outputs.push_back(is_another ? result.detach() : result);
    flows.push_back(result.defined() && dlprim::is_differentiable(result.dtype()) &&
                    !is_among(result, context_->not_differentiable_));
    places.push_back(flows.back() ? static_cast<int>(roots.size()) : -1);
    if (flows.back()) roots.push_back(outputs.back());
  }
  const TensorList dirty = std::move(context_->dirty_);  // the context holds no result: it would hold itself
  context_->dirty_.clear();
  context_->not_differentiable_.clear();
  if (roots.empty()) return outputs;

  for (AutogradContext::Saved& saved : context_->saved_)
    for (std::size_t i = 0; i < results.size(); ++i)
      if (saved.given.defined() && results[i].defined() && &saved.given.impl() == &results[i].impl() &&
          (!is_among(results[i], tensors_) || is_among(results[i], dirty))) {
        saved.given = places[i] < 0 ? results[i].detach() : Tensor();
        saved.output = places[i];
      }
  context_->forget_packed(tensors_);

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
