#pragma once

#include <array>

#include "dlprim/core/fields.h"
#include "dlprim/core/scalar.h"
#include "dlprim/runtime/queue.h"

namespace dlprim {

/** The elements beyond the border of a padded tensor, where they are no constant: reflect, its mirror image
 * without the border itself; replicate, the border's element. */
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

/** Elements added before and after each dimension, an entry for every one; negative ones cut. */
struct PadMargins {
  Dims before, after;
  FIELDS(before, after)
};

/** Shape of `x` with those margins. Throws ValueError, naming `op`, where they cut more than is there. */
Dims pad_constant_output_shape(const char* op, const Dims& x, const PadMargins& margins);

/** torch.nn.functional.pad in mode constant: `value` stands around x. Any strides, any dtype. Its gradient is
 * the same of dy, with 0, by the negative margins. Throws ValueError, TypeError. */
void pad_constant(Queue& queue, const Tensor& x, const PadMargins& margins, const Scalar& value,
                  const Tensor& y);

}  // namespace dlprim
