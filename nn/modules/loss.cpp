#include "nn/modules/loss.h"

#include "autograd/ops/loss_reduction.h"

namespace ocl::nn {

CrossEntropyLoss::CrossEntropyLoss(const CrossEntropyLossOptions& o) : Layer(o) {
  register_buffer("weight", weight, o.weight());
}

Tensor CrossEntropyLoss::forward(const Tensor& input, const Tensor& target) {
  const CrossEntropyLossOptions o = options();
  return cross_entropy(input, target, held(weight), reduction_from_name(o.reduction()), o.ignore_index(),
                       o.label_smoothing());
}

NLLLoss::NLLLoss(const NLLLossOptions& o) : Layer(o) {
  register_buffer("weight", weight, o.weight());
}

Tensor NLLLoss::forward(const Tensor& input, const Tensor& target) {
  const NLLLossOptions o = options();
  return nll_loss(input, target, held(weight), reduction_from_name(o.reduction()), o.ignore_index());
}

BCELoss::BCELoss(const BCELossOptions& o) : Layer(o) {
  register_buffer("weight", weight, o.weight());
}

Tensor BCELoss::forward(const Tensor& input, const Tensor& target) {
  return binary_cross_entropy(input, target, held(weight), reduction_from_name(options().reduction()));
}

BCEWithLogitsLoss::BCEWithLogitsLoss(const BCEWithLogitsLossOptions& o) : Layer(o) {
  register_buffer("weight", weight, o.weight());
  register_buffer("pos_weight", pos_weight, o.pos_weight());
}

Tensor BCEWithLogitsLoss::forward(const Tensor& input, const Tensor& target) {
  return binary_cross_entropy_with_logits(input, target, held(weight), held(pos_weight),
                                          reduction_from_name(options().reduction()));
}

}  // namespace ocl::nn
