#pragma once

#include "autograd/tensor.h"

namespace ocl {

/** Matrix product [M, K] x [K, N] -> [M, N] (torch.mm). Throws ValueError, TypeError. */
Tensor mm(const Tensor& a, const Tensor& b);
/** Batched matrix product [B, M, K] x [B, K, N] -> [B, M, N] (torch.bmm). */
Tensor bmm(const Tensor& a, const Tensor& b);
/** torch.matmul: dot product, matrix times vector, matrix product, and batches of them with broadcasting. */
Tensor matmul(const Tensor& a, const Tensor& b);
/** x [..., in] times weight [out, in] transposed, plus bias [out] where given (torch.nn.functional.linear).
 */
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});

}  // namespace ocl
