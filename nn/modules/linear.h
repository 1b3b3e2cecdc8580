#pragma once

#include "autograd/ops/linalg.h"
#include "nn/init.h"
#include "nn/layer.h"

namespace ocl::nn {

struct LinearOptions {
  LinearOptions() = default;
  LinearOptions(std::int64_t in_features, std::int64_t out_features)
      : in_features_(in_features), out_features_(out_features) {}
  std::string warning() const {
    return in_features_ == 0 || out_features_ == 0 ? init::no_elements_warning : "";
  }
  OPTION(std::int64_t, in_features) = 0;
  OPTION(std::int64_t, out_features) = 0;
  OPTION(bool, bias) = true;
  OPTION_LIST(2, in_features_, out_features_, bias_)
};

/** torch.nn.Linear: [..., in_features] -> [..., out_features]. Throws ValueError. */
class Linear : public Layer<Linear, LinearOptions> {
 public:
  explicit Linear(const LinearOptions& options);
  Linear(std::int64_t in_features, std::int64_t out_features)
      : Linear(LinearOptions(in_features, out_features)) {}
  Tensor forward(const Tensor& x) override { return linear(x, held(weight), held(bias)); }
  bool works_on_last_dimension() const override { return is_own_class(); }
  /** Uniform within 1 / sqrt(in_features). */
  void reset_parameters();
  std::string extra_repr() const override;

  Tensor weight;  // [out_features, in_features]
  Tensor bias;    // [out_features], or undefined
};

}  // namespace ocl::nn
