#pragma once

#include "nn/functional.h"
#include "nn/modules/activation.h"
#include "nn/modules/distance.h"
#include "nn/modules/loss.h"
#include "nn/modules/norm.h"
#include "nn/modules/pool.h"
#include "nn/modules/resample.h"

/**
 * \file The functions of torch::nn::functional with libtorch's structs of options in the place of single
 * arguments: `F::max_pool2d(x, F::MaxPool2dFuncOptions(2).stride(1))`.
 */

namespace ocl::nn::functional {

/** Options that are given as such: no number or list becomes one, as those are an operator's own arguments.
 */
template <class Options>
class Given {
 public:
  template <class T, class = std::enable_if_t<std::is_same_v<T, Options>>>
  Given(const T& options) : options_(&options) {}
  const Options& operator*() const { return *options_; }
  const Options* operator->() const { return options_; }

 private:
  const Options* options_;
};

// The functions that modules compute: a module's options are the function's.
#define FUNCTION(function, Name, Module)         \
  using ocl::function;                           \
  using Name##FuncOptions = nn::Module::Options; \
  Tensor function(const Tensor& input, Given<Name##FuncOptions> options);
#define FUNCTION_OF_TWO(function, Name, Module)  \
  using ocl::function;                           \
  using Name##FuncOptions = nn::Module::Options; \
  Tensor function(const Tensor& first, const Tensor& second, Given<Name##FuncOptions> options);
#define FUNCTION_OF_THREE(function, Name, Module)                                 \
  using ocl::function;                                                            \
  using Name##FuncOptions = nn::Module::Options;                                  \
  Tensor function(const Tensor& first, const Tensor& second, const Tensor& third, \
                  Given<Name##FuncOptions> options);
#include "nn/functional_options.def"

// The functions that have options of their own, with what modules keep in their tensors and their mode.

template <class Size, class Padding>
struct ConvFuncOptions {
  OPTION(Tensor, bias);
  OPTION(Size, stride) = 1;
  OPTION(Padding, padding) = 0;
  OPTION(Size, dilation) = 1;
  OPTION(std::int64_t, groups) = 1;
};
using Conv1dFuncOptions = ConvFuncOptions<Single, Padding1d>;
using Conv2dFuncOptions = ConvFuncOptions<Pair, Padding2d>;
using Conv3dFuncOptions = ConvFuncOptions<Triple, Padding3d>;

template <class Size>
struct ConvTransposeFuncOptions {
  OPTION(Tensor, bias);
  OPTION(Size, stride) = 1;
  OPTION(Size, padding) = 0;
  OPTION(Size, output_padding) = 0;
  OPTION(std::int64_t, groups) = 1;
  OPTION(Size, dilation) = 1;
};
using ConvTranspose1dFuncOptions = ConvTransposeFuncOptions<Single>;
using ConvTranspose2dFuncOptions = ConvTransposeFuncOptions<Pair>;
using ConvTranspose3dFuncOptions = ConvTransposeFuncOptions<Triple>;

#define CONVOLUTION(function, Options) \
  using ocl::function;                 \
  Tensor function(const Tensor& input, const Tensor& weight, Given<Options> options);
CONVOLUTION(conv1d, Conv1dFuncOptions)
CONVOLUTION(conv2d, Conv2dFuncOptions)
CONVOLUTION(conv3d, Conv3dFuncOptions)
CONVOLUTION(conv_transpose1d, ConvTranspose1dFuncOptions)
CONVOLUTION(conv_transpose2d, ConvTranspose2dFuncOptions)
CONVOLUTION(conv_transpose3d, ConvTranspose3dFuncOptions)
#undef CONVOLUTION

/** Options of softmax, log_softmax and softmin. */
struct SoftmaxFuncOptions {
  SoftmaxFuncOptions(std::int64_t dim) : dim_(dim) {}
  OPTION(std::int64_t, dim);
  OPTION(std::optional<DType>, dtype) = std::nullopt;
};
using LogSoftmaxFuncOptions = SoftmaxFuncOptions;
using SoftminFuncOptions = SoftmaxFuncOptions;
using ocl::log_softmax;
using ocl::softmax;
using ocl::softmin;
Tensor softmax(const Tensor& input, Given<SoftmaxFuncOptions> options);
Tensor log_softmax(const Tensor& input, Given<LogSoftmaxFuncOptions> options);
Tensor softmin(const Tensor& input, Given<SoftminFuncOptions> options);

struct GumbelSoftmaxFuncOptions {
  OPTION(double, tau) = 1;
  OPTION(bool, hard) = false;
  OPTION(std::int64_t, dim) = -1;
};
using ocl::gumbel_softmax;
Tensor gumbel_softmax(const Tensor& logits, Given<GumbelSoftmaxFuncOptions> options);

/** Options of dropout, dropout2d and dropout3d. */
struct DropoutFuncOptions {
  OPTION(double, p) = 0.5;
  OPTION(bool, training) = true;
  OPTION(bool, inplace) = false;
};
using Dropout2dFuncOptions = DropoutFuncOptions;
using Dropout3dFuncOptions = DropoutFuncOptions;
/** Options of alpha_dropout and feature_alpha_dropout: as in libtorch these do not train by default. */
struct AlphaDropoutFuncOptions {
  OPTION(double, p) = 0.5;
  OPTION(bool, training) = false;
  OPTION(bool, inplace) = false;
};
using FeatureAlphaDropoutFuncOptions = AlphaDropoutFuncOptions;
using ocl::dropout;
using ocl::dropout2d;
Tensor dropout(const Tensor& input, Given<DropoutFuncOptions> options);
Tensor dropout2d(const Tensor& input, Given<Dropout2dFuncOptions> options);
Tensor dropout3d(const Tensor& input, Given<Dropout3dFuncOptions> options);
Tensor alpha_dropout(const Tensor& input, Given<AlphaDropoutFuncOptions> options);
Tensor feature_alpha_dropout(const Tensor& input, Given<FeatureAlphaDropoutFuncOptions> options);

struct RReLUFuncOptions {
  OPTION(double, lower) = 1.0 / 8;
  OPTION(double, upper) = 1.0 / 3;
  OPTION(bool, training) = false;
  OPTION(bool, inplace) = false;
};
using ocl::rrelu;
Tensor rrelu(const Tensor& input, Given<RReLUFuncOptions> options);

struct BatchNormFuncOptions {
  OPTION(Tensor, weight);
  OPTION(Tensor, bias);
  OPTION(bool, training) = false;
  OPTION(double, momentum) = 0.1;
  OPTION(double, eps) = 1e-5;
};
struct InstanceNormFuncOptions {
  OPTION(Tensor, running_mean);
  OPTION(Tensor, running_var);
  OPTION(Tensor, weight);
  OPTION(Tensor, bias);
  OPTION(bool, use_input_stats) = true;
  OPTION(double, momentum) = 0.1;
  OPTION(double, eps) = 1e-5;
};
struct LayerNormFuncOptions {
  LayerNormFuncOptions(std::vector<std::int64_t> normalized_shape)
      : normalized_shape_(std::move(normalized_shape)) {}
  OPTION(std::vector<std::int64_t>, normalized_shape);
  OPTION(Tensor, weight);
  OPTION(Tensor, bias);
  OPTION(double, eps) = 1e-5;
};
struct GroupNormFuncOptions {
  GroupNormFuncOptions(std::int64_t num_groups) : num_groups_(num_groups) {}
  OPTION(std::int64_t, num_groups);
  OPTION(Tensor, weight);
  OPTION(Tensor, bias);
  OPTION(double, eps) = 1e-5;
};
struct NormalizeFuncOptions {
  OPTION(double, p) = 2;
  OPTION(std::int64_t, dim) = 1;
  OPTION(double, eps) = 1e-12;
};
using ocl::batch_norm;
using ocl::group_norm;
using ocl::instance_norm;
using ocl::layer_norm;
using ocl::normalize;
Tensor batch_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                  Given<BatchNormFuncOptions> options);
Tensor instance_norm(const Tensor& input, Given<InstanceNormFuncOptions> options);
Tensor layer_norm(const Tensor& input, Given<LayerNormFuncOptions> options);
Tensor group_norm(const Tensor& input, Given<GroupNormFuncOptions> options);
Tensor normalize(const Tensor& input, Given<NormalizeFuncOptions> options);

struct PadFuncOptions {
  PadFuncOptions(std::vector<std::int64_t> pad) : pad_(std::move(pad)) {}
  OPTION(std::vector<std::int64_t>, pad);
  OPTION(std::string, mode) = "constant";
  OPTION(double, value) = 0;
};
/** `size` and `scale_factor`: an entry for every spatial dimension, one of the two. */
struct InterpolateFuncOptions {
  OPTION(std::vector<std::int64_t>, size);
  OPTION(std::vector<double>, scale_factor);
  OPTION(std::string, mode) = "nearest";
  OPTION(std::optional<bool>, align_corners) = std::nullopt;
  OPTION(std::optional<bool>, recompute_scale_factor) = std::nullopt;
  OPTION(bool, antialias) = false;
};
struct GridSampleFuncOptions {
  OPTION(std::string, mode) = "bilinear";
  OPTION(std::string, padding_mode) = "zeros";
  OPTION(std::optional<bool>, align_corners) = std::nullopt;
};
using ocl::grid_sample;
using ocl::interpolate;
using ocl::pad;
Tensor pad(const Tensor& input, Given<PadFuncOptions> options);
Tensor interpolate(const Tensor& input, Given<InterpolateFuncOptions> options);
Tensor grid_sample(const Tensor& input, const Tensor& grid, Given<GridSampleFuncOptions> options);

struct EmbeddingFuncOptions {
  OPTION(std::optional<std::int64_t>, padding_idx) = std::nullopt;
};
struct EmbeddingBagFuncOptions {
  OPTION(Tensor, offsets);
  OPTION(std::string, mode) = "mean";
  OPTION(Tensor, per_sample_weights);
  OPTION(bool, include_last_offset) = false;
  OPTION(std::optional<std::int64_t>, padding_idx) = std::nullopt;
};
using ocl::embedding;
using ocl::embedding_bag;
Tensor embedding(const Tensor& input, const Tensor& weight, Given<EmbeddingFuncOptions> options);
Tensor embedding_bag(const Tensor& input, const Tensor& weight, Given<EmbeddingBagFuncOptions> options);

}  // namespace ocl::nn::functional
