#pragma once

#include <cstdint>

#include "dlprim/core/tensor.h"
#include "dlprim/ops/loss/class_loss_shared.h"

namespace dlprim {

/** The reduction of the losses of a batch: `reduction` of torch.nn.functional's losses. */
enum class Reduction {
  none = REDUCE_NONE,
  mean = REDUCE_MEAN,
  sum = REDUCE_SUM,
  None = none,  // libtorch's names
  Mean = mean,
  Sum = sum
};

/** A batch of class scores seen as [batch, classes, positions]. */
struct ClassLossExtents {
  std::int64_t batch, classes, positions;
  std::int64_t rows() const { return batch * positions; }
};

/**
 * Extents of scores [C], [N, C] or [N, C, d1, …] with class indices of shape [], [N] or [N, d1, …], or with
 * class probabilities (`target` of the scores' shape and a floating dtype). Throws ValueError or TypeError
 * naming `op` when they, or `weight` ([C] or nullptr), do not fit.
 */
ClassLossExtents class_loss_extents(const char* op, const Tensor& scores, const Tensor& target,
                                    const Tensor* weight);

/** Shape of the loss: [] when reduced, else the scores' shape without the class dimension. */
Dims class_loss_shape(const Dims& scores, Reduction reduction);

}  // namespace dlprim
