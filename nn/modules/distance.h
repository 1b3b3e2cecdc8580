#pragma once

#include "autograd/ops/distance.h"
#include "nn/modules/several_inputs.h"

namespace ocl::nn {

struct PairwiseDistanceOptions {
  OPTION(double, p) = 2;
  OPTION(double, eps) = 1e-6;
  OPTION(bool, keepdim) = false;
  OPTION_LIST(0, p_, eps_, keepdim_)
};
/** torch.nn.PairwiseDistance; see ocl::pairwise_distance. */
class PairwiseDistance : public Layer<PairwiseDistance, PairwiseDistanceOptions, OfSeveralInputs> {
 public:
  using Layer::Layer;
  using OfSeveralInputs::forward;
  Tensor forward(const Tensor& x1, const Tensor& x2);
  const Inputs& inputs() const override;
  Tensor result(const TensorList& given) override { return forward(given[0], given[1]); }
  std::string extra_repr() const override { return ""; }
};

struct CosineSimilarityOptions {
  OPTION(std::int64_t, dim) = 1;
  OPTION(double, eps) = 1e-8;
  OPTION_LIST(0, dim_, eps_)
};
/** torch.nn.CosineSimilarity; see ocl::cosine_similarity. */
class CosineSimilarity : public Layer<CosineSimilarity, CosineSimilarityOptions, OfSeveralInputs> {
 public:
  using Layer::Layer;
  using OfSeveralInputs::forward;
  Tensor forward(const Tensor& x1, const Tensor& x2);
  const Inputs& inputs() const override;
  Tensor result(const TensorList& given) override { return forward(given[0], given[1]); }
  std::string extra_repr() const override { return ""; }
};

}  // namespace ocl::nn
