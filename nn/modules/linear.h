#pragma once

#include "autograd/ops/linalg.h"
#include "nn/init.h"
#include "nn/modules/several_inputs.h"

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
  HOLDER(Linear, Layer)
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

struct BilinearOptions {
  BilinearOptions() = default;
  BilinearOptions(std::int64_t in1_features, std::int64_t in2_features, std::int64_t out_features)
      : in1_features_(in1_features), in2_features_(in2_features), out_features_(out_features) {}
  OPTION(std::int64_t, in1_features) = 0;
  OPTION(std::int64_t, in2_features) = 0;
  OPTION(std::int64_t, out_features) = 0;
  OPTION(bool, bias) = true;
  OPTION_LIST(3, in1_features_, in2_features_, out_features_, bias_)
};

/** torch.nn.Bilinear: [..., in1_features] and [..., in2_features] -> [..., out_features]; see ocl::bilinear.
 * Throws ValueError. */
class Bilinear : public Layer<Bilinear, BilinearOptions, OfSeveralInputs> {
 public:
  HOLDER(Bilinear, Layer)
  explicit Bilinear(const BilinearOptions& options);
  Bilinear(std::int64_t in1_features, std::int64_t in2_features, std::int64_t out_features)
      : Bilinear(BilinearOptions(in1_features, in2_features, out_features)) {}
  using OfSeveralInputs::forward;
  Tensor forward(const Tensor& input1, const Tensor& input2) {
    return bilinear(input1, input2, held(weight), held(bias));
  }
  const Inputs& inputs() const override;
  Tensor result(const TensorList& given) override { return forward(given[0], given[1]); }
  /** Uniform within 1 / sqrt(in1_features). */
  void reset_parameters();
  std::string extra_repr() const override;

  Tensor weight;  // [out_features, in1_features, in2_features]
  Tensor bias;    // [out_features], or undefined
};

}  // namespace ocl::nn
