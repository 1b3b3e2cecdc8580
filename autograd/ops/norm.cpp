#include "autograd/ops/norm.h"

#include "autograd/ops/activation.h"
#include "autograd/ops/call.h"
#include "autograd/ops/compute_dtype.h"
#include "autograd/ops/formats.h"
#include "autograd/ops/formula.h"
#include "autograd/ops/pad.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/raw_or_null.h"
#include "autograd/ops/reduce.h"
#include "autograd/tape/recordable.h"
#include "autograd/tensor/creation.h"
#include "dlprim/core/real.h"
#include "dlprim/ops/norm/batch_norm.h"
#include "dlprim/ops/norm/local_response_norm.h"
#include "dlprim/ops/norm/row_norm.h"
#include "dlprim/ops/pointwise/epilogue.h"
#include "dlprim/runtime/dtype_defines.h"

namespace ocl {
namespace {

using dlprim::require;

void check_channels(const char* what, const Tensor& t, std::int64_t channels, DType dtype) {
  if (!t.defined()) return;
  require(t.shape() == Dims{channels}, "batch_norm: expected ", what, " of shape [", channels, "], got ",
          t.shape());
  require<TypeError>(t.dtype() == dtype, "batch_norm: expected ", what, " of dtype ", name(dtype), ", got ",
                     name(t.dtype()));
}

/** The operators behind a batch norm in its kernels. */
struct Epilogue {
  Tensor addend;  // may be undefined
  const dlprim::PointwiseOp* activation = nullptr;
};

/** The backward pass, with all that it needs. */
struct BatchNormGradient {
  SavedTensor x, mean, invstd, weight, bias, y;
  const dlprim::PointwiseOp* activation;
  bool training;
  double eps;
  MemoryFormat format;

  TensorList by_operators(const Tensor& g) const;

  TensorList operator()(const TensorList& gradients) const {
    if (grad_enabled()) return by_operators(gradients[0]);
    const Tensor g = contiguous(gradients[0], format);
    const dlprim::Tensor& statistics = mean.unpack();
    const auto of_channels = [&](std::size_t input) {
      return gradient_is_wanted(input)
                 ? Tensor(dlprim::Tensor::empty(*g.device(), statistics.shape, statistics.dtype))
                 : Tensor();
    };
    const auto like_g = [&](bool wanted) {
      return wanted ? empty_like(g, std::nullopt, std::nullopt, format) : Tensor();
    };
    const auto items_of = [&](const Tensor& t) {
      return t.defined() ? dlprim::batch_norm_items(t.data()) : dlprim::Tensor();
    };
    const bool by_result = y.defined();
    const Tensor dx = like_g(gradient_is_wanted(0)), dweight = of_channels(1), dbias = of_channels(2),
                 behind_activation = like_g(by_result);
    const dlprim::Tensor dx_items = items_of(dx), behind_items = items_of(behind_activation),
                         y_items = by_result ? dlprim::batch_norm_items(y.unpack()) : dlprim::Tensor();
    dlprim::batch_norm_backward(
        g.device()->queue(), items_of(g), dlprim::batch_norm_items(x.unpack()), statistics, invstd.unpack(),
        raw_or_null(weight), training, dx.defined() ? &dx_items : nullptr, raw_or_null(dweight),
        raw_or_null(dbias),
        {activation, raw_or_null(bias), by_result ? &y_items : nullptr, by_result ? &behind_items : nullptr});
    const Tensor& daddend = by_result ? behind_activation : g;
    return {dx, dweight, dbias, gradient_is_wanted(3) ? daddend : Tensor()};
  }
};

/** All dimensions but that of the channels. */
DimList dims_but_channels(const Tensor& x) {
  DimList dims{0};
  for (int d = 2; d < x.dim(); ++d) dims.push_back(d);
  return dims;
}

/** The elements of each channel, to go with a tensor [N, C, ...] of so many dimensions. */
Tensor along_channels(const Tensor& channels, int rank) {
  Dims shape = Dims::filled(rank, 1);
  shape[1] = channels.size(0);
  return reshape(channels, shape.vector());
}

TensorList BatchNormGradient::by_operators(const Tensor& given) const {
  const bool by_result = y.defined();
  Tensor g = given;
  if (by_result) {
    const Tensor result = y.output();
    const DType compute = dlprim::compute_dtype(g.dtype());
    g = to(evaluate(activation->gradients[0], {{"g", to(g, compute)}, {"y", to(result, compute)}}, compute,
                    g.device()),
           g.dtype());
  }
  const Tensor addend_of_channels = bias.input(2);  // where an activation depends on it
  const auto compose = [&](const TensorList& inputs) {
    const Tensor wide = in_compute_dtype(inputs[0]);
    const auto channels = [&](const Tensor& t) { return along_channels(t, wide.dim()); };
    Tensor result;
    if (training) {
      const DimList dims = dims_but_channels(wide);
      const Tensor centered = wide - ocl::mean(wide, dims, true);
      result = centered * rsqrt(ocl::mean(square(centered), dims, true) + eps);
    } else {
      result = (wide - channels(Tensor(mean.unpack()))) * channels(Tensor(invstd.unpack()));
    }
    if (inputs[1].defined()) result = result * channels(inputs[1]);
    if (inputs[2].defined()) result = result + channels(inputs[2]);
    if (activation && !by_result) result = apply_pointwise(*activation, {result});
    return TensorList{to(result, inputs[0].dtype())};
  };
  TensorList results =
      gradients_by_composition({x.input(0), weight.input(1), addend_of_channels}, {g}, compose);
  if (!addend_of_channels.defined() && gradient_is_wanted(2))
    results[2] = sum(to(g, mean.unpack().dtype), dims_but_channels(g));
  results.push_back(gradient_is_wanted(3) ? g : Tensor());
  return results;
}

/** Batch norm with any eps. */
Tensor normalized_batch(const Tensor& a, const Tensor& running_mean, const Tensor& running_var,
                        const Tensor& given_weight, const Tensor& given_bias, bool training, double momentum,
                        double eps, const Epilogue& epilogue = {}) {
  dlprim::require_floating(a.dtype(), *a.device(), "batch_norm");
  require(running_mean.defined() == running_var.defined(),
          "batch_norm: running_mean and running_var go together");
  require(training || running_mean.defined(),
          "batch_norm: expected running_mean and running_var to be defined when training=False");
  const std::int64_t channels = a.size(1);
  const DType statistics = dlprim::compute_dtype(a.dtype());
  const auto is_narrow = [&](const Tensor& t) {
    return t.defined() && t.dtype() == a.dtype() && t.dtype() != statistics;
  };
  if (is_narrow(running_mean) || is_narrow(running_var) || is_narrow(given_weight) || is_narrow(given_bias)) {
    // A net that is float16 throughout, its parameters too: the kernels keep them in float32.
    const auto widened = [&](const Tensor& t) { return is_narrow(t) ? to(t, statistics) : t; };
    const Tensor mean = widened(running_mean), var = widened(running_var);
    const Tensor y = normalized_batch(a, mean, var, widened(given_weight), widened(given_bias), training,
                                      momentum, eps, epilogue);
    if (training && is_narrow(running_mean)) Tensor(running_mean).copy_(mean);
    if (training && is_narrow(running_var)) Tensor(running_var).copy_(var);
    return y;
  }
  check_channels("running_mean", running_mean, channels, statistics);
  check_channels("running_var", running_var, channels, statistics);

  const MemoryFormat format = format_of(a);
  const Tensor x = contiguous(a, format), weight = contiguous_or_none(given_weight),
               bias = contiguous_or_none(given_bias),
               addend = epilogue.addend.defined() ? contiguous(epilogue.addend, format) : Tensor();
  dlprim::Device& device = *x.device();
  const dlprim::Tensor y =
      dlprim::Tensor::empty_strided(device, x.shape(), dlprim::strides_of(format, x.shape()), x.dtype());
  const dlprim::Tensor x_items = dlprim::batch_norm_items(x.data()), y_items = dlprim::batch_norm_items(y);
  const dlprim::Tensor addend_items =
      addend.defined() ? dlprim::batch_norm_items(addend.data()) : dlprim::Tensor();
  const dlprim::Epilogue follows{addend.defined() ? &addend_items : nullptr, epilogue.activation};
  const dlprim::Tensor invstd = dlprim::Tensor::empty(device, {channels}, statistics);
  dlprim::Tensor mean;
  if (training) {
    mean = dlprim::Tensor::empty(device, {channels}, statistics);
    dlprim::batch_norm_training_forward(device.queue(), x_items, raw_or_null(weight), raw_or_null(bias), eps,
                                        {raw_or_null(running_mean), raw_or_null(running_var), momentum},
                                        y_items, mean, invstd, follows);
    for (const Tensor& running : {running_mean, running_var})
      if (running.defined()) running.data().storage->bump_version();
  } else {
    mean = contiguous(running_mean.detach()).data();
    dlprim::batch_norm_invstd(device.queue(), contiguous(running_var.detach()).data(), eps, invstd);
    dlprim::batch_norm_forward(device.queue(), x_items, mean, invstd, raw_or_null(weight), raw_or_null(bias),
                               y_items, follows);
  }
  return record("BatchNormBackward", {x, weight, bias, addend}, y, [&] {
    // Behind an addend y tells the activation's gradient, elsewhere x and the norm's bias do.
    const dlprim::PointwiseOp* activation = epilogue.activation;
    const bool by_result = addend.defined() && activation;
    return BatchNormGradient{SavedTensor(x),
                             SavedTensor(mean),
                             SavedTensor(invstd),
                             SavedTensor(weight),
                             activation && !by_result ? SavedTensor(bias) : SavedTensor(),
                             by_result ? SavedTensor(y) : SavedTensor(),
                             activation,
                             training,
                             eps,
                             format};
  });
}

void check_batch(const Tensor& x, bool training, double eps) {
  require(x.dim() >= 2, "batch_norm: expected at least 2 dimensions [N, C, ...], got shape ", x.shape());
  require(!(training ? eps <= 0 : eps < 0), "batch_norm: eps must be ",
          training ? "positive during training" : "non-negative", ", got ", eps);
}

void check_affine(const char* op, const char* what, const Tensor& t, const Dims& shape, DType dtype) {
  if (!t.defined()) return;
  require(t.shape() == shape, op, ": expected ", what, " of shape ", shape, ", got ", t.shape());
  require<TypeError>(t.dtype() == dtype, op, ": expected ", what, " of dtype ", name(dtype), ", got ",
                     name(t.dtype()));
}

/** Elements of one entry of the dimensions before `dim`. */
std::int64_t count_from(const Tensor& x, int dim) {
  return dlprim::product(Dims(x.shape().begin() + dim, x.shape().end()));
}

/** Layer, group and root-mean-square norm: rows, each normalised by itself. */
struct RowNorm {
  const char* op;
  const char* node;
  dlprim::NormRows rows;
  bool centered;
  double eps;
};

/** The gradient of a weight or bias from its terms, one for every element of the input. */
Tensor affine_gradient(const Tensor& terms, const dlprim::NormRows& rows, const Dims& shape, DType dtype) {
  const dlprim::Tensor gradient = dlprim::Tensor::empty(*terms.device(), shape, dtype);
  dlprim::row_norm_backward_affine(terms.device()->queue(), rows, terms.data(), gradient);
  return Tensor(gradient);
}

/** The norm by operators, without its bias. */
Tensor composed_row_norm(const RowNorm& norm, const Tensor& x, const Tensor& weight) {
  const dlprim::NormRows& rows = norm.rows;
  const Tensor wide = reshape(in_compute_dtype(x), {rows.rows, rows.n});
  const Tensor centered = norm.centered ? wide - ocl::mean(wide, {1}, true) : wide;
  Tensor y = centered * rsqrt(ocl::mean(square(centered), {1}, true) + norm.eps);
  if (weight.defined())
    y = reshape(y, {rows.rows / rows.period, rows.period, rows.weights, rows.n / rows.weights}) *
        reshape(in_compute_dtype(weight), {1, rows.period, rows.weights, 1});
  return to(reshape(y, x.shape().vector()), x.dtype());
}

Tensor row_norm(const RowNorm& norm, const Tensor& a, const Tensor& given_weight, const Tensor& given_bias) {
  const Tensor x = contiguous(a), weight = contiguous_or_none(given_weight),
               bias = contiguous_or_none(given_bias);
  dlprim::Device& device = *x.device();
  const DType statistics = dlprim::compute_dtype(x.dtype());
  const dlprim::Tensor y = dlprim::Tensor::empty(device, x.shape(), x.dtype());
  const dlprim::Tensor invstd = dlprim::Tensor::empty(device, {norm.rows.rows}, statistics);
  const Tensor mean =
      norm.centered ? Tensor(dlprim::Tensor::empty(device, {norm.rows.rows}, statistics)) : Tensor();
  dlprim::row_norm_forward(device.queue(), norm.rows, x.data(), raw_or_null(weight), raw_or_null(bias),
                           norm.eps, y, raw_or_null(mean), invstd);
  return record(norm.node, {x, weight, bias}, y, [&] {
    return [norm, rows = norm.rows, x = SavedTensor(x), weight = SavedTensor(weight),
            mean = norm.centered ? SavedTensor(mean) : SavedTensor(), invstd = SavedTensor(invstd),
            affine = bias.defined()     ? bias.shape()
                     : weight.defined() ? weight.shape()
                                        : Dims(),
            statistics](const TensorList& gradients) {
      if (grad_enabled() && x.unpack().numel() > 0) {
        const Tensor given = gradients[0];
        TensorList results =
            gradients_by_composition({x.input(0), weight.input(1)}, gradients, [&](const TensorList& inputs) {
              return TensorList{composed_row_norm(norm, inputs[0], inputs[1])};
            });
        results.emplace_back();
        if (gradient_is_wanted(2)) {
          const Shape of_weights{rows.rows / rows.period, rows.period, rows.weights, rows.n / rows.weights};
          results[2] = to(reshape(sum(reshape(to(given, statistics), of_weights), {0, 3}), affine.vector()),
                          given.dtype());
        }
        return results;
      }
      const Tensor g = contiguous(gradients[0]);
      const auto like_x = [&](DType dtype) {
        return Tensor(dlprim::Tensor::empty(*g.device(), g.shape(), dtype));
      };
      const bool needs_x = gradient_is_wanted(0), needs_weight = gradient_is_wanted(1);
      TensorList results(3);
      if (needs_x || needs_weight) {
        const Tensor dx = like_x(g.dtype()), terms = needs_weight ? like_x(statistics) : Tensor();
        dlprim::row_norm_backward(g.device()->queue(), rows, g.data(), x.unpack(), raw_or_null(weight),
                                  raw_or_null(mean), invstd.unpack(), dx.data(), raw_or_null(terms));
        if (needs_x) results[0] = dx;
        if (needs_weight) results[1] = affine_gradient(terms, rows, affine, g.dtype());
      }
      if (gradient_is_wanted(2)) results[2] = affine_gradient(g, rows, affine, g.dtype());
      return results;
    };
  });
}

/** Whether parameters are float32 over an input of 16 bits, as PyTorch has it: the norm is float32's then,
 * and its result rounded. */
bool is_mixed(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const auto fits = [](const Tensor& t) { return !t.defined() || t.dtype() == DType::float32; };
  return (x.dtype() == DType::float16 || x.dtype() == DType::bfloat16) &&
         (weight.defined() || bias.defined()) && fits(weight) && fits(bias);
}

}  // namespace

Tensor layer_norm(const Tensor& x, const std::vector<std::int64_t>& normalized_shape, const Tensor& weight,
                  const Tensor& bias, double eps) {
  ENTER_OPERATOR(layer_norm, x, normalized_shape, weight, bias, eps);
  if (is_mixed(x, weight, bias))
    return to(layer_norm(to(x, DType::float32), normalized_shape, weight, bias, eps), x.dtype());
  constexpr const char* op = "layer_norm";
  dlprim::require_floating(x.dtype(), *x.device(), op);
  const RowNorm norm{op, "LayerNormBackward", dlprim::layer_norm_rows(op, x.shape(), normalized_shape), true,
                     eps};
  check_affine(op, "weight", weight, normalized_shape, x.dtype());
  check_affine(op, "bias", bias, normalized_shape, x.dtype());
  return row_norm(norm, x, weight, bias);
}

Tensor rms_norm(const Tensor& x, const std::vector<std::int64_t>& normalized_shape, const Tensor& weight,
                std::optional<double> eps) {
  ENTER_OPERATOR(rms_norm, x, normalized_shape, weight, eps);
  const double chosen = eps.value_or(dlprim::machine_epsilon(dlprim::compute_dtype(x.dtype())));
  if (is_mixed(x, weight, {}))
    return to(rms_norm(to(x, DType::float32), normalized_shape, weight, chosen), x.dtype());
  constexpr const char* op = "rms_norm";
  dlprim::require_floating(x.dtype(), *x.device(), op);
  const dlprim::NormRows rows = dlprim::layer_norm_rows(op, x.shape(), normalized_shape);
  check_affine(op, "weight", weight, normalized_shape, x.dtype());
  return row_norm({op, "RmsNormBackward", rows, false, chosen}, x, weight, {});
}

Tensor group_norm(const Tensor& x, std::int64_t num_groups, const Tensor& weight, const Tensor& bias,
                  double eps) {
  ENTER_OPERATOR(group_norm, x, num_groups, weight, bias, eps);
  if (is_mixed(x, weight, bias))
    return to(group_norm(to(x, DType::float32), num_groups, weight, bias, eps), x.dtype());
  constexpr const char* op = "group_norm";
  dlprim::require_floating(x.dtype(), *x.device(), op);
  const dlprim::NormRows rows = dlprim::group_norm_rows(op, x.shape(), num_groups);
  const std::int64_t channels = x.size(1);
  check_affine(op, "weight", weight, {channels}, x.dtype());
  check_affine(op, "bias", bias, {channels}, x.dtype());
  return in_format(row_norm({op, "GroupNormBackward", rows, true, eps}, x, weight, bias), format_of(x));
}

Tensor batch_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var,
                  const Tensor& weight, const Tensor& bias, bool training, double momentum, double eps) {
  ENTER_OPERATOR(batch_norm, x, running_mean, running_var, weight, bias, training, momentum, eps);
  check_batch(x, training, eps);
  return normalized_batch(x, running_mean, running_var, weight, bias, training, momentum, eps);
}

Tensor batch_norm_activation(const Tensor& x, const Tensor& running_mean, const Tensor& running_var,
                             const Tensor& weight, const Tensor& bias, bool training, double momentum,
                             double eps, const NormActivation& activation, const Tensor& addend) {
  ENTER_OPERATOR(batch_norm_activation, x, running_mean, running_var, weight, bias, training, momentum, eps,
                 activation, addend);
  check_batch(x, training, eps);
  const dlprim::PointwiseOp* row = activation.row;
  require(!row || (row->inputs == 1 && row->parameters.empty()),
          "batch_norm_activation: ", row ? row->name : "", " is not a function of one input alone");
  const bool is_like_x = !addend.defined() || (addend.shape() == x.shape() && addend.dtype() == x.dtype() &&
                                               addend.device() == x.device());
  if (is_like_x && (!row || dlprim::can_be_epilogue(*row, addend.defined())))
    return normalized_batch(x, running_mean, running_var, weight, bias, training, momentum, eps,
                            {addend, row});
  Tensor y = normalized_batch(x, running_mean, running_var, weight, bias, training, momentum, eps);
  if (addend.defined()) y = add(y, addend);
  return row ? activate(*row, y) : y;
}

// Like PyTorch's: batch norm of one item whose channels are the channels of all items.
Tensor instance_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var,
                     const Tensor& weight, const Tensor& bias, bool use_input_stats, double momentum,
                     double eps) {
  ENTER_OPERATOR(instance_norm, x, running_mean, running_var, weight, bias, use_input_stats, momentum, eps);
  constexpr const char* op = "instance_norm";
  require(x.dim() >= 2, op, ": expected at least 2 dimensions [N, C, ...], got shape ", x.shape());
  require(running_mean.defined() == running_var.defined(), op, ": running_mean and running_var go together");
  require(use_input_stats || running_mean.defined(), op,
          ": expected running_mean and running_var to be defined when use_input_stats is false");
  const std::int64_t items = x.size(0), channels = x.size(1), plane = count_from(x, 2);
  require(!use_input_stats || plane != 1, op,
          ": expected more than 1 spatial element when training, got input size ", x.shape());
  const auto repeated = [&](const char* what, const Tensor& t) {
    if (!t.defined()) return t;
    require(t.shape() == Dims{channels}, op, ": expected ", what, " of shape [", channels, "], got ",
            t.shape());
    return contiguous(reshape(expand(t, {items, channels}), {items * channels}));
  };
  const Tensor mean = repeated("running_mean", running_mean.defined() ? running_mean.detach() : running_mean);
  const Tensor variance = repeated("running_var", running_var.defined() ? running_var.detach() : running_var);
  const Tensor y =
      normalized_batch(reshape(x, {1, items * channels, plane}), mean, variance, repeated("weight", weight),
                       repeated("bias", bias), use_input_stats, momentum, eps);
  if (use_input_stats && running_mean.defined() && x.numel() > 0) {
    Tensor(running_mean).copy_(ocl::mean(reshape(mean, {items, channels}), {0}));
    Tensor(running_var).copy_(ocl::mean(reshape(variance, {items, channels}), {0}));
  }
  return reshape(y, x.shape().vector());
}

namespace {

Tensor composed_response_norm(const Tensor& x, const dlprim::LocalResponseNorm& norm) {
  const Tensor wide = in_compute_dtype(x);
  const std::int64_t channels = x.size(1), before = norm.size / 2, after = (norm.size - 1) / 2;
  Shape margins(static_cast<std::size_t>(2 * (x.dim() - 2)), 0);
  margins.insert(margins.end(), {before, after});
  const Tensor squares = pad(square(wide), margins, "constant", 0);
  Tensor sums = narrow(squares, 1, 0, channels);
  for (std::int64_t i = 1; i < norm.size; ++i) sums = sums + narrow(squares, 1, i, channels);
  const Tensor base = sums * (norm.alpha / static_cast<double>(norm.size)) + norm.k;
  return to(wide / pow(base, norm.beta), x.dtype());
}

}  // namespace

Tensor local_response_norm(const Tensor& a, std::int64_t size, double alpha, double beta, double k) {
  ENTER_OPERATOR(local_response_norm, a, size, alpha, beta, k);
  const dlprim::LocalResponseNorm options{size, alpha, beta, k};
  const Tensor x = contiguous(a);
  dlprim::Device& device = *x.device();
  const dlprim::Tensor y = dlprim::Tensor::empty(device, x.shape(), x.dtype());
  const dlprim::Tensor base = dlprim::Tensor::empty(device, x.shape(), dlprim::compute_dtype(x.dtype()));
  dlprim::local_response_norm_forward(device.queue(), x.data(), options, y, base);
  const Tensor result = record("LocalResponseNormBackward", {x}, y, [&] {
    return [x = SavedTensor(x), base = SavedTensor(base), options](const TensorList& gradients) {
      if (grad_enabled())
        return gradients_by_composition({x.input(0)}, gradients, [&](const TensorList& inputs) {
          return TensorList{composed_response_norm(inputs[0], options)};
        });
      const Tensor g = contiguous(gradients[0]);
      const dlprim::Tensor dx = dlprim::Tensor::empty(*g.device(), g.shape(), g.dtype());
      dlprim::local_response_norm_backward(g.device()->queue(), g.data(), x.unpack(), base.unpack(), options,
                                           dx);
      return TensorList{Tensor(dx)};
    };
  });
  return in_format(result, format_of(a));
}

Tensor normalize(const Tensor& x, double p, const std::vector<std::int64_t>& dims, double eps) {
  ENTER_OPERATOR(normalize, x, p, dims, eps);
  const Tensor wide = in_compute_dtype(x);
  return to(wide / clamp(norm(wide, p, dims, true), eps, INFINITY), x.dtype());
}

}  // namespace ocl
