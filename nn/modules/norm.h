#pragma once

#include <optional>

#include "nn/module.h"

namespace ocl::nn {

/** What BatchNorm1d and BatchNorm2d share; see ocl::batch_norm. */
class BatchNorm : public Module {
 public:
  /** momentum nullopt: the running statistics are the plain average over all batches seen. */
  BatchNorm(std::int64_t num_features, double eps = 1e-5, std::optional<double> momentum = 0.1,
            bool affine = true, bool track_running_stats = true);
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;

  Tensor weight, bias, running_mean, running_var;  // [num_features]; undefined where switched off
  std::int64_t num_batches_tracked = 0;

 protected:
  /** Throws ValueError unless `x` has the rank the module takes. */
  virtual void check_input(const Tensor& x) const = 0;

 private:
  std::int64_t num_features_;
  double eps_;
  std::optional<double> momentum_;
};

/** torch.nn.BatchNorm2d over [N, C, H, W]. */
class BatchNorm2d : public BatchNorm {
 public:
  using BatchNorm::BatchNorm;
  std::string name() const override { return "BatchNorm2d"; }

 protected:
  void check_input(const Tensor& x) const override;
};

/** torch.nn.BatchNorm1d over [N, C] or [N, C, L]. */
class BatchNorm1d : public BatchNorm {
 public:
  using BatchNorm::BatchNorm;
  std::string name() const override { return "BatchNorm1d"; }

 protected:
  void check_input(const Tensor& x) const override;
};

}  // namespace ocl::nn
