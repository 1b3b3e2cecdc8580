#pragma once

#include "autograd/ops/pad.h"
#include "autograd/ops/resample.h"
#include "nn/layer.h"

namespace ocl::nn {

/** One entry for every spatial dimension, or one that stands for all of them. */
template <class T>
using PerDimension = std::optional<std::variant<T, std::vector<T>>>;

struct UpsampleOptions {
  OPTION(PerDimension<std::int64_t>, size) = std::nullopt;
  OPTION(PerDimension<double>, scale_factor) = std::nullopt;
  OPTION(std::string, mode) = "nearest";
  OPTION(std::optional<bool>, align_corners) = std::nullopt;
  OPTION(std::optional<bool>, recompute_scale_factor) = std::nullopt;
  OPTION_LIST(0, size_, scale_factor_, mode_, align_corners_, recompute_scale_factor_)
};
/** torch.nn.Upsample; see ocl::interpolate. */
class Upsample : public Layer<Upsample, UpsampleOptions> {
 public:
  using Layer::Layer;
  Tensor forward(const Tensor& x) override;
  std::string extra_repr() const override;
};

// torch.nn.PixelShuffle, PixelUnshuffle and ChannelShuffle: one number each.
#define SHUFFLE(Class, function, number)                                                 \
  struct Class##Options {                                                                \
    Class##Options(std::int64_t number = 1) : number##_(number) {}                       \
    OPTION(std::int64_t, number);                                                        \
    OPTION_LIST(1, number##_)                                                            \
  };                                                                                     \
  class Class : public Layer<Class, Class##Options> {                                    \
   public:                                                                               \
    using Layer::Layer;                                                                  \
    Tensor forward(const Tensor& x) override { return function(x, options().number()); } \
  };
SHUFFLE(PixelShuffle, pixel_shuffle, upscale_factor)
SHUFFLE(PixelUnshuffle, pixel_unshuffle, downscale_factor)
SHUFFLE(ChannelShuffle, channel_shuffle, groups)
#undef SHUFFLE

struct UnfoldOptions {
  UnfoldOptions(Pair kernel_size = 1) : kernel_size_(kernel_size) {}
  UnfoldOptions(int kernel_size) : UnfoldOptions(Pair(kernel_size)) {}
  OPTION(Pair, kernel_size);
  OPTION(Pair, dilation) = 1;
  OPTION(Pair, padding) = 0;
  OPTION(Pair, stride) = 1;
  OPTION_LIST(1, kernel_size_, dilation_, padding_, stride_)
};
/** torch.nn.Unfold; see ocl::unfold. */
class Unfold : public Layer<Unfold, UnfoldOptions> {
 public:
  using Layer::Layer;
  Tensor forward(const Tensor& x) override;
};

struct FoldOptions {
  FoldOptions() = default;
  FoldOptions(Pair output_size, Pair kernel_size) : output_size_(output_size), kernel_size_(kernel_size) {}
  OPTION(Pair, output_size) = 1;
  OPTION(Pair, kernel_size) = 1;
  OPTION(Pair, dilation) = 1;
  OPTION(Pair, padding) = 0;
  OPTION(Pair, stride) = 1;
  OPTION_LIST(2, output_size_, kernel_size_, dilation_, padding_, stride_)
};
/** torch.nn.Fold; see ocl::fold. */
class Fold : public Layer<Fold, FoldOptions> {
 public:
  using Layer::Layer;
  Tensor forward(const Tensor& x) override;
};

/** Options of the padding layers of `axes` dimensions: two numbers a dimension, from the last one on. */
template <int axes>
struct PaddingOptions {
  PaddingOptions(Extents<2 * axes> padding = 0) : padding_(padding) {}
  PaddingOptions(int all) : padding_(all) {}
  OPTION(Extents<2 * axes>, padding);
  OPTION_LIST(1, padding_)
};

template <int axes>
struct ConstantPadOptions {
  ConstantPadOptions(Extents<2 * axes> padding = 0, double value = 0) : padding_(padding), value_(value) {}
  ConstantPadOptions(int all, double value) : padding_(all), value_(value) {}
  OPTION(Extents<2 * axes>, padding);
  OPTION(double, value);
  OPTION_LIST(2, padding_, value_)
};
using ConstantPad1dOptions = ConstantPadOptions<1>;
using ConstantPad2dOptions = ConstantPadOptions<2>;
using ConstantPad3dOptions = ConstantPadOptions<3>;

// torch.nn.ConstantPad1d, ConstantPad2d and ConstantPad3d; see ocl::pad.
#define CONSTANT_PAD(Class, axes)                                             \
  class Class : public Layer<Class, ConstantPadOptions<axes>> {               \
   public:                                                                    \
    using Layer::Layer;                                                       \
    Tensor forward(const Tensor& x) override {                                \
      const Options o = options();                                            \
      const auto padding = o.padding();                                       \
      return pad(x, {padding.begin(), padding.end()}, "constant", o.value()); \
    }                                                                         \
  };
CONSTANT_PAD(ConstantPad1d, 1)
CONSTANT_PAD(ConstantPad2d, 2)
CONSTANT_PAD(ConstantPad3d, 3)
#undef CONSTANT_PAD

// torch.nn.ZeroPad1d and its kin; see ocl::pad.
#define PADDING(Class, axes, mode)                                                   \
  class Class : public Layer<Class, PaddingOptions<axes>> {                          \
   public:                                                                           \
    using Layer::Layer;                                                              \
    Tensor forward(const Tensor& x) override {                                       \
      const auto padding = options().padding();                                      \
      return pad(x, {padding.begin(), padding.end()}, mode);                         \
    }                                                                                \
    std::string extra_repr() const override { return repr_of(options().padding()); } \
  };
#include "nn/modules/paddings.def"

}  // namespace ocl::nn
