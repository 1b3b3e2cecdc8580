#pragma once

#include <array>

#include "dlprim/core/fields.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

/** What stands beyond the border of a padded tensor (zeros are a fill and a copy into a part of the result):
 * reflect, its mirror image without the border itself; replicate, the border's element. */
enum class PadMode { reflect, replicate };

/** Elements added before and after each of the last `axes` dimensions, first to last; negative ones cut. */
struct PadGeometry {
  PadMode mode = PadMode::reflect;
  int axes = 2;
  std::array<int, 3> before{}, after{};  // of three spatial axes; those before the last `axes` stay 0
  FIELDS(mode, axes, before, after)
};

/** Shape of torch.nn.functional.pad of `x`. Throws ValueError for every geometry that PyTorch refuses. */
Dims pad_output_shape(const char* op, const Dims& x, const PadGeometry& geometry);

/** torch.nn.functional.pad of `x`, of any floating dtype, in the modes above. Contiguous; precondition:
 * no overlap. Throws ValueError, TypeError. */
void pad_forward(Queue& queue, const Tensor& x, const PadGeometry& geometry, const Tensor& y);

/** Gradient of pad: every element of `dx` is written, with the sum of those `dy` that are it, in a fixed
 * order. */
void pad_backward(Queue& queue, const Tensor& dy, const PadGeometry& geometry, const Tensor& dx);

}  // namespace dlprim
