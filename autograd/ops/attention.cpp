#include "autograd/ops/attention.h"

#include <array>
#include <cmath>

#include "autograd/ops/call.h"
#include "autograd/ops/contiguous_kernel.h"
#include "autograd/ops/index.h"
#include "autograd/ops/linalg.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/raw_or_null.h"
#include "autograd/ops/reduce.h"
#include "autograd/ops/softmax.h"
#include "autograd/tape/gradients.h"
#include "autograd/tensor/creation.h"
#include "autograd/tensor/generator.h"
#include "autograd/tensor/precision.h"
#include "dlprim/core/real.h"
#include "dlprim/ops/attention/attention.h"
#include "dlprim/runtime/dtype_defines.h"

namespace ocl {
namespace {

using dlprim::require;
using Shape = std::vector<std::int64_t>;

constexpr const char* op = "scaled_dot_product_attention";

/** Everything as [batch, rows, columns], the mask as [outer, inner, L, S]. */
struct Problem {
  Tensor query, key, value, mask;
  Dims batch;
  double scale, dropout_p;
  bool is_causal;
};

Dims leading(const Tensor& t) {
  return Dims(t.shape().begin(), t.shape().end() - 2);
}

Shape with_matrix(const Dims& batch, std::int64_t rows, std::int64_t columns) {
  Shape shape = batch.vector();
  shape.insert(shape.end(), {rows, columns});
  return shape;
}

Tensor as_batch(const Tensor& t, const Dims& batch) {
  const std::int64_t rows = t.size(-2), columns = t.size(-1);
  return reshape(expand(t, with_matrix(batch, rows, columns)), {dlprim::product(batch), rows, columns});
}

Tensor mask_of(const Tensor& mask, const Dims& batch, std::int64_t queries, std::int64_t keys, DType dtype) {
  if (!mask.defined()) return mask;
  require<TypeError>(mask.dtype() == DType::boolean || is_floating(mask.dtype()), op,
                     ": expected attn_mask of dtype bool or floating, got ", name(mask.dtype()));
  const std::int64_t inner = batch.empty() ? 1 : batch.back();
  const std::int64_t outer = batch.empty() ? 1 : dlprim::product(Dims(batch.begin(), batch.end() - 1));
  const Tensor own = mask.dtype() == DType::boolean ? mask : to(mask, dtype);
  return reshape(expand(own, with_matrix(batch, queries, keys)), {outer, inner, queries, keys});
}

bool wants_gradient(const Tensor& mask) {
  return mask.defined() && mask.requires_grad();
}

/** The operands of attention. Kernels that keep their scores to themselves take operands as they are. Others
 * would round those to 16 bits, and gradients by scores are differences of nearly equal numbers. */
DType compute_dtype_of(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask,
                       bool wants_weights) {
  if (!wants_weights && dlprim::attention_kept(query.data(), key.data(), value.data(),
                                               wants_gradient(mask)) == dlprim::AttentionKept::log_sums)
    return query.dtype();
  return dlprim::compute_dtype(query.dtype());
}

/** Every head `times` over, next to itself. */
Tensor repeated_heads(const Tensor& t, std::int64_t times) {
  Shape shape = t.shape().vector();
  const auto heads = shape.end() - 3;
  Shape apart = shape;
  apart.insert(apart.end() - 2, times);
  *heads *= times;
  return reshape(expand(unsqueeze(t, -3), apart), shape);
}

/** `t` with its heads repeated to those of query, where they are grouped. */
Tensor with_heads_of(const Tensor& query, const Tensor& t) {
  require(query.dim() >= 3 && t.dim() >= 3 && t.size(-3) > 0 && query.size(-3) % t.size(-3) == 0, op,
          ": with enable_gqa the heads of query must be a multiple of those of key and value, got shapes ",
          query.shape(), " and ", t.shape());
  return repeated_heads(t, query.size(-3) / t.size(-3));
}

Problem problem_of(const Tensor& query, const Tensor& given_key, const Tensor& given_value,
                   const AttentionOptions& options, bool wants_weights) {
  const Tensor key = options.enable_gqa ? with_heads_of(query, given_key) : given_key;
  const Tensor value = options.enable_gqa ? with_heads_of(query, given_value) : given_value;
  dlprim::require_floating(query.dtype(), *query.device(), op);
  for (const Tensor* t : {&query, &key, &value})
    require(t->dim() >= 2, op, ": expected query, key and value of at least 2 dimensions, got shape ",
            t->shape());
  for (const Tensor* t : {&key, &value})
    require<TypeError>(t->dtype() == query.dtype(), op,
                       ": expected query, key and value to have the same dtype, got ", name(query.dtype()),
                       " and ", name(t->dtype()));
  require(query.size(-1) == key.size(-1) && key.size(-2) == value.size(-2), op,
          ": expected query [..., L, E], key [..., S, E] and value [..., S, Ev], got ", query.shape(), ", ",
          key.shape(), " and ", value.shape());
  require(options.dropout_p >= 0 && options.dropout_p <= 1, op,
          ": dropout probability has to be between 0 and 1, but got ", options.dropout_p);
  require(!options.is_causal || !options.attn_mask.defined(), op,
          ": explicit attn_mask should not be set when is_causal=True");
  const Dims batch = dlprim::broadcast_shapes(dlprim::broadcast_shapes(leading(query), leading(key), op),
                                              leading(value), op);
  const double scale = options.scale.value_or(1 / std::sqrt(static_cast<double>(query.size(-1))));
  const Tensor queries = as_batch(query, batch), keys = as_batch(key, batch), values = as_batch(value, batch);
  const DType compute = compute_dtype_of(queries, keys, values, options.attn_mask, wants_weights);
  return {to(queries, compute),
          to(keys, compute),
          to(values, compute),
          mask_of(options.attn_mask, batch, query.size(-2), key.size(-2), compute),
          batch,
          scale,
          options.dropout_p,
          options.is_causal};
}

/** Scores that have a mask behind them: minus infinity where nothing is to be attended to. */
Tensor masked_scores(const Tensor& scores, const Tensor& mask, bool is_causal) {
  Tensor result = scores;
  if (is_causal) {
    const Tensor all = ones({scores.size(1), scores.size(2)}, DType::boolean, scores.device());
    result = where(tril(all), result, -INFINITY);
  }
  if (!mask.defined()) return result;
  const Tensor own = reshape(mask, scores.shape().vector());
  return own.dtype() == DType::boolean ? where(own, result, -INFINITY) : result + own;
}

/** Attention by operators: the output and its weights. */
TensorList composed_attention(const TensorList& inputs, const dlprim::AttentionSettings& settings) {
  const DType given = inputs[0].dtype(), compute = dlprim::compute_dtype(given);
  const auto wide = [&](const Tensor& t) { return t.defined() && t.dtype() == given ? to(t, compute) : t; };
  const Tensor scores = masked_scores(bmm(wide(inputs[0]), transpose(wide(inputs[1]), 1, 2)) * settings.scale,
                                      wide(inputs[3]), settings.is_causal);
  const Tensor is_lost = eq(amax(scores.detach(), {-1}, true), -INFINITY);  // nothing is left to attend to
  Tensor weights = where(is_lost, 0.0, softmax(where(is_lost, 0.0, scores), -1));
  if (settings.dropout_p > 0) {
    const auto mask = on_contiguous(
        weights.shape(), [p = settings.dropout_p, state = settings.dropout](
                             dlprim::Queue& queue, const dlprim::Tensor& from, const dlprim::Tensor& kept) {
          dlprim::dropout(queue, from, p, state, kept);
        });
    weights = apply_linear("DropoutBackward", weights, mask, mask);
  }
  return {to(bmm(weights, wide(inputs[2])), given), to(weights, given)};
}

/** The part of a call that the tape keeps. */
struct ForBackward {
  SavedTensor query, key, value, mask, probabilities, output, log_sums;
  dlprim::AttentionSettings settings;
  GradientKind of_output;

  TensorList operator()(const TensorList& gradients) const {
    if (grad_enabled()) {
      TensorList all = gradients;
      all.resize(2);
      return gradients_by_composition(
          {query.input(0), key.input(1), value.input(2), mask.input(3)}, all,
          [&](const TensorList& inputs) { return composed_attention(inputs, settings); });
    }
    const std::array given{raw_or_null(query), raw_or_null(key), raw_or_null(value), raw_or_null(mask)};
    std::array<dlprim::Tensor, 4> made;
    // The weights do not depend on value.
    const auto depends = [&](std::size_t i) { return i != 2 || gradients[0].defined(); };
    for (std::size_t i = 0; i < made.size(); ++i)
      if (gradient_is_wanted(i) && depends(i))
        made[i] = dlprim::Tensor::empty(given[i]->device(), given[i]->shape, given[i]->dtype);
    const Tensor by_output = contiguous(of_output.or_zeros(gradients[0]));
    const Tensor by_weights = gradients.size() > 1 ? contiguous_or_none(gradients[1]) : Tensor();
    dlprim::attention_backward(given[0]->device().queue(), by_output.data(), raw_or_null(by_weights),
                               *given[0], *given[1], *given[2], given[3], settings,
                               raw_or_null(probabilities), raw_or_null(output), raw_or_null(log_sums),
                               {made[0], made[1], made[2], made[3]});
    TensorList results;
    for (const dlprim::Tensor& gradient : made)
      results.push_back(gradient.defined() ? Tensor(gradient) : Tensor());
    return results;
  }
};

/** The output and, if wanted, the weights. Where the tape keeps the output of 16-bit operands, it keeps it
 * as it is summed: its product with its own gradient is one of two nearly equal numbers whose difference is
 * the gradient by a score. */
TensorList attend(const Problem& p, bool wants_weights) {
  dlprim::Device& device = *p.query.device();
  const dlprim::Tensor &query = p.query.data(), &key = p.key.data(), &value = p.value.data();
  const auto matrix = [&](std::int64_t columns, DType dtype) {
    return dlprim::Tensor::empty(device, {query.shape[0], query.shape[1], columns}, dtype);
  };
  const DType compute = dlprim::compute_dtype(query.dtype);
  using Kept = dlprim::AttentionKept;
  const bool is_recorded = needs_tape({p.query, p.key, p.value, p.mask});
  const Kept kept = wants_weights ? Kept::probabilities
                    : is_recorded ? dlprim::attention_kept(query, key, value, wants_gradient(p.mask))
                                  : Kept::nothing;
  dlprim::Tensor probabilities, log_sums;
  if (kept == Kept::probabilities) probabilities = matrix(key.shape[1], query.dtype);
  if (kept == Kept::log_sums)
    log_sums = dlprim::Tensor::empty(device, {query.shape[0], query.shape[1]}, compute);
  dlprim::AttentionSettings settings{p.scale, p.is_causal, p.dropout_p, {}, float32_matmul_precision()};
  if (p.dropout_p > 0)
    settings.dropout =
        default_generator(p.query.device()).next(query.shape[0] * query.shape[1] * key.shape[1]);
  const auto or_null = [](const dlprim::Tensor& t) { return t.defined() ? &t : nullptr; };
  const bool keeps_output = log_sums.defined();
  const dlprim::Tensor output = matrix(value.shape[2], keeps_output ? compute : query.dtype);
  dlprim::attention_forward(device.queue(), query, key, value, raw_or_null(p.mask), settings, output,
                            or_null(probabilities), or_null(log_sums));
  std::vector<dlprim::Tensor> outputs{output};
  if (output.dtype != query.dtype) {
    outputs[0] = matrix(value.shape[2], query.dtype);
    dlprim::copy(device.queue(), output, outputs[0]);
  }
  if (wants_weights) {
    outputs.push_back(p.dropout_p > 0 ? matrix(key.shape[1], query.dtype) : probabilities);
    if (p.dropout_p > 0)
      dlprim::dropout(device.queue(), probabilities, p.dropout_p, settings.dropout, outputs[1]);
  }
  return record_many("ScaledDotProductAttentionBackward", {p.query, p.key, p.value, p.mask}, outputs, [&] {
    const auto saved = [](const Tensor& t) { return t.defined() ? SavedTensor(t) : SavedTensor(); };
    const auto saved_raw = [](const dlprim::Tensor& t) {
      return t.defined() ? SavedTensor(t) : SavedTensor();
    };
    return ForBackward{saved(p.query),           saved(p.key),
                       saved(p.value),           saved(p.mask),
                       saved_raw(probabilities), keeps_output ? SavedTensor(output) : SavedTensor(),
                       saved_raw(log_sums),      settings,
                       GradientKind(outputs[0])};
  });
}

}  // namespace

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const AttentionOptions& options) {
  ENTER_OPERATOR(scaled_dot_product_attention, query, key, value, options);
  const Problem problem = problem_of(query, key, value, options, false);
  const Tensor output = to(attend(problem, false)[0], query.dtype());
  return reshape(output, with_matrix(problem.batch, query.size(-2), value.size(-1)));
}

AttentionResult attention_with_weights(const Tensor& query, const Tensor& key, const Tensor& value,
                                       const AttentionOptions& options) {
  const Problem problem = problem_of(query, key, value, options, true);
  const TensorList results = attend(problem, true);
  const auto result = [&](const Tensor& t, std::int64_t columns) {
    return reshape(to(t, query.dtype()), with_matrix(problem.batch, query.size(-2), columns));
  };
  return {result(results[0], value.size(-1)), result(results[1], key.size(-2))};
}

}  // namespace ocl
