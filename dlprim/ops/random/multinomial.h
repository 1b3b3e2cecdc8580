#pragma once

#include "dlprim/ops/random/random.h"

namespace dlprim {

/**
 * Draws categories, each with a probability that is its weight's share of its row's sum. weights [rows,
 * categories], any floating dtype; out [rows, samples], int64; both contiguous. Without replacement no
 * category comes twice in a row, and those of weight 0 come after all others; samples <= categories then.
 * Sums of weights stand in a binary tree, so a draw costs the logarithm of the categories. A weight that is
 * negative, infinite or NaN, and a row without a weight above 0, throw IndexError at the next waiting point.
 * (torch.multinomial)
 */
void multinomial(Queue& queue, const Tensor& weights, bool replacement, PhiloxState state, const Tensor& out);

}  // namespace dlprim
