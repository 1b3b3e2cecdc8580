#include "dlprim/ops/random/exponential.h"

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/ops/pointwise/pointwise.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"

namespace dlprim {

void random_exponential(Queue& queue, const Tensor& out, double lambd, PhiloxState state) {
  ENTER(random_exponential, queue, out, lambd, state);
  require(lambd > 0, "random_exponential: expected lambda > 0, got ", lambd);
  static const PointwiseExpression& exponential =
      lone_expression("random_exponential", {"u"}, {"lambd"}, {"-log1p(-u) / lambd"});
  require_floating(out.dtype, queue.device(), "random_exponential");
  require_contiguous("random_exponential", "the result", out);
  // Half types round some of the numbers below 1 to 1, whose logarithm would be infinite.
  const DType compute = compute_dtype(out.dtype);
  const Tensor uniform = compute == out.dtype ? out : queue.scratch(out.shape, compute);
  random_uniform(queue, uniform, 0, 1, state);
  pointwise(queue, exponential, compute, {uniform}, {lambd}, {out});
}

}  // namespace dlprim
