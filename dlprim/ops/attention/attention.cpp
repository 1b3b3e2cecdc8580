#include "dlprim/ops/attention/attention.h"

#include <limits>

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/core/real.h"
#include "dlprim/ops/attention/attention_problem.h"
#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"
#include "dlprim/runtime/row_implementations.h"

namespace dlprim {
namespace {

constexpr const char* op = "attention";

// ---- the softmax of scores

AttentionExtents extents_of(Queue& queue, const Tensor& scores, bool is_causal, const AttentionPart& part) {
  require_floating(scores.dtype, queue.device(), op);
  require(scores.rank() == 3, op, ": expected scores of shape [batch, queries, keys], got ", scores.shape);
  require_contiguous(op, "scores", scores);
  require(part.batch >= 0 && part.query >= 0, op, ": a part cannot begin at item ", part.batch, ", query ",
          part.query);
  return {scores.shape[0] * scores.shape[1],
          part.batch,
          part.query,
          kernel_int(scores.shape[1], op, "a number of queries"),
          kernel_int(scores.shape[2], op, "a number of keys"),
          is_causal};
}

void require_mask_dtype(const Tensor& mask, DType dtype) {
  require<TypeError>(mask.dtype == DType::boolean || mask.dtype == dtype, op,
                     ": expected a mask of dtype bool or ", name(dtype), ", got ", name(mask.dtype));
}

void require_mask(const Tensor* mask, const Tensor& scores, const AttentionPart& part) {
  if (!mask) return;
  require(mask->rank() == 4 && mask->shape[0] * mask->shape[1] >= part.batch + scores.shape[0] &&
              mask->shape[2] >= part.query + scores.shape[1] && mask->shape[3] >= scores.shape[2],
          op, ": a mask of shape ", mask->shape, " does not fit scores of shape ", scores.shape,
          " from item ", part.batch, ", query ", part.query, " on");
  require_mask_dtype(*mask, scores.dtype);
}

struct SoftmaxProblem {
  AttentionExtents e;
  const Tensor& scores;
  double scale;
  const Tensor *mask, *log_sums;

  std::int64_t rows() const { return e.rows; }
  std::int64_t row_length() const { return e.keys; }
  std::int64_t row_pieces() const { return e.keys; }
  void launch(Queue& queue, const Range& range) const {
    const bool hides = mask && mask->dtype == DType::boolean;
    Kernel& kernel =
        queue.kernel("ops/attention/attention.cl", "attention_softmax", dtype_defines(scores.dtype));
    with_real(scores.dtype, [&](auto zero) {
      queue.launch(kernel, range, scores, e, static_cast<decltype(zero)>(scale),
                   Optional{hides ? mask : nullptr}, Optional{hides ? nullptr : mask},
                   attention_mask_strides(mask), Optional{log_sums},
                   cl_long{log_sums ? log_sums->shape[1] : 0});
    });
  }
};

const ImplementationList<SoftmaxProblem> softmax_implementations("attention_softmax",
                                                                 row_implementations<SoftmaxProblem>());

const ImplementationList<AttentionForward> forward_implementations("attention_forward",
                                                                   attention_forward_by_products(),
                                                                   attention_forward_flash());
const ImplementationList<AttentionBackward> backward_implementations("attention_backward",
                                                                     attention_backward_by_products(),
                                                                     attention_backward_flash());

// ---- operands

AttentionSizes sizes_of(const Tensor& query, const Tensor& key, const Tensor& value) {
  return {query.shape[0], query.shape[1], key.shape[1], query.shape[2], value.shape[2]};
}

Attention checked(Queue& queue, const Tensor& query, const Tensor& key, const Tensor& value,
                  const Tensor* mask, const AttentionSettings& settings, const Tensor* probabilities) {
  for (const Tensor* t : {&query, &key, &value})
    require(t->rank() == 3, op, ": expected query, key and value of shape [batch, rows, columns], got ",
            t->shape);
  require_floating(query.dtype, queue.device(), op);
  for (const Tensor* t : {&key, &value})
    require<TypeError>(t->dtype == query.dtype, op, ": expected ", name(query.dtype), ", got ",
                       name(t->dtype));
  const AttentionSizes s = sizes_of(query, key, value);
  require(
      key.shape == Dims{s.batch, s.keys, s.columns} && value.shape[0] == s.batch && value.shape[1] == s.keys,
      op, ": expected query [B, L, E], key [B, S, E] and value [B, S, Ev], got ", query.shape, ", ",
      key.shape, " and ", value.shape);
  if (mask) {
    require(mask->rank() == 4 && mask->shape[0] * mask->shape[1] == s.batch && mask->shape[2] == s.queries &&
                mask->shape[3] == s.keys,
            op, ": a mask of shape ", mask->shape, " does not fit scores of shape ",
            Dims{s.batch, s.queries, s.keys});
    require_mask_dtype(*mask, query.dtype);
  }
  require(settings.dropout_p >= 0 && settings.dropout_p <= 1, op,
          ": dropout probability has to be between 0 and 1, but got ", settings.dropout_p);
  require_like(op, "the probabilities", probabilities, {s.batch, s.queries, s.keys}, query.dtype);
  return {query, key, value, mask, settings, probabilities, s};
}

void require_log_sums(const Tensor* log_sums, const AttentionSizes& s, DType dtype) {
  require_like(op, "the logarithms of sums", log_sums, {s.batch, s.queries}, compute_dtype(dtype));
}

/** The output is of the operands' dtype, or of that in which it is summed. */
void require_output(const Tensor* output, const AttentionSizes& s, DType dtype) {
  const bool is_wide = output && output->dtype == compute_dtype(dtype);
  require_like(op, "the output", output, {s.batch, s.queries, s.value_columns},
               is_wide ? compute_dtype(dtype) : dtype);
}

void require_gradient(const char* what, const Tensor& gradient, const Dims& shape, DType dtype) {
  if (gradient.defined()) require_like(op, what, gradient, shape, dtype);
}

}  // namespace

MaskStrides attention_mask_strides(const Tensor* mask) {
  if (!mask) return {0, 0, 0, 0, 1};
  const Dims& s = mask->strides;
  return {s[0], s[1], s[2], s[3], mask->shape[1]};
}

void attention_softmax(Queue& queue, const Tensor& scores, double scale, const Tensor* mask, bool is_causal,
                       const AttentionPart& part, const Tensor* log_sums) {
  ENTER(attention_softmax, queue, scores, scale, mask, is_causal, part, log_sums);
  const AttentionExtents e = extents_of(queue, scores, is_causal, part);
  require_mask(mask, scores, part);
  if (log_sums) {
    require(log_sums->rank() == 2 && log_sums->shape[0] >= part.batch + scores.shape[0] &&
                log_sums->shape[1] >= part.query + scores.shape[1],
            op, ": logarithms of sums of shape ", log_sums->shape, " do not fit scores of shape ",
            scores.shape, " from item ", part.batch, ", query ", part.query, " on");
    require_like(op, "the logarithms of sums", *log_sums, log_sums->shape, compute_dtype(scores.dtype));
  }
  if (log_sums && scores.shape[2] == 0) fill(queue, *log_sums, -std::numeric_limits<double>::infinity());
  if (scores.numel() == 0) return;
  softmax_implementations.run(queue, {e, scores, scale, mask, log_sums});
}

AttentionKept attention_kept(const Tensor& query, const Tensor& key, const Tensor& value,
                             bool has_mask_gradient) {
  const AttentionSizes s = sizes_of(query, key, value);
  if (!has_mask_gradient && has_attention_flash(query.device().info(), query.dtype, s))
    return AttentionKept::log_sums;
  return s.queries * s.keys <= s.operands() ? AttentionKept::probabilities : AttentionKept::nothing;
}

void attention_forward(Queue& queue, const Tensor& query, const Tensor& key, const Tensor& value,
                       const Tensor* mask, const AttentionSettings& settings, const Tensor& output,
                       const Tensor* probabilities, const Tensor* log_sums) {
  ENTER(attention_forward, queue, query, key, value, mask, settings, output, probabilities, log_sums);
  const Attention attention = checked(queue, query, key, value, mask, settings, probabilities);
  const AttentionSizes& s = attention.sizes;
  require_output(&output, s, query.dtype);
  require_log_sums(log_sums, s, query.dtype);
  forward_implementations.run(queue, {attention, output, log_sums});
}

void attention_backward(Queue& queue, const Tensor& grad_output, const Tensor* grad_weights,
                        const Tensor& query, const Tensor& key, const Tensor& value, const Tensor* mask,
                        const AttentionSettings& settings, const Tensor* probabilities, const Tensor* output,
                        const Tensor* log_sums, const AttentionGradients& gradients) {
  ENTER(attention_backward, queue, grad_output, grad_weights, query, key, value, mask, settings,
        probabilities, output, log_sums, gradients);
  const Attention attention = checked(queue, query, key, value, mask, settings, probabilities);
  const AttentionSizes& s = attention.sizes;
  const DType dtype = query.dtype;
  require_like(op, "the output's gradient", grad_output, {s.batch, s.queries, s.value_columns}, dtype);
  require_output(output, s, dtype);
  require_log_sums(log_sums, s, dtype);
  require(!grad_weights || probabilities, op, ": a gradient of the weights needs the probabilities");
  require_like(op, "the weights' gradient", grad_weights, attention.scores_shape(), dtype);
  require_gradient("the query's gradient", gradients.query, query.shape, dtype);
  require_gradient("the key's gradient", gradients.key, key.shape, dtype);
  require_gradient("the value's gradient", gradients.value, value.shape, dtype);
  require(!gradients.mask.defined() || mask, op, ": there is no mask to have a gradient");
  if (mask) require_gradient("the mask's gradient", gradients.mask, mask->shape, dtype);

  backward_implementations.run(queue, {attention, grad_output, grad_weights, output, log_sums, gradients});
}

}  // namespace dlprim
