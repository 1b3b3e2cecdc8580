#pragma once

#include "dlprim/core/fields.h"
#include "dlprim/core/precision.h"
#include "dlprim/ops/random/random.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

/*
 * Scaled dot-product attention (Vaswani et al., "Attention Is All You Need", 2017;
 * torch.nn.functional.scaled_dot_product_attention): output = dropout(softmax(query @ key^T * scale, masked))
 * @ value. A query with no key left gets zeros.
 *
 * query: [batch, queries, columns], key: [batch, keys, columns], value: [batch, keys, value columns], of any
 * strides, and one floating dtype; results contiguous. mask: nullptr, or [outer, inner, queries, keys] of any
 * strides with outer * inner = batch; bool (false hides a key) or the dtype of the rest (added).
 */

struct AttentionSettings {
  double scale = 1;
  bool is_causal = false;  // query i sees keys 0 to i
  double dropout_p = 0;
  PhiloxState dropout{};  // numbers of batch * queries * keys elements: what is dropped, all devices agree
  MatmulPrecision precision = MatmulPrecision::highest;
  FIELDS(scale, is_causal, dropout_p, dropout, precision)
};

/**
 * `probabilities`: nullptr, or [batch, queries, keys], what the softmax gives, before dropout. Without it the
 * matrix is never there as a whole (unless the implementation "whole_matrix" is forced). Work groups keep
 * their scores, or the matrix is made in parts of a size that suits the device. A causal one without a mask
 * needs little more than half of it. `log_sums`: nullptr, or [batch, queries] of the dtype that is computed
 * in, the logarithm of the sum of a query's exponentials (-inf where it has no key). `output`: of the dtype
 * of query or of the dtype that is computed in, which keeps more of 16-bit operands for attention_backward.
 * Throws ValueError, TypeError.
 */
void attention_forward(Queue& queue, const Tensor& query, const Tensor& key, const Tensor& value,
                       const Tensor* mask, const AttentionSettings& settings, const Tensor& output,
                       const Tensor* probabilities, const Tensor* log_sums = nullptr);

/** Where attention_backward writes gradients; undefined ones are not computed. With the shapes of query, key,
 * value and mask, contiguous. */
struct AttentionGradients {
  Tensor query, key, value, mask;
  FIELDS(query, key, value, mask)
};

/**
 * The gradients from that of the output, and from that of the weights that dropout left, if there is one
 * (nullptr, or [batch, queries, keys]; needs `probabilities`). `output` and `log_sums`: nullptr, or what
 * forward gave; kernels whose work groups keep their scores need both, others make the matrix anew. All else
 * as attention_forward had it. Throws ValueError, TypeError.
 */
void attention_backward(Queue& queue, const Tensor& grad_output, const Tensor* grad_weights,
                        const Tensor& query, const Tensor& key, const Tensor& value, const Tensor* mask,
                        const AttentionSettings& settings, const Tensor* probabilities, const Tensor* output,
                        const Tensor* log_sums, const AttentionGradients& gradients);

enum class AttentionKept { nothing, log_sums, probabilities };

/**
 * The values of forward that are best kept for backward. Where a kernel takes them these are the output and
 * log_sums. Else they are the probabilities, if those are no larger than their operands and results: without
 * them backward takes a fifth to a third longer (two cores). The memory of a net is linear in the length
 * either way.
 */
AttentionKept attention_kept(const Tensor& query, const Tensor& key, const Tensor& value,
                             bool has_mask_gradient);

/** The part of a matrix of scores that is there: [items from `batch` on, queries from `query` on, first
 * keys]. */
struct AttentionPart {
  std::int64_t batch = 0, query = 0;
  FIELDS(batch, query)
};

/** Attention's step on its scores, in place: softmax over the keys of scores * scale, masked. scores:
 * floating, contiguous, of rank 3; the mask and log_sums (see attention_forward) are those of the whole
 * matrix. Throws ValueError, TypeError. */
void attention_softmax(Queue& queue, const Tensor& scores, double scale, const Tensor* mask, bool is_causal,
                       const AttentionPart& part = {}, const Tensor* log_sums = nullptr);

}  // namespace dlprim
