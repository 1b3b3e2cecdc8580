#pragma once

#include "dlprim/core/tensor.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

/** Copies `source` to `destination`, of one shape and dtype, where each lies along a dimension of its own,
 * of some length, so that elements of one or the other would be far apart. Returns false for others. */
bool copy_transposed(Queue& queue, const Tensor& source, const Tensor& destination);

}  // namespace dlprim
