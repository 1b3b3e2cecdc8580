#include "dlprim/ops/loss/class_loss.h"

#include <algorithm>

#include "dlprim/core/checked.h"
#include "dlprim/core/real.h"
#include "dlprim/ops/loss/class_loss_launch.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"
#include "dlprim/runtime/launch_ranges.h"

namespace dlprim {

ClassLossExtents class_loss_extents(const char* op, const Tensor& scores, const Tensor& target,
                                    const Tensor* weight) {
  require_floating(scores.dtype, scores.device(), op);
  require(scores.rank() >= 1, op, ": expected scores of shape [C], [N, C] or [N, C, ...], got ",
          scores.shape);
  const int class_dim = scores.rank() == 1 ? 0 : 1;
  const std::int64_t classes = scores.shape[class_dim];
  if (is_floating(target.dtype)) {
    require(target.shape == scores.shape, op,
            ": a floating target holds class probabilities, in the scores' shape ", scores.shape, ", got ",
            target.shape, "; class numbers must be int64");
    require<TypeError>(target.dtype == scores.dtype, op, ": expected class probabilities of dtype ",
                       name(scores.dtype), ", got ", name(target.dtype));
  } else {
    require<TypeError>(target.dtype == DType::int64, op, ": expected a target of dtype int64, got ",
                       name(target.dtype));
    const Dims expected = class_loss_shape(scores.shape, Reduction::none);
    require(target.shape == expected, op, ": expected a target of shape ", expected, " for scores of shape ",
            scores.shape, ", got ", target.shape);
  }
  if (weight) {
    require(weight->shape == Dims{classes}, op, ": weight should be defined for all ", classes,
            " classes, but got weight of shape ", weight->shape);
    require<TypeError>(weight->dtype == scores.dtype, op, ": expected weight of dtype ", name(scores.dtype),
                       ", got ", name(weight->dtype));
  }
  require_contiguous(op, "the scores", scores);
  require_contiguous(op, "the target", target);
  if (weight) require_contiguous(op, "weight", *weight);
  kernel_int(classes, op, "a number of classes");
  if (scores.rank() == 1) return {1, classes, 1};
  const std::int64_t positions = product(Dims(scores.shape.begin() + 2, scores.shape.end()));
  kernel_int(positions, op, "a number of positions");
  return {scores.shape[0], classes, positions};
}

Dims class_loss_shape(const Dims& scores, Reduction reduction) {
  if (reduction != Reduction::none) return {};
  Dims shape = scores;
  shape.erase(scores.size() == 1 ? 0 : 1);
  return shape;
}

}  // namespace dlprim
