#include "autograd/ops/loss.h"

#include "autograd/ops/call.h"
#include "autograd/ops/compute_dtype.h"
#include "autograd/ops/index.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/raw_or_null.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/softmax.h"
#include "autograd/ops/views.h"
#include "autograd/tape/recordable.h"
#include "autograd/tensor/creation.h"
#include "dlprim/ops/loss/cross_entropy.h"
#include "dlprim/ops/loss/elementwise_loss.h"
#include "dlprim/ops/loss/nll_loss.h"
#include "dlprim/ops/pointwise/pointwise_result.h"

namespace ocl {
namespace {

using dlprim::require;

Tensor reduced(const Tensor& losses, Reduction reduction) {
  return reduction == Reduction::none ? losses : reduction == Reduction::mean ? mean(losses) : sum(losses);
}

DType sum_dtype(DType dtype) {
  return dtype == DType::float64 ? dtype : DType::float32;
}

void require_constant_weight(const char* op, const Tensor& weight) {
  require<AutogradError>(!needs_tape({weight}), op,
                         ": not differentiable with respect to weight, which requires grad");
}

/** What `finish` makes of the losses of single elements, times `weight` if that is defined. Numbers of 16
 * bits are rounded at the end alone: the losses may be larger than they hold where their mean is not. */
template <class Finish>
Tensor elementwise(const char* op, const std::vector<Operand>& inputs, const std::vector<Scalar>& parameters,
                   const Tensor& weight, const Finish& finish) {
  std::vector<Operand> all = inputs;
  if (weight.defined()) all.emplace_back(weight);
  const DType dtype = result_type(all);
  std::vector<Operand> wide;
  for (const Operand& input : inputs)
    wide.push_back(input.is_tensor() ? Operand(in_compute_dtype(input.tensor())) : input);
  const Tensor losses = apply_pointwise(dlprim::elementwise_loss(op), wide, parameters);
  const Tensor result = finish(weight.defined() ? losses * in_compute_dtype(weight) : losses);
  return is_floating(dtype) ? to(result, dtype) : result;
}

Tensor elementwise(const char* op, const std::vector<Operand>& inputs, const std::vector<Scalar>& parameters,
                   Reduction reduction, const Tensor& weight = {}) {
  if (reduction == Reduction::none && !weight.defined())
    return apply_pointwise(dlprim::elementwise_loss(op), inputs, parameters);
  return elementwise(op, inputs, parameters, weight,
                     [&](const Tensor& losses) { return reduced(losses, reduction); });
}

// Regression losses broadcast, but hardly ever on purpose.
void check_regression(const char* op, const Tensor& input, const Tensor& target) {
  require<TypeError>(is_floating(result_type({input, target})), op, ": expected a floating dtype, got ",
                     name(input.dtype()), " and ", name(target.dtype()));
  if (input.shape() != target.shape())
    dlprim::warn_once(dlprim::concat(op, ": target size ", target.shape(), " differs from input size ",
                                     input.shape(), "; both are broadcast"));
}

void require_same_size(const char* op, const Tensor& input, const Tensor& target) {
  require(input.shape() == target.shape(), op, ": target size ", target.shape(),
          " must be the same as input size ", input.shape());
}

Operand weight_or_1(const Tensor& weight) {
  return weight.defined() ? Operand(weight) : Operand(1);
}

}  // namespace

Tensor nll_loss(const Tensor& a, const Tensor& labels, const Tensor& class_weight, Reduction reduction,
                std::int64_t ignore_index) {
  ENTER_OPERATOR(nll_loss, a, labels, class_weight, reduction, ignore_index);
  require_constant_weight("nll_loss", class_weight);
  const Tensor x = contiguous(a), target = contiguous(labels), weight = contiguous_or_none(class_weight);
  dlprim::class_loss_extents("nll_loss", x.data(), target.data(), raw_or_null(weight));
  dlprim::Device& device = *x.device();
  const dlprim::Tensor loss =
      dlprim::Tensor::empty(device, dlprim::class_loss_shape(x.shape(), reduction), x.dtype());
  const dlprim::Tensor total = dlprim::Tensor::empty(device, {}, sum_dtype(x.dtype()));
  dlprim::nll_loss_forward(device.queue(), x.data(), target.data(), raw_or_null(weight), ignore_index,
                           reduction, loss, total);
  return record("NllLossBackward", {x}, loss, [&] {
    const SavedTensor kept_target(target), kept_weight(weight);
    return linear_gradient(
        "NllLossBackward",
        [kept_target, kept_weight, total = SavedTensor(total), shape = x.shape(), dtype = x.dtype(),
         ignore_index, reduction](const Tensor& given) {
          const Tensor g = contiguous(given);
          const dlprim::Tensor dx = dlprim::Tensor::empty(*g.device(), shape, dtype);
          dlprim::nll_loss_backward(g.device()->queue(), g.data(), kept_target.unpack(),
                                    raw_or_null(kept_weight), ignore_index, reduction, total.unpack(), dx);
          return Tensor(dx);
        },
        [kept_target, kept_weight, ignore_index, reduction](const Tensor& given) {
          const Tensor weights = kept_weight.defined() ? Tensor(kept_weight.unpack()) : Tensor();
          return nll_loss(given, Tensor(kept_target.unpack()), weights, reduction, ignore_index);
        });
  });
}

namespace {

/** cross_entropy made of other operators. `x` and `target` in the dtype that sums are taken in. */
Tensor composed_cross_entropy(const Tensor& x, const Tensor& target, const Tensor& weight,
                              const dlprim::CrossEntropyOptions& options) {
  const std::int64_t axis = x.dim() == 1 ? 0 : 1, classes = x.size(axis);
  const double smoothing = options.label_smoothing;
  const Tensor log_probabilities = log_softmax(x, axis);
  std::vector<std::int64_t> along(static_cast<std::size_t>(x.dim()), 1);
  along[static_cast<std::size_t>(axis)] = classes;
  const Tensor weighted = weight.defined() ? log_probabilities * reshape(weight, along) : log_probabilities;
  if (is_floating(target.dtype())) {
    const Tensor probabilities = target * (1 - smoothing) + smoothing / static_cast<double>(classes);
    const Tensor losses = neg(sum(weighted * probabilities, {axis}));
    return reduced(losses, options.reduction);
  }
  const Tensor chosen = nll_loss(log_probabilities, target, weight, options.reduction, options.ignore_index);
  if (smoothing == 0) return chosen;
  const Tensor counts = ne(target, options.ignore_index);
  const Tensor spread = where(counts, neg(sum(weighted, {axis})), 0.0);
  Tensor smooth = spread;
  if (options.reduction != Reduction::none) smooth = sum(spread);
  if (options.reduction == Reduction::mean) {
    const Tensor of_targets = weight.defined()
                                  ? reshape(index_select(weight, 0, reshape(where(counts, target, 0), {-1})),
                                            target.shape().vector())
                                  : ones(target.shape().vector(), x.dtype(), x.device());
    smooth = smooth / sum(where(counts, of_targets, 0.0));
  }
  return chosen * (1 - smoothing) + smooth * (smoothing / static_cast<double>(classes));
}

}  // namespace

Tensor cross_entropy(const Tensor& a, const Tensor& labels, const Tensor& class_weight, Reduction reduction,
                     std::int64_t ignore_index, double label_smoothing) {
  ENTER_OPERATOR(cross_entropy, a, labels, class_weight, reduction, ignore_index, label_smoothing);
  require(label_smoothing >= 0 && label_smoothing <= 1,
          "cross_entropy: label_smoothing must be between 0.0 and 1.0, got ", label_smoothing);
  require_constant_weight("cross_entropy", class_weight);
  const Tensor x = contiguous(a), target = contiguous(labels), weight = contiguous_or_none(class_weight);
  dlprim::class_loss_extents("cross_entropy", x.data(), target.data(), raw_or_null(weight));
  const dlprim::CrossEntropyOptions options{ignore_index, label_smoothing, reduction};
  dlprim::Device& device = *x.device();
  const DType sums = sum_dtype(x.dtype());
  const dlprim::Tensor loss =
      dlprim::Tensor::empty(device, dlprim::class_loss_shape(x.shape(), reduction), x.dtype());
  const dlprim::Tensor total = dlprim::Tensor::empty(device, {}, sums);
  const dlprim::Tensor normalizers =
      dlprim::Tensor::empty(device, dlprim::cross_entropy_normalizer_shape(x.shape()), sums);
  dlprim::cross_entropy_forward(device.queue(), x.data(), target.data(), raw_or_null(weight), options, loss,
                                total, normalizers);
  return record("CrossEntropyBackward", {x, target}, loss, [&] {
    return [x = SavedTensor(x), target = SavedTensor(target), weight = SavedTensor(weight),
            total = SavedTensor(total), normalizers = SavedTensor(normalizers),
            options](const TensorList& gradients) {
      if (grad_enabled())
        return gradients_by_composition(
            {x.input(0), target.input(1)}, gradients, [&](const TensorList& inputs) {
              const Tensor weights = weight.defined() ? in_compute_dtype(Tensor(weight.unpack())) : Tensor();
              const Tensor targets = is_floating(inputs[1].dtype()) ? in_compute_dtype(inputs[1]) : inputs[1];
              return TensorList{
                  to(composed_cross_entropy(in_compute_dtype(inputs[0]), targets, weights, options),
                     inputs[0].dtype())};
            });
      const Tensor g = contiguous(gradients[0]);
      const auto like_x = [&](std::size_t input) {
        return gradient_is_wanted(input)
                   ? Tensor(dlprim::Tensor::empty(*g.device(), x.unpack().shape, x.unpack().dtype))
                   : Tensor();
      };
      const TensorList results{like_x(0), like_x(1)};
      dlprim::Queue& queue = g.device()->queue();
      if (results[0].defined())
        dlprim::cross_entropy_backward(queue, g.data(), x.unpack(), target.unpack(), raw_or_null(weight),
                                       options, total.unpack(), normalizers.unpack(), results[0].data());
      if (results[1].defined())
        dlprim::cross_entropy_target_backward(queue, g.data(), x.unpack(), raw_or_null(weight), options,
                                              total.unpack(), normalizers.unpack(), results[1].data());
      return results;
    };
  });
}

Tensor mse_loss(const Tensor& input, const Tensor& target, Reduction reduction) {
  ENTER_OPERATOR(mse_loss, input, target, reduction);
  check_regression("mse_loss", input, target);
  return elementwise("mse_loss", {input, target}, {}, reduction);
}

Tensor l1_loss(const Tensor& input, const Tensor& target, Reduction reduction) {
  ENTER_OPERATOR(l1_loss, input, target, reduction);
  check_regression("l1_loss", input, target);
  return elementwise("l1_loss", {input, target}, {}, reduction);
}

Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, Reduction reduction, double beta) {
  ENTER_OPERATOR(smooth_l1_loss, input, target, reduction, beta);
  require(beta >= 0, "smooth_l1_loss: does not support negative values for beta, got ", beta);
  if (beta == 0) return l1_loss(input, target, reduction);
  check_regression("smooth_l1_loss", input, target);
  return elementwise("smooth_l1_loss", {input, target}, {beta}, reduction);
}

Tensor huber_loss(const Tensor& input, const Tensor& target, Reduction reduction, double delta) {
  ENTER_OPERATOR(huber_loss, input, target, reduction, delta);
  require(delta > 0, "huber_loss: does not support non-positive values for delta, got ", delta);
  check_regression("huber_loss", input, target);
  return elementwise("huber_loss", {input, target}, {delta}, reduction);
}

Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight,
                            Reduction reduction) {
  ENTER_OPERATOR(binary_cross_entropy, input, target, weight, reduction);
  constexpr const char* op = "binary_cross_entropy";
  require_same_size(op, input, target);
  require_constant_weight(op, weight);
  require<TypeError>(is_floating(input.dtype()) && input.dtype() == target.dtype(), op,
                     ": expected input and target of one floating dtype, got ", name(input.dtype()), " and ",
                     name(target.dtype()));
  return elementwise(op, {input, target}, {}, reduction, weight);
}

Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target, const Tensor& weight,
                                        const Tensor& pos_weight, Reduction reduction) {
  ENTER_OPERATOR(binary_cross_entropy_with_logits, input, target, weight, pos_weight, reduction);
  constexpr const char* op = "binary_cross_entropy_with_logits";
  require_same_size(op, input, target);
  require_constant_weight(op, weight);
  require_constant_weight(op, pos_weight);
  require<TypeError>(is_floating(input.dtype()), op, ": expected a floating dtype, got ",
                     name(input.dtype()));
  return elementwise(op, {input, target, weight_or_1(pos_weight)}, {}, reduction, weight);
}

Tensor kl_div(const Tensor& input, const Tensor& target, const std::string& reduction, bool log_target) {
  ENTER_OPERATOR(kl_div, input, target, reduction, log_target);
  const char* row = log_target ? "kl_div_log_target" : "kl_div";
  if (reduction != "batchmean") return elementwise(row, {input, target}, {}, reduction_from_name(reduction));
  require(input.dim() > 0, "kl_div: expected a batch to take the mean over, got a scalar");
  return elementwise(row, {input, target}, {}, Tensor(),
                     [&](const Tensor& losses) { return sum(losses) / input.size(0); });
}

}  // namespace ocl
