#include "dlprim/ops/gemm/product_join.h"

#include "dlprim/core/checked.h"
#include "dlprim/core/real.h"
#include "dlprim/ops/gemm/product_join_shared.h"
#include "dlprim/runtime/dtype_defines.h"

namespace dlprim {

void join_products(Queue& queue, const Tensor& partials, const Tensor& result, const ProductFinish& finish) {
  constexpr std::int64_t many = 16, lanes_of_many = 4;
  const std::int64_t parts = partials.shape[1], lanes = parts < many ? 1 : lanes_of_many;
  const auto narrow = [](std::int64_t n) { return kernel_int(n, "product", "a result"); };
  const ProductJoin p{narrow(result.numel()), narrow(result.numel() / partials.shape[0]),
                      narrow(parts),          narrow(finish.bias ? finish.bias->numel() : 1),
                      narrow(finish.plane),   finish.bias ? 1 : 0};
  const Range range = Range::groups(PRODUCT_JOIN_ITEMS, ceil_div(result.numel(), PRODUCT_JOIN_ITEMS / lanes));
  with_real(result.dtype, [&](auto zero) {
    using Real = decltype(zero);
    queue.launch(queue.kernel("ops/gemm/product_join_simt.cl", "product_join",
                              dtype_defines(result.dtype).set("LANES", lanes)),
                 range, partials, Optional{finish.bias}, result, p, static_cast<Real>(finish.alpha),
                 static_cast<Real>(finish.beta));
  });
}

}  // namespace dlprim
