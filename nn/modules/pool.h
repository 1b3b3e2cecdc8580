#pragma once

#include "autograd/ops/pool.h"
#include "nn/layer.h"

namespace ocl::nn {

/** Options of MaxPool1d (Size Single), MaxPool2d (Pair) and MaxPool3d (Triple). */
template <class Size>
struct MaxPoolOptions {
  MaxPoolOptions(Size kernel_size = 1) : kernel_size_(kernel_size) {}
  MaxPoolOptions(int kernel_size) : MaxPoolOptions(Size(kernel_size)) {}
  OPTION(Size, kernel_size);
  /** Equal to kernel_size by default. */
  OPTION(std::optional<Size>, stride) = std::nullopt;
  OPTION(Size, padding) = 0;
  OPTION(Size, dilation) = 1;
  OPTION(bool, return_indices) = false;
  OPTION(bool, ceil_mode) = false;
  OPTION_LIST(1, kernel_size_, stride_, padding_, dilation_, return_indices_, ceil_mode_)
};

template <class Size>
struct AdaptiveMaxPoolOptions {
  AdaptiveMaxPoolOptions(Size output_size = 1) : output_size_(output_size) {}
  AdaptiveMaxPoolOptions(int output_size) : AdaptiveMaxPoolOptions(Size(output_size)) {}
  OPTION(Size, output_size);
  OPTION(bool, return_indices) = false;
  OPTION_LIST(1, output_size_, return_indices_)
};

/** A layer of maxima, which may give their places too. */
class PoolOfMaxima : public Module {
 public:
  /** The maxima; with return_indices, also their places. */
  virtual TensorList maxima(const Tensor& x) const = 0;
  /** The maxima alone. */
  Tensor forward(const Tensor& x) override { return maxima(x)[0]; }
};

// torch.nn.MaxPool1d, MaxPool2d and MaxPool3d, and their AdaptiveMaxPool.
#define MAX_POOL(Class, function, Size)                                                             \
  class Class : public Layer<Class, MaxPoolOptions<Size>, PoolOfMaxima> {                           \
   public:                                                                                          \
    HOLDER(Class, Layer)                                                                            \
    explicit Class(Options options) : Layer(with_stride(std::move(options))) {}                     \
    TensorList maxima(const Tensor& x) const override {                                             \
      const Options o = with_stride(options());                                                     \
      if (o.return_indices())                                                                       \
        return function##_with_indices(x, o.kernel_size(), *o.stride(), o.padding(), o.dilation(),  \
                                       o.ceil_mode());                                              \
      return {function(x, o.kernel_size(), *o.stride(), o.padding(), o.dilation(), o.ceil_mode())}; \
    }                                                                                               \
    std::string extra_repr() const override { return pool_repr(options()); }                        \
  };
#define ADAPTIVE_MAX_POOL(Class, function, Size)                                                          \
  class Class : public Layer<Class, AdaptiveMaxPoolOptions<Size>, PoolOfMaxima> {                         \
   public:                                                                                                \
    using Layer::Layer;                                                                                   \
    TensorList maxima(const Tensor& x) const override {                                                   \
      const Options o = options();                                                                        \
      if (o.return_indices()) return function##_with_indices(x, o.output_size());                         \
      return {function(x, o.output_size())};                                                              \
    }                                                                                                     \
    std::string extra_repr() const override { return "output_size=" + repr_of(options().output_size()); } \
  };

template <class Options>
Options with_stride(Options options) {
  if (!options.stride()) options.stride(options.kernel_size());
  return options;
}

template <class Size>
std::string pool_repr(const MaxPoolOptions<Size>& o) {
  return dlprim::concat("kernel_size=", repr_of(o.kernel_size()), ", stride=", repr_of(o.stride()),
                        ", padding=", repr_of(o.padding()), ", dilation=", repr_of(o.dilation()),
                        ", ceil_mode=", repr_of(o.ceil_mode()));
}

MAX_POOL(MaxPool1d, max_pool1d, Single)
MAX_POOL(MaxPool2d, max_pool2d, Pair)
MAX_POOL(MaxPool3d, max_pool3d, Triple)
ADAPTIVE_MAX_POOL(AdaptiveMaxPool1d, adaptive_max_pool1d, Single)
ADAPTIVE_MAX_POOL(AdaptiveMaxPool2d, adaptive_max_pool2d, AdaptiveSize)
ADAPTIVE_MAX_POOL(AdaptiveMaxPool3d, adaptive_max_pool3d, AdaptiveSize3d)
#undef MAX_POOL
#undef ADAPTIVE_MAX_POOL

struct AvgPool1dOptions {
  AvgPool1dOptions(Extents<1> kernel_size = 1) : kernel_size_(kernel_size) {}
  AvgPool1dOptions(int kernel_size) : AvgPool1dOptions(Extents<1>(kernel_size)) {}
  OPTION(Extents<1>, kernel_size);
  OPTION(std::optional<Extents<1>>, stride) = std::nullopt;
  OPTION(Extents<1>, padding) = 0;
  OPTION(bool, ceil_mode) = false;
  OPTION(bool, count_include_pad) = true;
  OPTION_LIST(1, kernel_size_, stride_, padding_, ceil_mode_, count_include_pad_)
};
/** torch.nn.AvgPool1d. */
class AvgPool1d : public Layer<AvgPool1d, AvgPool1dOptions> {
 public:
  HOLDER(AvgPool1d, Layer)
  explicit AvgPool1d(Options options) : Layer(with_stride(std::move(options))) {}
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;
};

/** Options of AvgPool2d (Size Pair) and AvgPool3d (Triple). */
template <class Size>
struct AvgPoolOptions {
  AvgPoolOptions(Size kernel_size = 1) : kernel_size_(kernel_size) {}
  AvgPoolOptions(int kernel_size) : AvgPoolOptions(Size(kernel_size)) {}
  OPTION(Size, kernel_size);
  OPTION(std::optional<Size>, stride) = std::nullopt;
  OPTION(Size, padding) = 0;
  OPTION(bool, ceil_mode) = false;
  OPTION(bool, count_include_pad) = true;
  OPTION(std::optional<std::int64_t>, divisor_override) = std::nullopt;
  OPTION_LIST(1, kernel_size_, stride_, padding_, ceil_mode_, count_include_pad_, divisor_override_)
};
using AvgPool2dOptions = AvgPoolOptions<Pair>;
using AvgPool3dOptions = AvgPoolOptions<Triple>;
/** torch.nn.AvgPool2d. */
class AvgPool2d : public Layer<AvgPool2d, AvgPool2dOptions> {
 public:
  HOLDER(AvgPool2d, Layer)
  explicit AvgPool2d(Options options) : Layer(with_stride(std::move(options))) {}
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;
};
/** torch.nn.AvgPool3d. */
class AvgPool3d : public Layer<AvgPool3d, AvgPool3dOptions> {
 public:
  HOLDER(AvgPool3d, Layer)
  explicit AvgPool3d(Options options) : Layer(with_stride(std::move(options))) {}
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;
};

template <class Size>
struct AdaptiveAvgPoolOptions {
  AdaptiveAvgPoolOptions(Size output_size = 1) : output_size_(output_size) {}
  AdaptiveAvgPoolOptions(int output_size) : AdaptiveAvgPoolOptions(Size(output_size)) {}
  OPTION(Size, output_size);
  OPTION_LIST(1, output_size_)
};
/** torch.nn.AdaptiveAvgPool1d. */
class AdaptiveAvgPool1d : public Layer<AdaptiveAvgPool1d, AdaptiveAvgPoolOptions<Single>> {
 public:
  using Layer::Layer;
  Tensor forward(const Tensor& x) override { return adaptive_avg_pool1d(x, options().output_size()); }
};
/** torch.nn.AdaptiveAvgPool2d. */
class AdaptiveAvgPool2d : public Layer<AdaptiveAvgPool2d, AdaptiveAvgPoolOptions<AdaptiveSize>> {
 public:
  using Layer::Layer;
  Tensor forward(const Tensor& x) override { return adaptive_avg_pool2d(x, options().output_size()); }
};

/** torch.nn.AdaptiveAvgPool3d. */
class AdaptiveAvgPool3d : public Layer<AdaptiveAvgPool3d, AdaptiveAvgPoolOptions<AdaptiveSize3d>> {
 public:
  using Layer::Layer;
  Tensor forward(const Tensor& x) override { return adaptive_avg_pool3d(x, options().output_size()); }
};

/** Options of LPPool1d (Size Single), LPPool2d (Pair) and LPPool3d (Triple). */
template <class Size>
struct LPPoolOptions {
  LPPoolOptions() = default;
  LPPoolOptions(double norm_type, Size kernel_size) : norm_type_(norm_type), kernel_size_(kernel_size) {}
  OPTION(Scalar, norm_type) = 2.0;
  OPTION(Size, kernel_size) = 1;
  /** Equal to kernel_size by default. */
  OPTION(std::optional<Size>, stride) = std::nullopt;
  OPTION(bool, ceil_mode) = false;
  OPTION_LIST(2, norm_type_, kernel_size_, stride_, ceil_mode_)
};
// torch.nn.LPPool1d, LPPool2d and LPPool3d.
#define LP_POOL(Class, function, Size)                                                      \
  class Class : public Layer<Class, LPPoolOptions<Size>> {                                  \
   public:                                                                                  \
    using Layer::Layer;                                                                     \
    Tensor forward(const Tensor& x) override {                                              \
      const Options o = options();                                                          \
      return function(x, o.norm_type().real(), o.kernel_size(), o.stride(), o.ceil_mode()); \
    }                                                                                       \
  };
LP_POOL(LPPool1d, lp_pool1d, Single)
LP_POOL(LPPool2d, lp_pool2d, Pair)
LP_POOL(LPPool3d, lp_pool3d, Triple)
#undef LP_POOL

}  // namespace ocl::nn
