#pragma once

#include "dlprim/runtime/queue.h"

namespace dlprim {

/**
 * What scaled dot-product attention does to its scores (Vaswani et al., "Attention Is All You Need", 2017),
 * in place: softmax over the keys of scores * scale, masked. A query with no key left gets zeros.
 *
 * scores: [batch, queries, keys], floating, contiguous. mask: nullptr, or [outer, inner, queries, keys] of
 * any strides with outer * inner = batch; bool (false hides a key) or the scores' dtype (added). is_causal:
 * query i sees keys 0 to i. Throws ValueError, TypeError.
 *
 * torch.nn.functional.scaled_dot_product_attention is this between two gemms: scores = query @ key^T before,
 * the result @ value after. Its gradient by the unscaled scores is `scale` times softmax_backward along the
 * last dimension.
 */
void attention_softmax(Queue& queue, const Tensor& scores, double scale, const Tensor* mask, bool is_causal);

}  // namespace dlprim
