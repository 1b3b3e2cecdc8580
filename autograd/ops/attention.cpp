#include "autograd/ops/attention.h"

#include <cmath>

#include "autograd/call.h"
#include "autograd/generator.h"
#include "autograd/ops/matrix_product.h"
#include "autograd/ops/pointwise.h"
#include "autograd/ops/raw_or_null.h"
#include "dlprim/core/real.h"
#include "dlprim/ops/attention/attention.h"
#include "dlprim/ops/random/random.h"
#include "dlprim/ops/softmax/softmax.h"
#include "dlprim/runtime/dtype_defines.h"

namespace ocl {
namespace {

using dlprim::require;
using Shape = std::vector<std::int64_t>;

constexpr const char* op = "scaled_dot_product_attention";

/** Zeroes and scales, always the same elements for one state; the tensor itself without dropout. */
struct Dropout {
  double p = 0;
  dlprim::PhiloxState state;

  dlprim::Tensor operator()(const dlprim::Tensor& x) const {
    if (p == 0) return x;
    const dlprim::Tensor y = dlprim::Tensor::empty(x.device(), x.shape, x.dtype);
    dlprim::dropout(x.device().queue(), x, p, state, y);
    return y;
  }
};

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

Problem problem_of(const Tensor& query, const Tensor& key, const Tensor& value,
                   const AttentionOptions& options) {
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
  // The gradient of softmax is a difference of nearly equal numbers, which probabilities in float16 drown.
  const DType compute = dlprim::compute_dtype(query.dtype());
  return {as_batch(to(query, compute), batch),
          as_batch(to(key, compute), batch),
          as_batch(to(value, compute), batch),
          mask_of(options.attn_mask, batch, query.size(-2), key.size(-2), compute),
          batch,
          scale,
          options.dropout_p,
          options.is_causal};
}

/** The output and, if wanted, the weights. */
TensorList attend(const Problem& p, bool wants_weights) {
  dlprim::Device& device = *p.query.device();
  const dlprim::Tensor probabilities = product(p.query.data(), p.key.data().transposed());
  dlprim::attention_softmax(device.queue(), probabilities, p.scale, raw_or_null(p.mask), p.is_causal);
  Dropout drop;
  if (p.dropout_p > 0) drop = {p.dropout_p, default_generator(p.query.device()).next(probabilities.numel())};
  const dlprim::Tensor weights = drop(probabilities);
  std::vector<dlprim::Tensor> outputs{product(weights, p.value.data())};
  if (wants_weights) outputs.push_back(weights);
  return record_many("ScaledDotProductAttentionBackward", {p.query, p.key, p.value, p.mask}, outputs, [&] {
    return [query = SavedTensor(p.query), key = SavedTensor(p.key), value = SavedTensor(p.value),
            probabilities = SavedTensor(probabilities), drop, scale = p.scale,
            mask = p.mask.defined() ? p.mask.shape() : Dims(), needs_query = wants_gradient(p.query),
            needs_key = wants_gradient(p.key), needs_value = wants_gradient(p.value),
            needs_mask = wants_gradient(p.mask), wants_weights](const TensorList& gradients) {
      const dlprim::Tensor g = contiguous(gradients[0]).data();
      const dlprim::Tensor& likely = probabilities.unpack();
      TensorList results(4);
      if (needs_value) results[2] = Tensor(product(drop(likely).transposed(), g));
      if (!needs_query && !needs_key && !needs_mask) return results;
      Tensor by_weights(product(g, value.unpack().transposed()));
      if (wants_weights) by_weights = contiguous(by_weights + gradients[1]);
      const dlprim::Tensor by_scores = dlprim::Tensor::empty(likely.device(), likely.shape, likely.dtype);
      dlprim::softmax_backward(likely.device().queue(), drop(by_weights.data()), likely, -1, by_scores);
      if (needs_query) results[0] = Tensor(product(by_scores, key.unpack())) * scale;
      if (needs_key) results[1] = Tensor(product(by_scores.transposed(), query.unpack())) * scale;
      if (needs_mask) results[3] = Tensor(by_scores.reshaped(mask));
      return results;
    };
  });
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

}  // namespace

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const AttentionOptions& options, bool enable_gqa) {
  ENTER_OPERATOR(scaled_dot_product_attention, query, key, value, options, enable_gqa);
  if (enable_gqa) {
    require(
        query.dim() >= 3 && key.dim() >= 3 && value.dim() >= 3 && key.size(-3) > 0 &&
            query.size(-3) % key.size(-3) == 0 && value.size(-3) > 0 && query.size(-3) % value.size(-3) == 0,
        op, ": with enable_gqa the heads of query must be a multiple of those of key and value, got shapes ",
        query.shape(), ", ", key.shape(), " and ", value.shape());
    return scaled_dot_product_attention(query, repeated_heads(key, query.size(-3) / key.size(-3)),
                                        repeated_heads(value, query.size(-3) / value.size(-3)), options);
  }
  const Problem problem = problem_of(query, key, value, options);
  const Tensor output = to(attend(problem, false)[0], query.dtype());
  return reshape(output, with_matrix(problem.batch, query.size(-2), value.size(-1)));
}

AttentionResult attention_with_weights(const Tensor& query, const Tensor& key, const Tensor& value,
                                       const AttentionOptions& options) {
  const Problem problem = problem_of(query, key, value, options);
  const TensorList results = attend(problem, true);
  const auto result = [&](const Tensor& t, std::int64_t columns) {
    return reshape(to(t, query.dtype()), with_matrix(problem.batch, query.size(-2), columns));
  };
  return {result(results[0], value.size(-1)), result(results[1], key.size(-2))};
}

}  // namespace ocl
