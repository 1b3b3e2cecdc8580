#include "dlprim/ops/attention/attention.h"

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/core/real.h"
#include "dlprim/ops/attention/attention_shared.h"
#include "dlprim/runtime/dtype_defines.h"
#include "dlprim/runtime/launch_ranges.h"

namespace dlprim {
namespace {

constexpr const char* op = "attention";

AttentionExtents extents_of(Queue& queue, const Tensor& scores, bool is_causal) {
  require_floating(scores.dtype, queue.device(), op);
  require(scores.rank() == 3, op, ": expected scores of shape [batch, queries, keys], got ", scores.shape);
  require_contiguous(op, "scores", scores);
  return {scores.shape[0] * scores.shape[1], kernel_int(scores.shape[1], op, "a number of queries"),
          kernel_int(scores.shape[2], op, "a number of keys"), is_causal};
}

MaskStrides mask_strides(const Tensor* mask, const Tensor& scores) {
  if (!mask) return {0, 0, 0, 0, 1};
  require(mask->rank() == 4 && mask->shape[0] * mask->shape[1] == scores.shape[0] &&
              mask->shape[2] == scores.shape[1] && mask->shape[3] == scores.shape[2],
          op, ": a mask of shape ", mask->shape, " does not fit scores of shape ", scores.shape);
  require<TypeError>(mask->dtype == DType::boolean || mask->dtype == scores.dtype, op,
                     ": expected a mask of dtype bool or ", name(scores.dtype), ", got ", name(mask->dtype));
  const Dims& s = mask->strides;
  return {s[0], s[1], s[2], s[3], mask->shape[1]};
}

}  // namespace

void attention_softmax(Queue& queue, const Tensor& scores, double scale, const Tensor* mask, bool is_causal) {
  ENTER(attention_softmax, queue, scores, scale, mask, is_causal);
  const AttentionExtents e = extents_of(queue, scores, is_causal);
  const MaskStrides strides = mask_strides(mask, scores);
  if (scores.numel() == 0) return;
  const bool hides = mask && mask->dtype == DType::boolean;
  Kernel& kernel =
      queue.kernel("ops/attention/attention.cl", "attention_softmax", dtype_defines(scores.dtype));
  with_real(scores.dtype, [&](auto zero) {
    queue.launch(kernel, group_per_row_range(queue, e.rows, e.keys), scores, e,
                 static_cast<decltype(zero)>(scale), Optional{hides ? mask : nullptr},
                 Optional{hides ? nullptr : mask}, strides);
  });
}

}  // namespace dlprim
