#pragma once

#include "autograd/ops/linalg.h"
#include "nn/module.h"

namespace ocl::nn {

/** torch.nn.Linear: [..., in_features] -> [..., out_features]. */
class Linear : public Module {
 public:
  Linear(std::int64_t in_features, std::int64_t out_features, bool bias = true);
  Tensor forward(const Tensor& x) override { return linear(x, held(weight), held(bias)); }
  std::string name() const override { return "Linear"; }
  std::string extra_repr() const override;

  Tensor weight;  // [out_features, in_features]
  Tensor bias;    // [out_features], or undefined
};

}  // namespace ocl::nn
