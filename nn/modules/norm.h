#pragma once

#include <functional>
#include <typeinfo>

#include "nn/layer.h"

namespace ocl::nn {

/** Options of BatchNorm and, with `affine` and `track_running_stats` false by default, InstanceNorm. */
template <bool by_default>
struct RunningNormOptions {
  RunningNormOptions(std::int64_t num_features = 0) : num_features_(num_features) {}
  OPTION(std::int64_t, num_features);
  OPTION(double, eps) = 1e-5;
  /** nullopt: the running statistics are the plain average over all batches seen. */
  OPTION(std::optional<double>, momentum) = 0.1;
  OPTION(bool, affine) = by_default;
  OPTION(bool, track_running_stats) = by_default;
  OPTION(bool, bias) = true;
  OPTION_LIST_WITH_KEYWORDS(1, 1, num_features_, eps_, momentum_, affine_, track_running_stats_, bias_)
};
using BatchNormOptions = RunningNormOptions<true>;
using InstanceNormOptions = RunningNormOptions<false>;

/** The common part of batch and instance norm: their tensors. */
class RunningNorm : public Module {
 public:
  void reset_running_stats();
  void reset_parameters();

  Tensor weight, bias, running_mean, running_var;  // [num_features]; undefined where switched off
  Tensor num_batches_tracked;                      // int64 []

 protected:
  template <class Options>
  void make_tensors(const char* layer, const Options& o) {
    make_tensors(layer, o.num_features(), o.affine(), o.affine() && o.bias(), o.track_running_stats());
  }
  Tensor normalized_batch(const Tensor& x, const BatchNormOptions& options,
                          const dlprim::PointwiseOp* activation, const Tensor& addend);
  Tensor normalized_items(const Tensor& x, const InstanceNormOptions& options, int item_rank);

 private:
  void make_tensors(const char* layer, std::int64_t num_features, bool has_weight, bool has_bias,
                    bool track_running_stats);
};

/** The common part of BatchNorm1d, BatchNorm2d and BatchNorm3d. */
class BatchNorm : public RunningNorm {
 public:
  /** activation(forward(x) + addend), see ocl::batch_norm_activation. */
  virtual Tensor forward_then(const Tensor& x, const dlprim::PointwiseOp* activation,
                              const Tensor& addend) = 0;
  /** Whether forward is that of BatchNorm1d, 2d or 3d. */
  virtual bool has_own_forward() const = 0;
};

/** The addend of norm_then, made when it is needed. */
using MakeTensor = std::function<Tensor()>;

/**
 * activation(norm(x) + addend()), where there is an addend, with the results of the modules called one after
 * another. It takes one pass over memory where the norm is a BatchNorm whose kernels can take the rest
 * (ocl::batch_norm_activation) and neither module has hooks. The activation has no call of its own then.
 */
Tensor norm_then(Module& norm, const Tensor& x, Module& activation, const MakeTensor& addend = nullptr);
Tensor norm_then(const Child<Module>& norm, const Tensor& x, const Child<Module>& activation,
                 const MakeTensor& addend = nullptr);
/** Whether norm_then would do so. */
bool runs_as_one(const Module& norm, const Module& activation, bool has_addend);

// torch.nn.BatchNorm1d over [N, C] or [N, C, L], BatchNorm2d over [N, C, H, W],
// BatchNorm3d over [N, C, D, H, W]; see ocl::batch_norm.
#define BATCH_NORM(Class)                                                                          \
  class Class : public Layer<Class, BatchNormOptions, BatchNorm> {                                 \
   public:                                                                                         \
    HOLDER(Class, Layer)                                                                           \
    explicit Class(const BatchNormOptions& options) : Layer(options) {                             \
      make_tensors(#Class, options);                                                               \
      initialize();                                                                                \
    }                                                                                              \
    Tensor forward(const Tensor& x) override { return forward_then(x, nullptr, {}); }              \
    Tensor forward_then(const Tensor& x, const dlprim::PointwiseOp* activation,                    \
                        const Tensor& addend) override;                                            \
    bool has_own_forward() const override { return typeid(*this) == typeid(Class); }               \
    std::string extra_repr() const override { return described(options(), held(bias).defined()); } \
  };
// torch.nn.InstanceNorm1d over [N, C, L] or [C, L], InstanceNorm2d over [N, C, H, W] or [C, H, W],
// InstanceNorm3d over [N, C, D, H, W] or [C, D, H, W]; see ocl::instance_norm. Throw ValueError.
#define INSTANCE_NORM(Class)                                                                       \
  class Class : public Layer<Class, InstanceNormOptions, RunningNorm> {                            \
   public:                                                                                         \
    HOLDER(Class, Layer)                                                                           \
    explicit Class(const InstanceNormOptions& options) : Layer(options) {                          \
      make_tensors(#Class, options);                                                               \
      initialize();                                                                                \
    }                                                                                              \
    Tensor forward(const Tensor& x) override;                                                      \
    std::string extra_repr() const override { return described(options(), held(bias).defined()); } \
  };
/** "64, eps=1e-05, momentum=0.1, …" */
template <class Options>
std::string described(const Options& o, bool has_bias) {
  return dlprim::concat(o.num_features(), ", eps=", repr_of(o.eps()), ", momentum=", repr_of(o.momentum()),
                        ", affine=", repr_of(o.affine()), ", bias=", repr_of(has_bias),
                        ", track_running_stats=", repr_of(o.track_running_stats()));
}
BATCH_NORM(BatchNorm1d)
BATCH_NORM(BatchNorm2d)
BATCH_NORM(BatchNorm3d)
INSTANCE_NORM(InstanceNorm1d)
INSTANCE_NORM(InstanceNorm2d)
INSTANCE_NORM(InstanceNorm3d)
#undef BATCH_NORM
#undef INSTANCE_NORM

struct LayerNormOptions {
  LayerNormOptions(std::vector<std::int64_t> normalized_shape = {})
      : normalized_shape_(std::move(normalized_shape)) {}
  OPTION(std::vector<std::int64_t>, normalized_shape);
  OPTION(double, eps) = 1e-5;
  OPTION(bool, elementwise_affine) = true;
  OPTION(bool, bias) = true;
  OPTION_LIST(1, normalized_shape_, eps_, elementwise_affine_, bias_)
};
/** torch.nn.LayerNorm: the last dimensions, of sizes normalized_shape, normalised; see ocl::layer_norm. */
class LayerNorm : public Layer<LayerNorm, LayerNormOptions> {
 public:
  HOLDER(LayerNorm, Layer)
  explicit LayerNorm(const LayerNormOptions& options);
  /** Over the last dimension alone. */
  template <class Int, class = IfWhole<Int>>
  explicit LayerNorm(Int size) : LayerNorm(LayerNormOptions({static_cast<std::int64_t>(size)})) {}
  Tensor forward(const Tensor& x) override;
  bool works_on_last_dimension() const override {
    return is_own_class() && options().normalized_shape().size() == 1;
  }
  void reset_parameters();
  std::string extra_repr() const override;

  Tensor weight, bias;  // of normalized_shape; undefined where switched off
};

struct RMSNormOptions {
  RMSNormOptions(std::vector<std::int64_t> normalized_shape = {})
      : normalized_shape_(std::move(normalized_shape)) {}
  OPTION(std::vector<std::int64_t>, normalized_shape);
  OPTION(std::optional<double>, eps) = std::nullopt;
  OPTION(bool, elementwise_affine) = true;
  OPTION_LIST(1, normalized_shape_, eps_, elementwise_affine_)
};
/** torch.nn.RMSNorm: the last dimensions over their root mean square; see ocl::rms_norm. */
class RMSNorm : public Layer<RMSNorm, RMSNormOptions> {
 public:
  HOLDER(RMSNorm, Layer)
  explicit RMSNorm(const RMSNormOptions& options);
  /** Over the last dimension alone. */
  template <class Int, class = IfWhole<Int>>
  explicit RMSNorm(Int size) : RMSNorm(RMSNormOptions({static_cast<std::int64_t>(size)})) {}
  Tensor forward(const Tensor& x) override;
  void reset_parameters();
  std::string extra_repr() const override;

  Tensor weight;  // of normalized_shape, or undefined
};

struct GroupNormOptions {
  GroupNormOptions() = default;
  GroupNormOptions(std::int64_t num_groups, std::int64_t num_channels)
      : num_groups_(num_groups), num_channels_(num_channels) {}
  OPTION(std::int64_t, num_groups) = 1;
  OPTION(std::int64_t, num_channels) = 0;
  OPTION(double, eps) = 1e-5;
  OPTION(bool, affine) = true;
  OPTION(bool, bias) = true;
  OPTION_LIST_WITH_KEYWORDS(2, 1, num_groups_, num_channels_, eps_, affine_, bias_)
};
/** torch.nn.GroupNorm over [N, num_channels, ...]; see ocl::group_norm. Throws ValueError. */
class GroupNorm : public Layer<GroupNorm, GroupNormOptions> {
 public:
  HOLDER(GroupNorm, Layer)
  explicit GroupNorm(const GroupNormOptions& options);
  GroupNorm(std::int64_t num_groups, std::int64_t num_channels)
      : GroupNorm(GroupNormOptions(num_groups, num_channels)) {}
  Tensor forward(const Tensor& x) override;
  void reset_parameters();
  std::string extra_repr() const override;

  Tensor weight, bias;  // [num_channels]; undefined where switched off
};

struct LocalResponseNormOptions {
  LocalResponseNormOptions(std::int64_t size = 1) : size_(size) {}
  OPTION(std::int64_t, size);
  OPTION(double, alpha) = 1e-4;
  OPTION(double, beta) = 0.75;
  OPTION(double, k) = 1;
  OPTION_LIST(1, size_, alpha_, beta_, k_)
};
/** torch.nn.LocalResponseNorm; see ocl::local_response_norm. */
class LocalResponseNorm : public Layer<LocalResponseNorm, LocalResponseNormOptions> {
 public:
  using Layer::Layer;
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;
};

/** torch::nn::CrossMapLRN2d: LocalResponseNorm over x [N, C, H, W]. Throws ValueError. */
class CrossMapLRN2d : public LocalResponseNorm {
 public:
  using LocalResponseNorm::LocalResponseNorm;
  Tensor forward(const Tensor& x) override;
  std::shared_ptr<Module> alike() const override { return std::make_shared<CrossMapLRN2d>(options()); }
};
using CrossMapLRN2dOptions = LocalResponseNormOptions;

}  // namespace ocl::nn
