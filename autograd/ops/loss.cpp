#include "autograd/ops/loss.h"

#include <cmath>

#include "autograd/autocast.h"
#include "autograd/ops/call.h"
#include "autograd/ops/compute_dtype.h"
#include "autograd/ops/distance.h"
#include "autograd/ops/index.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/raw_or_null.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/scan.h"
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

/** The dtype of a loss of these: that of float32 where they are integers. */
DType loss_dtype(const std::vector<Operand>& inputs) {
  const DType dtype = result_type(inputs);
  return is_floating(dtype) ? dtype : DType::float32;
}

void require_constant_weight(const char* op, const Tensor& weight) {
  require<AutogradError>(!needs_tape({weight}), op,
                         ": not differentiable with respect to weight, which requires grad");
}

/** The result of `finish` for the losses of single elements, times `weight` if that is defined. Numbers of 16
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
  const bool is_wide = gives_float32("cross_entropy");
  const dlprim::Tensor loss = dlprim::Tensor::empty(device, dlprim::class_loss_shape(x.shape(), reduction),
                                                    is_wide ? sums : x.dtype());
  const dlprim::Tensor total = dlprim::Tensor::empty(device, {}, sums);
  const dlprim::Tensor normalizers =
      dlprim::Tensor::empty(device, dlprim::cross_entropy_normalizer_shape(x.shape()), sums);
  dlprim::cross_entropy_forward(device.queue(), x.data(), target.data(), raw_or_null(weight), options, loss,
                                total, normalizers);
  return record("CrossEntropyBackward", {x, target}, loss, [&] {
    return [x = SavedTensor(x), target = SavedTensor(target), weight = SavedTensor(weight),
            total = SavedTensor(total), normalizers = SavedTensor(normalizers), options,
            dtype = loss.dtype](const TensorList& gradients) {
      if (grad_enabled())
        return gradients_by_composition(
            {x.input(0), target.input(1)}, gradients, [&](const TensorList& inputs) {
              const Tensor weights = weight.defined() ? in_compute_dtype(Tensor(weight.unpack())) : Tensor();
              const Tensor targets = is_floating(inputs[1].dtype()) ? in_compute_dtype(inputs[1]) : inputs[1];
              return TensorList{
                  to(composed_cross_entropy(in_compute_dtype(inputs[0]), targets, weights, options), dtype)};
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

namespace {

/** Losses computed in the wider dtype, reduced, in the dtype of the inputs. */
Tensor finished(const Tensor& losses, Reduction reduction, DType dtype) {
  return to(reduced(losses, reduction), dtype);
}

void require_floating_input(const char* op, const Tensor& input) {
  require<TypeError>(is_floating(input.dtype()), op, ": expected a floating dtype, got ",
                     name(input.dtype()));
}

void require_one_rank(const char* op, const Tensor& a, const Tensor& b, const Tensor& c) {
  require(a.dim() == b.dim() && b.dim() == c.dim(), op,
          ": expected tensors of the same number of dimensions, got shapes ", a.shape(), ", ", b.shape(),
          " and ", c.shape());
}

/** Stirling's approximation of log(count!), 0 up to 1. */
Tensor log_factorial(const Tensor& count) {
  const Tensor is_small = le(count, 1);
  const Tensor n = where(is_small, 1.0, count);
  return where(is_small, 0.0, n * log(n) - n + log(n * (2 * M_PI)) * 0.5);
}

/** Variances that broadcast to `input`. */
Tensor fitting_variance(const Tensor& var, const Tensor& input) {
  const Dims& shape = input.shape();
  if (var.shape() == shape) return var;
  if (var.shape() == Dims(shape.begin(), shape.end() - (shape.empty() ? 0 : 1))) return unsqueeze(var, -1);
  std::int64_t mismatched = 0;
  for (int d = 0; var.dim() == input.dim() && d < input.dim(); ++d)
    if (var.size(d) != input.size(d)) mismatched += var.size(d);
  require(mismatched == 1, "gaussian_nll_loss: var of shape ", var.shape(),
          " is of incorrect size for input ", shape);
  return var;
}

/** Held at `eps` or above, with the gradient of `var` itself; NaN where negative. */
Tensor positive_variance(const Tensor& var, double eps) {
  const Tensor values = var.detach();
  const Tensor held = where(lt(values, 0), std::nan(""), eps);
  return where(lt(values, eps), var + (held - values), var);
}

/** The rows of scores [N, C], of which [C] is one, and the score of one class. */
Tensor rows_of_scores(const char* op, const Tensor& input) {
  require_floating_input(op, input);
  require(input.dim() <= 2 && (input.dim() == 0 || input.size(-1) > 0), op,
          ": expected an input [C] or [N, C] with at least one class, got shape ", input.shape());
  return in_compute_dtype(input.dim() == 2 ? input : reshape(input, {1, input.numel()}));
}

}  // namespace

Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, bool log_input, bool full, double eps,
                        Reduction reduction) {
  ENTER_OPERATOR(poisson_nll_loss, input, target, log_input, full, eps, reduction);
  require<TypeError>(input.dtype() != DType::boolean && !input.is_complex(),
                     "poisson_nll_loss: expected real numbers, got ", name(input.dtype()));
  const Tensor rate = dlprim::is_integral(input.dtype()) ? to(input, DType::float32) : input;
  const auto finish = [&](const Tensor& losses) {
    return reduced(full ? losses + log_factorial(in_compute_dtype(target)) : losses, reduction);
  };
  if (log_input) return elementwise("poisson_nll_loss_of_log", {rate, target}, {}, Tensor(), finish);
  return elementwise("poisson_nll_loss", {rate, target}, {eps}, Tensor(), finish);
}

Tensor gaussian_nll_loss(const Tensor& input, const Tensor& target, const Operand& var, bool full, double eps,
                         Reduction reduction) {
  ENTER_OPERATOR(gaussian_nll_loss, input, target, var, full, eps, reduction);
  require_floating_input("gaussian_nll_loss", input);
  require(var.is_tensor() || var.number().real() >= 0, "gaussian_nll_loss: var has negative entry/entries");
  require(eps > 0, "gaussian_nll_loss: eps must be positive, got ", eps);
  const auto finish = [&](const Tensor& losses) {
    return reduced(full ? losses + 0.5 * std::log(2 * M_PI) : losses, reduction);
  };
  if (!var.is_tensor())
    return elementwise("gaussian_nll_loss", {input, target, std::max(var.number().real(), eps)}, {}, Tensor(),
                       finish);
  const Tensor fitting = fitting_variance(var.tensor(), input), variance = in_compute_dtype(fitting);
  const DType dtype = result_type({input, target, fitting});
  return to(
      elementwise("gaussian_nll_loss", {in_compute_dtype(input), target, positive_variance(variance, eps)},
                  {}, Tensor(), finish),
      dtype);
}

Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target, double margin, Reduction reduction) {
  ENTER_OPERATOR(hinge_embedding_loss, input, target, margin, reduction);
  require_floating_input("hinge_embedding_loss", input);
  return elementwise("hinge_embedding_loss", {input, to(target, input.dtype())}, {margin}, reduction);
}

Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin,
                           Reduction reduction) {
  ENTER_OPERATOR(margin_ranking_loss, input1, input2, target, margin, reduction);
  require_one_rank("margin_ranking_loss", input1, input2, target);
  const DType dtype = loss_dtype({input1, input2, target});
  const Tensor difference = in_compute_dtype(input1) - in_compute_dtype(input2);
  return to(elementwise("margin_ranking_loss", {difference, in_compute_dtype(target)}, {margin}, reduction),
            dtype);
}

Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           double margin, double p, double eps, bool swap, Reduction reduction) {
  ENTER_OPERATOR(triplet_margin_loss, anchor, positive, negative, margin, p, eps, swap, reduction);
  require_one_rank("triplet_margin_loss", anchor, positive, negative);
  require(margin > 0, "triplet_margin_loss: margin must be greater than 0, got ", margin);
  const DType dtype = loss_dtype({anchor, positive, negative});
  const Tensor a = in_compute_dtype(anchor), b = in_compute_dtype(positive), c = in_compute_dtype(negative);
  Tensor far = pairwise_distance(a, c, p, eps);
  if (swap) far = minimum(far, pairwise_distance(b, c, p, eps));
  return finished(clamp_min(margin + pairwise_distance(a, b, p, eps) - far, 0), reduction, dtype);
}

Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin,
                             Reduction reduction) {
  ENTER_OPERATOR(cosine_embedding_loss, input1, input2, target, margin, reduction);
  constexpr double least_square = 1e-12;  // PyTorch's, added to the squared lengths
  require(
      target.dim() <= 1 && input1.dim() == target.dim() + 1 && input2.dim() == input1.dim(),
      "cosine_embedding_loss: expected inputs [M] and a target without dimensions, or inputs [N, M] and a "
      "target [N], got shapes ",
      input1.shape(), ", ", input2.shape(), " and ", target.shape());
  const DType dtype = loss_dtype({input1, input2});
  const Tensor a = in_compute_dtype(input1), b = in_compute_dtype(input2);
  const auto length = [&](const Tensor& x) { return sqrt(sum(square(x), {-1}) + least_square); };
  const Tensor cosine = sum(a * b, {-1}) / (length(a) * length(b));
  const Tensor losses =
      where(eq(target, 1), 1 - cosine, 0.0) + where(eq(target, -1), clamp_min(cosine - margin, 0), 0.0);
  return finished(losses, reduction, dtype);
}

Tensor soft_margin_loss(const Tensor& input, const Tensor& target, Reduction reduction) {
  ENTER_OPERATOR(soft_margin_loss, input, target, reduction);
  require_floating_input("soft_margin_loss", input);
  return elementwise("soft_margin_loss", {input, target}, {}, reduction);
}

Tensor multi_margin_loss(const Tensor& input, const Tensor& target, std::int64_t p, double margin,
                         const Tensor& weight, Reduction reduction) {
  ENTER_OPERATOR(multi_margin_loss, input, target, p, margin, weight, reduction);
  constexpr const char* op = "multi_margin_loss";
  require(p == 1 || p == 2, op, ": only p == 1 and p == 2 supported, got ", p);
  require_constant_weight(op, weight);
  const Tensor scores = rows_of_scores(op, input);
  const std::int64_t rows = scores.size(0), classes = scores.size(1);
  require(target.dim() <= 1 && target.numel() == rows, op, ": inconsistent target size ", target.shape(),
          " for input of size ", input.shape());
  require(!weight.defined() || weight.shape() == Dims{classes}, op, ": expected a weight of shape [", classes,
          "], got ", weight.defined() ? weight.shape() : Dims());
  const Tensor chosen = reshape(target, {rows, 1});
  // NaN is not above 0, so its term is 0, as in PyTorch.
  const Tensor beyond = scores - gather(scores, 1, chosen) + margin,
               excess = where(gt(beyond, 0), beyond, 0.0);
  Tensor terms = p == 2 ? square(excess) : excess;
  if (weight.defined())
    terms = terms * unsqueeze(index_select(in_compute_dtype(weight), 0, reshape(target, {rows})), 1);
  const Tensor is_target = eq(chosen, arange(0, classes, 1, DType::int64, input.device()));
  const Tensor losses = sum(where(is_target, 0.0, terms), {1}) / classes;
  return finished(reshape(losses, target.shape().vector()), reduction, input.dtype());
}

Tensor multilabel_margin_loss(const Tensor& input, const Tensor& target, Reduction reduction) {
  ENTER_OPERATOR(multilabel_margin_loss, input, target, reduction);
  constexpr const char* op = "multilabel_margin_loss";
  const Tensor scores = rows_of_scores(op, input);
  const bool is_one_class = input.dim() < 2 && input.numel() == 1 && target.dim() < 2 && target.numel() == 1;
  require(target.shape() == input.shape() || is_one_class, op, ": inconsistent target size ", target.shape(),
          " for input of size ", input.shape());
  const Tensor given = reshape(target, scores.shape().vector());
  const Tensor counts = ne(cumprod(ne(given, -1), 1), 0);  // up to the first -1
  const Tensor labels = where(counts, given, 0);
  const Tensor hits = scatter_add(zeros_like(given), 1, labels, to(counts, given.dtype()));
  const Tensor is_pair = logical_and(unsqueeze(counts, 2), unsqueeze(eq(hits, 0), 1));
  const Tensor excess = relu(1 - unsqueeze(gather(scores, 1, labels), 2) + unsqueeze(scores, 1));
  const Tensor losses = sum(where(is_pair, excess, 0.0), {1, 2}) / scores.size(1);
  return finished(input.dim() == 2 ? losses : squeeze(losses, 0), reduction, input.dtype());
}

Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target, const Tensor& weight,
                                   Reduction reduction) {
  ENTER_OPERATOR(multilabel_soft_margin_loss, input, target, weight, reduction);
  constexpr const char* op = "multilabel_soft_margin_loss";
  require_floating_input(op, input);
  require(input.dim() > 0, op, ": expected an input [..., C], got a scalar");
  require_constant_weight(op, weight);
  return elementwise("binary_cross_entropy_with_logits", {input, target, 1}, {}, weight,
                     [&](const Tensor& losses) { return reduced(mean(losses, {-1}), reduction); });
}

}  // namespace ocl
