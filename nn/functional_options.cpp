#include "nn/functional_options.h"

#include "nn/modules/basic.h"

namespace ocl::nn::functional {
namespace {

/** The result of a module without tensors in that mode. */
template <class Module, class Options>
Tensor computed(const Tensor& input, const Options& given, bool training = true) {
  Module module{typename Module::Options(given)};
  module.set_training(training);
  return module.forward(input);
}

/** The options of a layer that drops. */
template <class Options>
DropoutOptions dropping(const Options& options) {
  return DropoutOptions(options.p()).inplace(options.inplace());
}

}  // namespace

#define FUNCTION(function, Name, Module)                                   \
  Tensor function(const Tensor& input, Given<Name##FuncOptions> options) { \
    return nn::Module(*options).forward(input);                            \
  }
#define FUNCTION_OF_TWO(function, Name, Module)                                                  \
  Tensor function(const Tensor& first, const Tensor& second, Given<Name##FuncOptions> options) { \
    return nn::Module(*options).forward(first, second);                                          \
  }
#define FUNCTION_OF_THREE(function, Name, Module)                                 \
  Tensor function(const Tensor& first, const Tensor& second, const Tensor& third, \
                  Given<Name##FuncOptions> options) {                             \
    return nn::Module(*options).forward(first, second, third);                    \
  }
#include "nn/functional_options.def"

#define CONVOLUTION(function, Options)                                                                     \
  Tensor function(const Tensor& input, const Tensor& weight, Given<Options> o) {                           \
    return ocl::function(input, weight, o->bias(), o->stride(), o->padding(), o->dilation(), o->groups()); \
  }
CONVOLUTION(conv1d, Conv1dFuncOptions)
CONVOLUTION(conv2d, Conv2dFuncOptions)
CONVOLUTION(conv3d, Conv3dFuncOptions)
#undef CONVOLUTION
#define CONVOLUTION(function, Options)                                                             \
  Tensor function(const Tensor& input, const Tensor& weight, Given<Options> o) {                   \
    return ocl::function(input, weight, o->bias(), o->stride(), o->padding(), o->output_padding(), \
                         o->groups(), o->dilation());                                              \
  }
CONVOLUTION(conv_transpose1d, ConvTranspose1dFuncOptions)
CONVOLUTION(conv_transpose2d, ConvTranspose2dFuncOptions)
CONVOLUTION(conv_transpose3d, ConvTranspose3dFuncOptions)
#undef CONVOLUTION

Tensor softmax(const Tensor& input, Given<SoftmaxFuncOptions> o) {
  return ocl::softmax(input, o->dim(), o->dtype());
}
Tensor log_softmax(const Tensor& input, Given<LogSoftmaxFuncOptions> o) {
  return ocl::log_softmax(input, o->dim(), o->dtype());
}
Tensor softmin(const Tensor& input, Given<SoftminFuncOptions> o) {
  return ocl::softmin(input, o->dim(), o->dtype());
}
Tensor gumbel_softmax(const Tensor& logits, Given<GumbelSoftmaxFuncOptions> o) {
  return ocl::gumbel_softmax(logits, o->tau(), o->hard(), 1e-10, o->dim());
}

Tensor dropout(const Tensor& input, Given<DropoutFuncOptions> o) {
  return computed<Dropout>(input, dropping(*o), o->training());
}
Tensor dropout2d(const Tensor& input, Given<Dropout2dFuncOptions> o) {
  return computed<Dropout2d>(input, dropping(*o), o->training());
}
Tensor dropout3d(const Tensor& input, Given<Dropout3dFuncOptions> o) {
  return computed<Dropout3d>(input, dropping(*o), o->training());
}
Tensor alpha_dropout(const Tensor& input, Given<AlphaDropoutFuncOptions> o) {
  return computed<AlphaDropout>(input, dropping(*o), o->training());
}
Tensor feature_alpha_dropout(const Tensor& input, Given<FeatureAlphaDropoutFuncOptions> o) {
  return computed<FeatureAlphaDropout>(input, dropping(*o), o->training());
}
Tensor rrelu(const Tensor& input, Given<RReLUFuncOptions> o) {
  return computed<RReLU>(input, RReLUOptions(o->lower(), o->upper()).inplace(o->inplace()), o->training());
}

Tensor batch_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                  Given<BatchNormFuncOptions> o) {
  return ocl::batch_norm(input, running_mean, running_var, o->weight(), o->bias(), o->training(),
                         o->momentum(), o->eps());
}
Tensor instance_norm(const Tensor& input, Given<InstanceNormFuncOptions> o) {
  return ocl::instance_norm(input, o->running_mean(), o->running_var(), o->weight(), o->bias(),
                            o->use_input_stats(), o->momentum(), o->eps());
}
Tensor layer_norm(const Tensor& input, Given<LayerNormFuncOptions> o) {
  return ocl::layer_norm(input, o->normalized_shape(), o->weight(), o->bias(), o->eps());
}
Tensor group_norm(const Tensor& input, Given<GroupNormFuncOptions> o) {
  return ocl::group_norm(input, o->num_groups(), o->weight(), o->bias(), o->eps());
}
Tensor normalize(const Tensor& input, Given<NormalizeFuncOptions> o) {
  return ocl::normalize(input, o->p(), {o->dim()}, o->eps());
}

Tensor pad(const Tensor& input, Given<PadFuncOptions> o) {
  if (o->mode() != "constant") return ocl::pad(input, o->pad(), o->mode());
  return ocl::pad(input, o->pad(), o->mode(), Scalar(o->value()));
}
Tensor interpolate(const Tensor& input, Given<InterpolateFuncOptions> o) {
  return ocl::interpolate(input, o->size(), o->scale_factor(), o->mode(), o->align_corners(),
                          o->recompute_scale_factor(), o->antialias());
}
Tensor grid_sample(const Tensor& input, const Tensor& grid, Given<GridSampleFuncOptions> o) {
  return ocl::grid_sample(input, grid, o->mode(), o->padding_mode(), o->align_corners());
}

Tensor embedding(const Tensor& input, const Tensor& weight, Given<EmbeddingFuncOptions> o) {
  return ocl::embedding(input, weight, o->padding_idx());
}
Tensor embedding_bag(const Tensor& input, const Tensor& weight, Given<EmbeddingBagFuncOptions> o) {
  return ocl::embedding_bag(input, weight, o->offsets(), o->mode(), o->per_sample_weights(),
                            o->include_last_offset(), o->padding_idx());
}

}  // namespace ocl::nn::functional
