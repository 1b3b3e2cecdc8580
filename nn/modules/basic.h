#pragma once

#include <functional>

#include "autograd/ops/views.h"
#include "nn/layer.h"

namespace ocl::nn {

/** torch.nn.Identity. */
class Identity : public Layer<Identity, NoOptions> {
 public:
  using Layer::Layer;
  Tensor forward(const Tensor& x) override { return x; }
  bool works_on_last_dimension() const override { return is_own_class(); }
};

/** torch::nn::Functional: a function as a module, with what it takes beside the tensor bound to it:
 * `Functional(elu, 0.5)`. */
class Functional : public Module {
 public:
  using Function = std::function<Tensor(const Tensor&)>;
  template <class F, class = std::enable_if_t<std::is_invocable_r_v<Tensor, F, const Tensor&>>>
  explicit Functional(F function) : function_(std::move(function)) {}
  explicit Functional(Tensor (*function)(const Tensor&)) : function_(function) {}  // of several of one name
  template <class F, class First, class... More,
            class = std::enable_if_t<std::is_invocable_v<F, const Tensor&, First, More...>>>
  explicit Functional(F function, First first, More... more)
      : function_([=](const Tensor& x) { return function(x, first, more...); }) {}
  Tensor forward(const Tensor& x) override { return function_(x); }
  std::shared_ptr<Module> alike() const override { return std::make_shared<Functional>(function_); }

 private:
  Function function_;
};

struct FlattenOptions {
  OPTION(std::int64_t, start_dim) = 1;
  OPTION(std::int64_t, end_dim) = -1;
  OPTION_LIST(0, start_dim_, end_dim_)
};
/** torch.nn.Flatten: joins dimensions start_dim to end_dim. */
class Flatten : public Layer<Flatten, FlattenOptions> {
 public:
  using Layer::Layer;
  Tensor forward(const Tensor& x) override;
};

struct UnflattenOptions {
  UnflattenOptions() = default;
  UnflattenOptions(std::int64_t dim, std::vector<std::int64_t> unflattened_size)
      : dim_(dim), unflattened_size_(std::move(unflattened_size)) {}
  OPTION(std::int64_t, dim) = 0;
  OPTION(std::vector<std::int64_t>, unflattened_size);
  OPTION_LIST(2, dim_, unflattened_size_)
};
/** torch.nn.Unflatten: splits dimension `dim` into `unflattened_size`, of which one may be -1. */
class Unflatten : public Layer<Unflatten, UnflattenOptions> {
 public:
  using Layer::Layer;
  Tensor forward(const Tensor& x) override;
};

struct DropoutOptions {
  DropoutOptions(double p = 0.5) : p_(p) {}
  OPTION(Scalar, p);
  OPTION(bool, inplace) = false;
  OPTION_LIST(0, p_, inplace_)
};
/** torch.nn.Dropout. `inplace` writes the result over the input. Throws ValueError. */
class Dropout : public Layer<Dropout, DropoutOptions> {
 public:
  HOLDER(Dropout, Layer)
  explicit Dropout(const DropoutOptions& options = {});
  Tensor forward(const Tensor& x) override;
  bool works_on_last_dimension() const override { return is_own_class(); }
};

/** torch.nn.Dropout2d: drops whole channels of x [N, C, ...]. Throws ValueError. */
class Dropout2d : public Layer<Dropout2d, DropoutOptions> {
 public:
  HOLDER(Dropout2d, Layer)
  explicit Dropout2d(const DropoutOptions& options = {});
  Tensor forward(const Tensor& x) override;
};

/** torch.nn.Dropout3d: drops whole channels of x [N, C, D, H, W] or [C, D, H, W]. Throws ValueError. */
class Dropout3d : public Layer<Dropout3d, DropoutOptions> {
 public:
  HOLDER(Dropout3d, Layer)
  explicit Dropout3d(const DropoutOptions& options = {});
  Tensor forward(const Tensor& x) override;
};

/** torch.nn.AlphaDropout: drops elements to what SELU gives far below 0, and scales and moves all, so that
 * mean 0 and variance 1 stay (Klambauer et al. 2017). Throws ValueError. */
class AlphaDropout : public Layer<AlphaDropout, DropoutOptions> {
 public:
  HOLDER(AlphaDropout, Layer)
  explicit AlphaDropout(const DropoutOptions& options = {});
  Tensor forward(const Tensor& x) override;
};

/** torch.nn.FeatureAlphaDropout: AlphaDropout of whole channels of x [N, C, ...]. Throws ValueError. */
class FeatureAlphaDropout : public Layer<FeatureAlphaDropout, DropoutOptions> {
 public:
  HOLDER(FeatureAlphaDropout, Layer)
  explicit FeatureAlphaDropout(const DropoutOptions& options = {});
  Tensor forward(const Tensor& x) override;
};

struct StochasticDepthOptions {
  StochasticDepthOptions() = default;
  StochasticDepthOptions(double p, std::string mode) : p_(p), mode_(std::move(mode)) {}
  OPTION(Scalar, p) = 0.5;
  OPTION(std::string, mode) = "batch";
  OPTION_LIST(2, p_, mode_)
};
/**
 * Drops whole residual branches while training (Huang et al. 2016; torchvision.ops.StochasticDepth): with
 * probability p the input becomes 0, else it is scaled by 1 / (1 - p). mode "batch": all samples together;
 * "row": each sample by itself. Throws ValueError.
 */
class StochasticDepth : public Layer<StochasticDepth, StochasticDepthOptions> {
 public:
  HOLDER(StochasticDepth, Layer)
  explicit StochasticDepth(const StochasticDepthOptions& options);
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;
};

}  // namespace ocl::nn
