#pragma once

#include <string>

#include "autograd/tensor/tensor.h"

namespace ocl {

// Products of matrices and vectors: floating dtypes, and int64, int32 and uint8, which wrap. Both operands
// have one dtype. Throw ValueError for shapes that do not fit, TypeError for dtypes.

/** Matrix product [M, K] x [K, N] -> [M, N] (torch.mm). */
Tensor mm(const Tensor& a, const Tensor& b);
/** Batched matrix product [B, M, K] x [B, K, N] -> [B, M, N] (torch.bmm). */
Tensor bmm(const Tensor& a, const Tensor& b);
/** torch.matmul: dot product, matrix times vector, matrix product, and batches of them with broadcasting. */
Tensor matmul(const Tensor& a, const Tensor& b);
/** x [..., in] times weight [out, in] transposed, plus bias [out] where given (torch.nn.functional.linear).
 */
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});
/** beta * input + alpha * mat1 @ mat2, where `input` broadcasts to [M, N] (torch.addmm). With beta = 0 the
 * input is not read. */
Tensor addmm(const Tensor& input, const Tensor& mat1, const Tensor& mat2, const Scalar& beta = 1,
             const Scalar& alpha = 1);
/** beta * input + alpha * batch1 @ batch2, where `input` broadcasts to [B, M, N] (torch.baddbmm). */
Tensor baddbmm(const Tensor& input, const Tensor& batch1, const Tensor& batch2, const Scalar& beta = 1,
               const Scalar& alpha = 1);
/** The sum of the products of two vectors of one size (torch.dot). */
Tensor dot(const Tensor& a, const Tensor& b);
/** All products [N, M] of the elements of two vectors [N], [M] (torch.outer). */
Tensor outer(const Tensor& a, const Tensor& b);

}  // namespace ocl
