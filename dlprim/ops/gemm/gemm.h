#pragma once

#include "dlprim/core/tensor.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

/**
 * Batched matrix product c = alpha * a @ b + beta * c (+ bias), torch.baddbmm with a row bias.
 *
 * a [B, M, K], b [B, K, N], c [B, M, N], all of rank 3 or all of rank 2 (B = 1); bias [N] is added to every
 * row. a and b may have any strides, so transposed and batch-broadcast operands cost nothing; c and bias are
 * contiguous; c does not overlap a, b or bias. One floating dtype for all; half types are summed in float32.
 * With K = 0 the product is zero; with beta = 0 the old c is not read.
 * Throws ValueError on shapes that do not fit, TypeError on dtypes.
 */
void gemm(Queue& queue, const Tensor& a, const Tensor& b, const Tensor& c, float alpha = 1, float beta = 0,
          const Tensor* bias = nullptr);

}  // namespace dlprim
