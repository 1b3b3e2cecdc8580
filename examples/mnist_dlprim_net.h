#pragma once

/**
 * \file The net of examples/mnist.cpp on dlprim alone: forward, backward and optimizer are calls of its plain
 * functions. The caller allocates what they write, and nobody waits: all of it is enqueued to one queue.
 */

#include <cmath>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "dlprim/dlprim.h"

namespace mnist {

using dlprim::Dims;
using dlprim::Queue;
using dlprim::Tensor;
using Parameter = dlprim::OptimizedParameter;  // a tensor with its gradient and its optimizer's states

/** Takes the steps of an optimizer of dlprim's table (dlprim/ops/optim/optimizers.def). */
class Optimizer {
 public:
  Optimizer(Queue& queue, const std::string& name, const dlprim::Options& options,
            std::vector<Parameter> parameters)
      : queue_(queue),
        rule_(dlprim::optimizer_rule(name)),
        options_(dlprim::defaults_of(rule_.options)),
        parameters_(std::move(parameters)) {
    for (const auto& [option, value] : options.values()) options_.set(option.c_str(), value);
    rule_.check(options_);
    for (const dlprim::StateRow& row : rule_.numbers(options_)) numbers_.push_back(*row.initial);
    for (const dlprim::StateRow& row : rule_.tensors(options_))
      for (Parameter& p : parameters_) {
        p.state.push_back(Tensor::empty(queue.device(), p.parameter.shape));
        if (row.initial) dlprim::fill(queue, p.state.back(), *row.initial);
      }
  }

  /** One launch for all parameters. */
  void step() {
    dlprim::fused_step(queue_, pack_, parameters_, rule_.update(options_, numbers_, is_first_));
    is_first_ = false;
  }

 private:
  Queue& queue_;
  const dlprim::OptimizerRule& rule_;
  dlprim::Options options_;
  std::vector<Parameter> parameters_;
  std::vector<double> numbers_;  // such as the number of steps taken
  dlprim::ParameterPack pack_;
  bool is_first_ = true;
};

/** conv 3x3, batch norm, relu, max pool; conv 3x3, max pool, relu; two linear layers with a relu between. */
class Net {
 public:
  Net(Queue& queue, std::uint64_t seed) : queue_(queue), random_{seed} {}
  Net(const Net&) = delete;

  std::vector<Parameter> parameters() const {
    return {conv1, norm_scale, norm_shift, conv2, conv2_bias, fc1, fc1_bias, fc2, fc2_bias};
  }

  /** The logits [N, 10] of images [N, 1, 28, 28]. In training the batch's own statistics count, and what
   * backward needs is kept. */
  Tensor forward(const Tensor& images, bool training) {
    images_ = images;
    convolved1_ = convolution(images, conv1, nullptr);
    activated1_ = normalised(convolved1_, training);
    relu(activated1_);
    std::tie(pooled1_, places1_) = max_pool(activated1_);
    convolved2_ = convolution(pooled1_, conv2, &conv2_bias);
    std::tie(pooled2_, places2_) = max_pool(convolved2_);
    relu(pooled2_);
    features_ = pooled2_.reshaped({images.size(0), 64 * 5 * 5});
    hidden_ = linear(features_, fc1, fc1_bias);
    relu(hidden_);
    return linear(hidden_, fc2, fc2_bias);
  }

  /** Writes the gradients of all parameters, from that of the logits of the last forward in training. */
  void backward(const Tensor& dlogits) {
    const Tensor dhidden = linear_backward(dlogits, hidden_, fc2, fc2_bias);
    relu_backward(dhidden, hidden_);
    const Tensor dfeatures = linear_backward(dhidden, features_, fc1, fc1_bias);
    relu_backward(dfeatures, features_);
    const Tensor dconvolved2 = like(convolved2_);
    dlprim::max_pool2d_backward(queue_, dfeatures.reshaped(pooled2_.shape), places2_, window, dconvolved2);
    const Tensor dpooled1 = like(pooled1_);
    dlprim::conv2d_backward_weight(queue_, dconvolved2, pooled1_, {}, conv2.gradient);
    dlprim::conv2d_backward_bias(queue_, dconvolved2, conv2_bias.gradient);
    dlprim::conv2d_backward_data(queue_, dconvolved2, conv2.parameter, {}, dpooled1);
    const Tensor dactivated1 = like(activated1_), dconvolved1 = like(convolved1_);
    dlprim::max_pool2d_backward(queue_, dpooled1, places1_, window, dactivated1);
    relu_backward(dactivated1, activated1_);
    dlprim::batch_norm_backward(queue_, dactivated1, convolved1_, mean_, invstd_, &norm_scale.parameter, true,
                                &dconvolved1, &norm_scale.gradient, &norm_shift.gradient);
    dlprim::conv2d_backward_weight(queue_, dconvolved1, images_, {}, conv1.gradient);
  }

 private:
  inline static const dlprim::Pool2dGeometry window{{2, 2}, {2, 2}};

  Tensor empty(const Dims& shape, dlprim::DType dtype = dlprim::DType::float32) const {
    return Tensor::empty(queue_.device(), shape, dtype);
  }
  Tensor like(const Tensor& x) const { return empty(x.shape); }

  /** Uniform in +-1 / sqrt(inputs of an output), as PyTorch's layers begin. */
  Parameter random(const Dims& shape, int inputs) {
    const Parameter p{empty(shape), empty(shape), {}};
    const double bound = 1 / std::sqrt(inputs);
    dlprim::random_uniform(queue_, p.parameter, -bound, bound, random_);
    random_.offset += dlprim::philox_increment(p.parameter.numel());
    return p;
  }
  Tensor constant(const Dims& shape, double value) const {
    const Tensor t = empty(shape);
    dlprim::fill(queue_, t, value);
    return t;
  }

  Tensor convolution(const Tensor& x, const Parameter& weight, const Parameter* bias) const {
    const Tensor y = empty(dlprim::conv2d_output_shape(x.shape, weight.parameter.shape, {}));
    dlprim::conv2d_forward(queue_, x, weight.parameter, bias ? &bias->parameter : nullptr, {}, y);
    return y;
  }

  Tensor normalised(const Tensor& x, bool training) {
    constexpr double eps = 1e-5;
    const Tensor y = like(x);
    mean_ = training ? like(running_mean_) : running_mean_;
    invstd_ = like(running_variance_);
    if (training) {
      dlprim::batch_norm_training_forward(queue_, x, &norm_scale.parameter, &norm_shift.parameter, eps,
                                          {&running_mean_, &running_variance_}, y, mean_, invstd_);
    } else {
      dlprim::batch_norm_invstd(queue_, running_variance_, eps, invstd_);
      dlprim::batch_norm_forward(queue_, x, mean_, invstd_, &norm_scale.parameter, &norm_shift.parameter, y);
    }
    return y;
  }

  /** The largest of every window, and where it was. */
  std::pair<Tensor, Tensor> max_pool(const Tensor& x) const {
    const Dims shape = dlprim::pool2d_output_shape("max_pool", x.shape, window);
    const Tensor y = empty(shape), places = empty(shape, dlprim::DType::int32);
    dlprim::max_pool2d_forward(queue_, x, window, y, &places);
    return {y, places};
  }

  /** In place, as its gradient needs no more than the result. */
  void relu(const Tensor& x) const {
    dlprim::pointwise(queue_, dlprim::forward_expression(relu_), x.dtype, {x}, {}, {x});
  }
  void relu_backward(const Tensor& gradient, const Tensor& y) const {
    dlprim::pointwise_backward(queue_, relu_, gradient, {y}, {}, y, {gradient});
  }

  Tensor linear(const Tensor& x, const Parameter& weight, const Parameter& bias) const {
    const Tensor y = empty({x.size(0), weight.parameter.size(0)});
    dlprim::linear_forward(queue_, x, weight.parameter, &bias.parameter, y);
    return y;
  }
  Tensor linear_backward(const Tensor& dy, const Tensor& x, const Parameter& weight,
                         const Parameter& bias) const {
    const Tensor dx = like(x);
    dlprim::linear_backward_data(queue_, dy, weight.parameter, dx);
    dlprim::linear_backward_weight(queue_, dy, x, weight.gradient);
    dlprim::linear_backward_bias(queue_, dy, bias.gradient);
    return dx;
  }

  Queue& queue_;
  const dlprim::PointwiseOp& relu_ = dlprim::pointwise_op("relu");
  dlprim::PhiloxState random_;

 public:
  Parameter conv1 = random({32, 1, 3, 3}, 9);  // without a bias: the shift is the batch norm's
  Parameter norm_scale{constant({32}, 1), empty({32}), {}}, norm_shift{constant({32}, 0), empty({32}), {}};
  Parameter conv2 = random({64, 32, 3, 3}, 32 * 9), conv2_bias = random({64}, 32 * 9);
  Parameter fc1 = random({128, 64 * 5 * 5}, 64 * 5 * 5), fc1_bias = random({128}, 64 * 5 * 5);
  Parameter fc2 = random({10, 128}, 128), fc2_bias = random({10}, 128);

 private:
  Tensor running_mean_ = constant({32}, 0), running_variance_ = constant({32}, 1);
  // Tensors that forward keeps for backward.
  Tensor images_, convolved1_, mean_, invstd_, activated1_, pooled1_, places1_;
  Tensor convolved2_, pooled2_, places2_, features_, hidden_;
};

struct Loss {
  Tensor value, dlogits;
};

/** The mean cross entropy of logits [N, 10] and labels (int64 [N]), and its gradient by the logits. */
inline Loss cross_entropy(Queue& queue, const Tensor& logits, const Tensor& labels) {
  const Loss loss{queue.scratch({}), queue.scratch(logits.shape)};
  const Tensor total_weight = queue.scratch({}), one = queue.scratch({});
  const Tensor normalizers = queue.scratch(dlprim::cross_entropy_normalizer_shape(logits.shape));
  dlprim::cross_entropy_forward(queue, logits, labels, nullptr, {}, loss.value, total_weight, normalizers);
  dlprim::fill(queue, one, 1);  // the gradient of the loss by itself
  dlprim::cross_entropy_backward(queue, one, logits, labels, nullptr, {}, total_weight, normalizers,
                                 loss.dlogits);
  return loss;
}

}  // namespace mnist
