#pragma once

#include "nn/modules/activation.h"
#include "nn/modules/basic.h"
#include "nn/modules/loss.h"
#include "nn/modules/norm.h"
#include "nn/modules/pool.h"
#include "nn/modules/resample.h"

/** \file libtorch's constants, and its names of options that several classes share here. */

namespace ocl {

// Values of options that have names in Python.
inline constexpr const char *kLinear = "linear", *kSigmoid = "sigmoid", *kTanh = "tanh", *kReLU = "relu",
                            *kGELU = "gelu", *kLeakyReLU = "leaky_relu", *kNearest = "nearest",
                            *kBilinear = "bilinear", *kBicubic = "bicubic", *kTrilinear = "trilinear",
                            *kArea = "area", *kConstant = "constant", *kReflect = "reflect",
                            *kReplicate = "replicate", *kCircular = "circular", *kZeros = "zeros",
                            *kBorder = "border", *kReflection = "reflection", *kSame = "same",
                            *kValid = "valid";
/** The modes of init::kaiming_uniform_. */
inline constexpr bool kFanIn = false, kFanOut = true;

}  // namespace ocl

namespace ocl::nn {

using BatchNorm1dOptions = BatchNormOptions;
using BatchNorm2dOptions = BatchNormOptions;
using BatchNorm3dOptions = BatchNormOptions;
using InstanceNorm1dOptions = InstanceNormOptions;
using InstanceNorm2dOptions = InstanceNormOptions;
using InstanceNorm3dOptions = InstanceNormOptions;

using MaxPool1dOptions = MaxPoolOptions<Single>;
using MaxPool2dOptions = MaxPoolOptions<Pair>;
using MaxPool3dOptions = MaxPoolOptions<Triple>;
using AdaptiveMaxPool1dOptions = AdaptiveMaxPoolOptions<Single>;
using AdaptiveMaxPool2dOptions = AdaptiveMaxPoolOptions<AdaptiveSize>;
using AdaptiveMaxPool3dOptions = AdaptiveMaxPoolOptions<AdaptiveSize3d>;
using AdaptiveAvgPool1dOptions = AdaptiveAvgPoolOptions<Single>;
using AdaptiveAvgPool2dOptions = AdaptiveAvgPoolOptions<AdaptiveSize>;
using AdaptiveAvgPool3dOptions = AdaptiveAvgPoolOptions<AdaptiveSize3d>;
using LPPool1dOptions = LPPoolOptions<Single>;
using LPPool2dOptions = LPPoolOptions<Pair>;
using LPPool3dOptions = LPPoolOptions<Triple>;

using ZeroPad1dOptions = PaddingOptions<1>;
using ZeroPad2dOptions = PaddingOptions<2>;
using ZeroPad3dOptions = PaddingOptions<3>;
using ReflectionPad1dOptions = PaddingOptions<1>;
using ReflectionPad2dOptions = PaddingOptions<2>;
using ReflectionPad3dOptions = PaddingOptions<3>;
using ReplicationPad1dOptions = PaddingOptions<1>;
using ReplicationPad2dOptions = PaddingOptions<2>;
using ReplicationPad3dOptions = PaddingOptions<3>;

using ReLUOptions = InplaceOptions;
using ReLU6Options = InplaceOptions;
using SELUOptions = InplaceOptions;
using SoftminOptions = SoftmaxOptions;
using LogSoftmaxOptions = SoftmaxOptions;
using Dropout2dOptions = DropoutOptions;
using Dropout3dOptions = DropoutOptions;
using AlphaDropoutOptions = DropoutOptions;
using FeatureAlphaDropoutOptions = DropoutOptions;

using L1LossOptions = ReductionOptions;
using MSELossOptions = ReductionOptions;
using SoftMarginLossOptions = ReductionOptions;
using MultiLabelMarginLossOptions = ReductionOptions;
using MultiLabelSoftMarginLossOptions = BCELossOptions;
using MarginRankingLossOptions = MarginLossOptions;
using CosineEmbeddingLossOptions = MarginLossOptions;

}  // namespace ocl::nn
