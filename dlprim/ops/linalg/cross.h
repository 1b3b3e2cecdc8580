#pragma once

#include "dlprim/runtime/queue.h"

namespace dlprim {

/** torch.cross: vectors y[o, :, i] = a[o, :, i] x b[o, :, i]. Tensors [outer, 3, inner] of one dtype, any but
 * bool, of any strides; `y` overlaps neither `a` nor `b`, and no two of its elements share a place. */
void cross(Queue& queue, const Tensor& a, const Tensor& b, const Tensor& y);

}  // namespace dlprim
