#include "dlprim/ops/linalg/cross.h"

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/ops/linalg/cross_shared.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"
#include "dlprim/runtime/launch_ranges.h"

namespace dlprim {

void cross(Queue& queue, const Tensor& a, const Tensor& b, const Tensor& y) {
  ENTER(cross, queue, a, b, y);
  constexpr const char* op = "cross";
  require(y.rank() == 3 && y.shape[1] == 3 && a.shape == y.shape && b.shape == y.shape, op,
          ": expected tensors of one shape [outer, 3, inner], got ", a.shape, ", ", b.shape, " and ",
          y.shape);
  require<TypeError>(a.dtype == y.dtype && b.dtype == y.dtype && y.dtype != DType::boolean, op,
                     ": expected numbers of one dtype, got ", name(a.dtype), ", ", name(b.dtype), " and ",
                     name(y.dtype));
  if (!is_integral(y.dtype)) require_floating(real_dtype(y.dtype), queue.device(), op);
  const std::int64_t vectors = y.shape[0] * y.shape[2];
  if (vectors == 0) return;
  CrossShape shape{y.shape[0], y.shape[2], {}, {}, {}};
  for (int d = 0; d < 3; ++d) {
    shape.a[d] = a.strides[d];
    shape.b[d] = b.strides[d];
    shape.y[d] = y.strides[d];
  }
  queue.launch(queue.kernel("ops/linalg/cross.cl", "cross_products",
                            dtype_defines(y.dtype).set("IS_COMPLEX", is_complex(y.dtype) ? 1 : 0)),
               share_range(queue, vectors, 3), a, b, y, shape);
}

}  // namespace dlprim
