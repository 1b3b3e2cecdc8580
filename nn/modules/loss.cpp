#include "nn/modules/loss.h"

#include "autograd/ops/distance.h"
#include "autograd/ops/loss_reduction.h"
#include "autograd/ops/pointwise.h"

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

MultiMarginLoss::MultiMarginLoss(const MultiMarginLossOptions& o) : Layer(o) {
  dlprim::require(o.p() == 1 || o.p() == 2, "MultiMarginLoss: only p == 1 and p == 2 supported, got ", o.p());
  dlprim::require(!o.weight().defined() || o.weight().dim() == 1,
                  "MultiMarginLoss: weight must be None or have 1 dimension");
  register_buffer("weight", weight, o.weight());
}

Tensor MultiMarginLoss::forward(const Tensor& input, const Tensor& target) {
  const MultiMarginLossOptions o = options();
  return multi_margin_loss(input, target, o.p(), o.margin(), held(weight),
                           reduction_from_name(o.reduction()));
}

MultiLabelSoftMarginLoss::MultiLabelSoftMarginLoss(const BCELossOptions& o) : Layer(o) {
  register_buffer("weight", weight, o.weight());
}

Tensor MultiLabelSoftMarginLoss::forward(const Tensor& input, const Tensor& target) {
  return multilabel_soft_margin_loss(input, target, held(weight), reduction_from_name(options().reduction()));
}

TripletMarginLoss::TripletMarginLoss(const TripletMarginLossOptions& o) : Layer(o) {
  dlprim::require(o.margin() > 0, "TripletMarginLoss: expected margin to be greater than 0, got ", o.margin(),
                  " instead");
}

const OfSeveralInputs::Inputs& TripletMarginLoss::inputs() const {
  static const auto& all = *new Inputs{{"anchor", "positive", "negative"}, 3};
  return all;
}

Tensor TripletMarginLoss::forward(const Tensor& anchor, const Tensor& positive, const Tensor& negative) {
  const TripletMarginLossOptions o = options();
  return triplet_margin_loss(anchor, positive, negative, o.margin(), o.p(), o.eps(), o.swap(),
                             reduction_from_name(o.reduction()));
}

TripletMarginWithDistanceLoss::TripletMarginWithDistanceLoss(TripletMarginWithDistanceLossOptions options)
    : options_(std::move(options)) {
  dlprim::require(options_.margin() > 0,
                  "TripletMarginWithDistanceLoss: expected margin to be greater than 0, got ",
                  options_.margin(), " instead");
}

const OfSeveralInputs::Inputs& TripletMarginWithDistanceLoss::inputs() const {
  static const auto& all = *new Inputs{{"anchor", "positive", "negative"}, 3};
  return all;
}

Tensor TripletMarginWithDistanceLoss::forward(const Tensor& anchor, const Tensor& positive,
                                              const Tensor& negative) {
  dlprim::require(
      anchor.dim() == positive.dim() && anchor.dim() == negative.dim(),
      "TripletMarginWithDistanceLoss: expected tensors of the same number of dimensions, got shapes ",
      anchor.sizes(), ", ", positive.sizes(), " and ", negative.sizes());
  const auto distance = [&](const Tensor& a, const Tensor& b) {
    return options_.distance_function() ? options_.distance_function()(a, b) : pairwise_distance(a, b);
  };
  Tensor far = distance(anchor, negative);
  if (options_.swap()) far = minimum(far, distance(positive, negative));
  const Tensor losses = (distance(anchor, positive) - far + options_.margin()).clamp_min(0);
  switch (reduction_from_name(options_.reduction())) {
    case Reduction::none:
      return losses;
    case Reduction::mean:
      return losses.mean();
    case Reduction::sum:
      return losses.sum();
  }
  return losses;
}

}  // namespace ocl::nn
