#pragma once

#include "dlprim/core/fields.h"
#include "dlprim/core/tensor.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

/** a is close to b where |a - b| <= atol + rtol |b|. Equal infinities are close, NaNs only with `equal_nan`.
 */
struct Closeness {
  double rtol = 1e-5, atol = 1e-8;
  bool equal_nan = false;
  FIELDS(rtol, atol, equal_nan)
};

/** torch.isclose: whether each element of a is close to that of b, into `close`, bool, of the shape that both
 * broadcast to. a and b of one dtype; any strides. Integers are compared in float32, as PyTorch does, but
 * exactly where rtol and atol are 0. Throws ValueError, TypeError. */
void isclose(Queue& queue, const Tensor& a, const Tensor& b, const Closeness& closeness, const Tensor& close);

}  // namespace dlprim
