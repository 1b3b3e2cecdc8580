#pragma once

#include "dlprim/core/precision.h"
#include "dlprim/core/tensor.h"
#include "dlprim/runtime/queue.h"

/**
 * \file Linear layers whose weights are kept in 8 or 4 bits, and multiplied as floating-point numbers.
 *
 * A weight W [out, in] is stored in one of two ways, which the dtype of the stored tensor tells apart.
 *
 *   int8    weight int8 [out, in], scales [out], no zeros:          W[o, i] = q[o, i] * scales[o]
 *   uint8   weight uint8 [out, in / 2], scales and zeros [out, in / group], group 32, 64, 128 or 256:
 *                                       W[o, i] = (q[o, i] - 8) * scales[o, g] + zeros[o, g], g = i / group
 *
 * The second has q from 0 to 15, two to a byte. Blocks of 32 neighbours along `in` have 16 bytes. Byte j of a
 * block has element j in its low four bits, and element j + 16 in its high ones: the order of GGML's Q4_0. So
 * a CPU makes two vectors of neighbours of a vector of bytes, by a mask and a shift. On a GPU a work item
 * reads four bytes, and of the activations two times four neighbours. `zeros` are the numbers that q = 8
 * stands for, as in torchao's PLAIN layout. Scales and zeros share a floating dtype of their own.
 *
 * All tensors are contiguous, and results overlap nothing. Activations, bias and results share a floating
 * dtype. Sums are in its compute dtype. Throws ValueError for shapes that do not fit, TypeError for dtypes.
 */

namespace dlprim {

/** `in` of a stored weight. Throws ValueError unless it has two dimensions, TypeError for other dtypes than
 * those above; `op` names the caller. */
std::int64_t inputs_of(const char* op, const Tensor& weight, const Tensor* zeros);

/** y [rows, out] = x [rows, in] @ W^T + bias; `zeros` and `bias` may be nullptr. How float32 is multiplied
 * where rows are many: `precision`. */
void quantized_linear_forward(Queue& queue, const Tensor& x, const Tensor& weight, const Tensor& scales,
                              const Tensor* zeros, const Tensor* bias, const Tensor& y,
                              MatmulPrecision precision = MatmulPrecision::highest);

/** dx [rows, in] = dy [rows, out] @ W. */
void quantized_linear_backward_data(Queue& queue, const Tensor& dy, const Tensor& weight,
                                    const Tensor& scales, const Tensor* zeros, const Tensor& dx,
                                    MatmulPrecision precision = MatmulPrecision::highest);

/** result [out, in] = W, in any floating dtype. */
void dequantize_weight(Queue& queue, const Tensor& weight, const Tensor& scales, const Tensor* zeros,
                       const Tensor& result);

}  // namespace dlprim
