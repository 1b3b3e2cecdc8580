#include "dlprim/core/call.h"
#include "dlprim/ops/conv/conv2d.h"
#include "dlprim/ops/reduce/reduce.h"

namespace dlprim {

void conv2d_backward_bias(Queue& queue, const Tensor& dy, const Tensor& db) {
  ENTER(conv2d_backward_bias, queue, dy, db);
  require(dy.rank() == 4, "conv2d_backward_bias: expected dy [N, C, H, W], got shape ", dy.shape);
  require(db.shape == Dims{dy.shape[1]}, "conv2d_backward_bias: expected db of shape [", dy.shape[1],
          "], got ", db.shape);
  static const ReductionOp& sum = reduction("sum");
  reduce(queue, sum, dy, dim_mask({0, 2, 3}, 4, "conv2d_backward_bias"), db);
}

}  // namespace dlprim
