#include "nn/modules/norm.h"

#include "autograd/ops/inplace.h"
#include "autograd/ops/norm.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/views.h"
#include "autograd/tape/tape.h"
#include "dlprim/ops/pointwise/epilogue.h"
#include "nn/init.h"
#include "nn/module_scope.h"

namespace ocl::nn {
namespace {

using dlprim::concat;
using dlprim::require;

void fill_if_there(Tensor& tensor, double value) {
  if (tensor.defined()) init::constant_(tensor, value);
}

void require_rank(const char* layer, const Tensor& x, int least, int most) {
  require(x.dim() >= least && x.dim() <= most, layer, ": expected ", least,
          least == most ? "" : concat("D or ", most), "D input (got ", x.dim(), "D input)");
}

}  // namespace

void RunningNorm::make_tensors(const char* layer, std::int64_t num_features, bool has_weight, bool has_bias,
                               bool track_running_stats) {
  require(num_features >= 0, layer, ": num_features must not be negative, got ", num_features);
  const auto wanted = [&](bool yes) { return yes ? made({num_features}) : Tensor(); };
  register_parameter("weight", weight, wanted(has_weight));
  register_parameter("bias", bias, wanted(has_bias));
  register_buffer("running_mean", running_mean, wanted(track_running_stats));
  register_buffer("running_var", running_var, wanted(track_running_stats));
  register_buffer("num_batches_tracked", num_batches_tracked,
                  track_running_stats ? made({}, DType::int64) : Tensor());
}

void RunningNorm::reset_running_stats() {
  fill_if_there(running_mean, 0);
  fill_if_there(running_var, 1);
  fill_if_there(num_batches_tracked, 0);
}

void RunningNorm::reset_parameters() {
  reset_running_stats();
  fill_if_there(weight, 1);
  fill_if_there(bias, 0);
}

Tensor RunningNorm::normalized_batch(const Tensor& x, const BatchNormOptions& o,
                                     const dlprim::PointwiseOp* activation, const Tensor& addend) {
  const bool tracks = is_training() && o.track_running_stats();
  Tensor mean = held(running_mean), variance = held(running_var), seen = held(num_batches_tracked);
  const bool uses_batch = is_training() || (!mean.defined() && !variance.defined());
  if (is_training() && !tracks) mean = variance = {};
  double momentum = o.momentum().value_or(0);
  if (tracks && seen.defined()) {
    const NoGradGuard no_grad;
    seen.add_(1);
    if (!o.momentum()) momentum = 1 / seen.item<double>();
  }
  if (!activation && !addend.defined())
    return batch_norm(x, mean, variance, held(weight), held(bias), uses_batch, momentum, o.eps());
  return batch_norm_activation(x, mean, variance, held(weight), held(bias), uses_batch, momentum, o.eps(),
                               activation, addend);
}

Tensor RunningNorm::normalized_items(const Tensor& x, const InstanceNormOptions& o, int item_rank) {
  if (x.dim() == item_rank) return squeeze(normalized_items(unsqueeze(x, 0), o, item_rank), 0);
  const Tensor mean = held(running_mean), variance = held(running_var);
  const bool uses_input = is_training() || !o.track_running_stats();
  return instance_norm(x, mean, variance, held(weight), held(bias), uses_input, o.momentum().value_or(0),
                       o.eps());
}

Tensor BatchNorm1d::forward_then(const Tensor& x, const dlprim::PointwiseOp* activation,
                                 const Tensor& addend) {
  require_rank("BatchNorm1d", x, 2, 3);
  return normalized_batch(x, options(), activation, addend);
}

Tensor BatchNorm2d::forward_then(const Tensor& x, const dlprim::PointwiseOp* activation,
                                 const Tensor& addend) {
  require_rank("BatchNorm2d", x, 4, 4);
  return normalized_batch(x, options(), activation, addend);
}

Tensor BatchNorm3d::forward_then(const Tensor& x, const dlprim::PointwiseOp* activation,
                                 const Tensor& addend) {
  require_rank("BatchNorm3d", x, 5, 5);
  return normalized_batch(x, options(), activation, addend);
}

bool runs_as_one(const Module& norm, const Module& activation, bool has_addend) {
  const auto* batch_norm = dynamic_cast<const BatchNorm*>(&norm);
  const dlprim::PointwiseOp* row = batch_norm ? activation.pointwise() : nullptr;
  return row && batch_norm->has_own_forward() && norm.computes_alone() && activation.computes_alone() &&
         dlprim::can_be_epilogue(*row, has_addend);
}

Tensor norm_then(Module& norm, const Tensor& x, Module& activation, const MakeTensor& addend) {
  if (!runs_as_one(norm, activation, addend != nullptr)) {
    Tensor y = norm(x);
    return activation(addend ? y.add_(addend()) : y);
  }
  const Tensor added = addend ? addend() : Tensor();
  const ModuleScope entered(norm, [&] { return x; });
  return dynamic_cast<BatchNorm&>(norm).forward_then(x, activation.pointwise(), added);
}

Tensor norm_then(const Child<Module>& norm, const Tensor& x, const Child<Module>& activation,
                 const MakeTensor& addend) {
  return norm_then(*norm.get(), x, *activation.get(), addend);
}

Tensor InstanceNorm1d::forward(const Tensor& x) {
  require_rank("InstanceNorm1d", x, 2, 3);
  return normalized_items(x, options(), 2);
}

Tensor InstanceNorm2d::forward(const Tensor& x) {
  require_rank("InstanceNorm2d", x, 3, 4);
  return normalized_items(x, options(), 3);
}

Tensor InstanceNorm3d::forward(const Tensor& x) {
  require_rank("InstanceNorm3d", x, 4, 5);
  return normalized_items(x, options(), 4);
}

Tensor CrossMapLRN2d::forward(const Tensor& x) {
  require_rank("CrossMapLRN2d", x, 4, 4);
  return LocalResponseNorm::forward(x);
}

LayerNorm::LayerNorm(const LayerNormOptions& o) : Layer(o) {
  const dlprim::Dims shape(o.normalized_shape());
  register_parameter("weight", weight, o.elementwise_affine() ? made(shape) : Tensor());
  register_parameter("bias", bias, o.elementwise_affine() && o.bias() ? made(shape) : Tensor());
  initialize();
}

void LayerNorm::reset_parameters() {
  fill_if_there(weight, 1);
  fill_if_there(bias, 0);
}

Tensor LayerNorm::forward(const Tensor& x) {
  const LayerNormOptions o = options();
  return layer_norm(x, o.normalized_shape(), held(weight), held(bias), o.eps());
}

std::string LayerNorm::extra_repr() const {
  const LayerNormOptions o = options();
  return concat(repr_of(o.normalized_shape()), ", eps=", repr_of(o.eps()),
                ", elementwise_affine=", repr_of(o.elementwise_affine()),
                ", bias=", repr_of(held(bias).defined()));
}

RMSNorm::RMSNorm(const RMSNormOptions& o) : Layer(o) {
  register_parameter("weight", weight,
                     o.elementwise_affine() ? made(dlprim::Dims(o.normalized_shape())) : Tensor());
  initialize();
}

void RMSNorm::reset_parameters() {
  fill_if_there(weight, 1);
}

Tensor RMSNorm::forward(const Tensor& x) {
  const RMSNormOptions o = options();
  return rms_norm(x, o.normalized_shape(), held(weight), o.eps());
}

std::string RMSNorm::extra_repr() const {
  const RMSNormOptions o = options();
  return concat(repr_of(o.normalized_shape()), ", eps=", repr_of(o.eps()),
                ", elementwise_affine=", repr_of(o.elementwise_affine()));
}

GroupNorm::GroupNorm(const GroupNormOptions& o) : Layer(o) {
  require(o.num_groups() > 0 && o.num_channels() >= 0 && o.num_channels() % o.num_groups() == 0,
          "GroupNorm: num_channels must be divisible by num_groups, got ", o.num_channels(), " and ",
          o.num_groups());
  register_parameter("weight", weight, o.affine() ? made({o.num_channels()}) : Tensor());
  register_parameter("bias", bias, o.affine() && o.bias() ? made({o.num_channels()}) : Tensor());
  initialize();
}

void GroupNorm::reset_parameters() {
  fill_if_there(weight, 1);
  fill_if_there(bias, 0);
}

Tensor GroupNorm::forward(const Tensor& x) {
  const GroupNormOptions o = options();
  return group_norm(x, o.num_groups(), held(weight), held(bias), o.eps());
}

std::string GroupNorm::extra_repr() const {
  const GroupNormOptions o = options();
  return concat(o.num_groups(), ", ", o.num_channels(), ", eps=", repr_of(o.eps()),
                ", affine=", repr_of(o.affine()), ", bias=", repr_of(held(bias).defined()));
}

Tensor LocalResponseNorm::forward(const Tensor& x) {
  const LocalResponseNormOptions o = options();
  return local_response_norm(x, o.size(), o.alpha(), o.beta(), o.k());
}

std::string LocalResponseNorm::extra_repr() const {
  const LocalResponseNormOptions o = options();
  return concat(o.size(), ", alpha=", repr_of(o.alpha()), ", beta=", repr_of(o.beta()),
                ", k=", repr_of(o.k()));
}

}  // namespace ocl::nn
