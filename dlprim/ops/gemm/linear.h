#pragma once

#include "dlprim/core/precision.h"
#include "dlprim/core/tensor.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

/*
 * torch.nn.functional.linear of rows x [N, in] by weight [out, in] and bias [out], and its gradients by each;
 * rows of more dimensions are passed `reshaped`. Tensors that are read may have any strides but the bias,
 * which is contiguous as results are; a result overlaps nothing that is read. Dtypes, precision and errors
 * are gemm's; gradients are of floating ones.
 */

/** y [N, out] = x @ weight^T + bias; `bias` may be nullptr. */
void linear_forward(Queue& queue, const Tensor& x, const Tensor& weight, const Tensor* bias, const Tensor& y,
                    MatmulPrecision precision = MatmulPrecision::highest);

/** dx = dy @ weight. */
void linear_backward_data(Queue& queue, const Tensor& dy, const Tensor& weight, const Tensor& dx,
                          MatmulPrecision precision = MatmulPrecision::highest);

/** dw = dy^T @ x. */
void linear_backward_weight(Queue& queue, const Tensor& dy, const Tensor& x, const Tensor& dw,
                            MatmulPrecision precision = MatmulPrecision::highest);

/** db [out] = the sum of the rows of dy, in a fixed order. */
void linear_backward_bias(Queue& queue, const Tensor& dy, const Tensor& db);

}  // namespace dlprim
