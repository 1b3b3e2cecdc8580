#pragma once

#include "dlprim/core/precision.h"
#include "dlprim/core/tensor.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

/**
 * Batched matrix product c = alpha * a @ b + beta * c (+ bias), torch.baddbmm with a row bias.
 *
 * a [B, M, K], b [B, K, N], c [B, M, N], all of rank 3 or all of rank 2 (B = 1). Bias [N] is added to every
 * row. Both a and b may have any strides, so transposed and batch-broadcast operands cost nothing. Contiguous
 * are c and bias; c does not overlap a, b or bias. One dtype for all: floating (half types are summed in
 * float32), or integers, whose products wrap and whose alpha and beta are whole numbers. With K
 * = 0 the product is zero; with beta = 0 the old c is not read, with alpha = 0 neither are a and b. How
 * float32 is multiplied: `precision`. Throws ValueError on shapes that do not fit, TypeError on dtypes.
 */
void gemm(Queue& queue, const Tensor& a, const Tensor& b, const Tensor& c, double alpha = 1, double beta = 0,
          const Tensor* bias = nullptr, MatmulPrecision precision = MatmulPrecision::highest);

}  // namespace dlprim
