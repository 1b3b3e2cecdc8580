#pragma once

#include "autograd/ops/views.h"
#include "nn/module.h"

namespace ocl::nn {

/** torch.nn.Identity. */
class Identity : public Module {
 public:
  Tensor forward(const Tensor& x) override { return x; }
  std::string name() const override { return "Identity"; }
};

/** torch.nn.Flatten: joins dimensions start_dim to end_dim. */
class Flatten : public Module {
 public:
  explicit Flatten(std::int64_t start = 1, std::int64_t end = -1) : start_dim(start), end_dim(end) {}
  Tensor forward(const Tensor& x) override { return flatten(x, start_dim, end_dim); }
  std::string name() const override { return "Flatten"; }
  std::string extra_repr() const override {
    return dlprim::concat("start_dim=", start_dim, ", end_dim=", end_dim);
  }

  std::int64_t start_dim, end_dim;
};

/** torch.nn.Unflatten: splits dimension `dim` into `unflattened_size`, of which one may be -1. */
class Unflatten : public Module {
 public:
  Unflatten(std::int64_t dimension, std::vector<std::int64_t> size)
      : dim(dimension), unflattened_size(std::move(size)) {}
  Tensor forward(const Tensor& x) override;
  std::string name() const override { return "Unflatten"; }
  std::string extra_repr() const override;

  std::int64_t dim;
  std::vector<std::int64_t> unflattened_size;
};

/** torch.nn.Dropout. `inplace` writes the result over the input. */
class Dropout : public Module {
 public:
  explicit Dropout(const Scalar& probability = 0.5, bool is_inplace = false);
  Tensor forward(const Tensor& x) override;
  std::string name() const override { return "Dropout"; }
  std::string extra_repr() const override {
    return "p=" + number_repr(p) + ", inplace=" + number_repr(inplace);
  }

  Scalar p;
  bool inplace;
};

/** torch.nn.Dropout2d: drops whole channels of x [N, C, ...]. */
class Dropout2d : public Dropout {
 public:
  using Dropout::Dropout;
  Tensor forward(const Tensor& x) override;
  std::string name() const override { return "Dropout2d"; }
};

/**
 * Drops whole residual branches while training (Huang et al. 2016; torchvision.ops.StochasticDepth): with
 * probability p the input becomes 0, else it is scaled by 1 / (1 - p). mode "batch": all samples together;
 * "row": each sample by itself. Throws ValueError.
 */
class StochasticDepth : public Module {
 public:
  StochasticDepth(const Scalar& probability, std::string drop_mode);
  Tensor forward(const Tensor& x) override;
  std::string name() const override { return "StochasticDepth"; }
  std::string extra_repr() const override { return "p=" + number_repr(p) + ", mode=" + mode; }

  Scalar p;
  std::string mode;
};

}  // namespace ocl::nn
