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

/** torch.nn.LayerNorm: the last dimensions, of sizes normalized_shape, normalised; see ocl::layer_norm. */
class LayerNorm : public Module {
 public:
  explicit LayerNorm(std::vector<std::int64_t> normalized_shape, double eps = 1e-5,
                     bool elementwise_affine = true, bool bias = true);
  Tensor forward(const Tensor& x) override;
  std::string name() const override { return "LayerNorm"; }
  std::string extra_repr() const override;

  Tensor weight, bias;  // of normalized_shape; undefined where switched off

 private:
  std::vector<std::int64_t> shape_;
  double eps_;
};

/** torch.nn.RMSNorm: the last dimensions over their root mean square; see ocl::rms_norm. */
class RMSNorm : public Module {
 public:
  explicit RMSNorm(std::vector<std::int64_t> normalized_shape, std::optional<double> eps = std::nullopt,
                   bool elementwise_affine = true);
  Tensor forward(const Tensor& x) override;
  std::string name() const override { return "RMSNorm"; }
  std::string extra_repr() const override;

  Tensor weight;  // of normalized_shape, or undefined

 private:
  std::vector<std::int64_t> shape_;
  std::optional<double> eps_;
};

/** torch.nn.GroupNorm over [N, num_channels, ...]; see ocl::group_norm. */
class GroupNorm : public Module {
 public:
  GroupNorm(std::int64_t num_groups, std::int64_t num_channels, double eps = 1e-5, bool affine = true);
  Tensor forward(const Tensor& x) override;
  std::string name() const override { return "GroupNorm"; }
  std::string extra_repr() const override;

  Tensor weight, bias;  // [num_channels]; undefined where switched off

 private:
  std::int64_t groups_, channels_;
  double eps_;
};

/** What InstanceNorm1d and InstanceNorm2d share; see ocl::instance_norm. */
class InstanceNorm : public Module {
 public:
  explicit InstanceNorm(std::int64_t num_features, double eps = 1e-5, std::optional<double> momentum = 0.1,
                        bool affine = false, bool track_running_stats = false);
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;

  Tensor weight, bias, running_mean, running_var;  // [num_features]; undefined where switched off
  std::int64_t num_batches_tracked = 0;

 protected:
  /** Dimensions of an input without a batch; with one there is one more. */
  virtual int item_rank() const = 0;

 private:
  std::int64_t num_features_;
  double eps_;
  std::optional<double> momentum_;
};

/** torch.nn.InstanceNorm1d over [N, C, L] or [C, L]. */
class InstanceNorm1d : public InstanceNorm {
 public:
  using InstanceNorm::InstanceNorm;
  std::string name() const override { return "InstanceNorm1d"; }

 protected:
  int item_rank() const override { return 2; }
};

/** torch.nn.InstanceNorm2d over [N, C, H, W] or [C, H, W]. */
class InstanceNorm2d : public InstanceNorm {
 public:
  using InstanceNorm::InstanceNorm;
  std::string name() const override { return "InstanceNorm2d"; }

 protected:
  int item_rank() const override { return 3; }
};

/** torch.nn.LocalResponseNorm; see ocl::local_response_norm. */
class LocalResponseNorm : public Module {
 public:
  explicit LocalResponseNorm(std::int64_t size, double alpha = 1e-4, double beta = 0.75, double k = 1)
      : size_(size), alpha_(alpha), beta_(beta), k_(k) {}
  Tensor forward(const Tensor& x) override;
  std::string name() const override { return "LocalResponseNorm"; }
  std::string extra_repr() const override;

 private:
  std::int64_t size_;
  double alpha_, beta_, k_;
};

}  // namespace ocl::nn
