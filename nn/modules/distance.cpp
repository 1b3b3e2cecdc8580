#include "nn/modules/distance.h"

namespace ocl::nn {
namespace {

const OfSeveralInputs::Inputs& two_vectors() {
  static const auto& both = *new OfSeveralInputs::Inputs{{"x1", "x2"}, 2};
  return both;
}

}  // namespace

Tensor PairwiseDistance::forward(const Tensor& x1, const Tensor& x2) {
  const PairwiseDistanceOptions o = options();
  return pairwise_distance(x1, x2, o.p(), o.eps(), o.keepdim());
}

const OfSeveralInputs::Inputs& PairwiseDistance::inputs() const {
  return two_vectors();
}

Tensor CosineSimilarity::forward(const Tensor& x1, const Tensor& x2) {
  const CosineSimilarityOptions o = options();
  return cosine_similarity(x1, x2, o.dim(), o.eps());
}

const OfSeveralInputs::Inputs& CosineSimilarity::inputs() const {
  return two_vectors();
}

}  // namespace ocl::nn
