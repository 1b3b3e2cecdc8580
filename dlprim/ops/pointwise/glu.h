#pragma once

#include "dlprim/core/tensor.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

// Gated linear unit (Dauphin et al., "Language Modeling with Gated Convolutional Networks", 2017;
// torch.nn.functional.glu): the first half of x along `dim`, times the sigmoid of the second.

/** The shape of glu of `x`: half of it along `dim`. Throws ValueError where that is odd, IndexError. */
Dims glu_output_shape(const Dims& x, std::int64_t dim);

/** y = glu(x), of one floating dtype. Any strides. Throws ValueError, TypeError. */
void glu_forward(Queue& queue, const Tensor& x, std::int64_t dim, const Tensor& y);

/** dx = the gradient by x from that of y, `dy`. Any strides. Throws ValueError, TypeError. */
void glu_backward(Queue& queue, const Tensor& dy, const Tensor& x, std::int64_t dim, const Tensor& dx);

}  // namespace dlprim
