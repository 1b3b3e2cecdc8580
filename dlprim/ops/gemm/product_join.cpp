#include "dlprim/ops/gemm/product_join.h"

#include <algorithm>

#include "dlprim/core/checked.h"
#include "dlprim/core/real.h"
#include "dlprim/ops/gemm/product_join_shared.h"
#include "dlprim/runtime/alignment.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"

namespace dlprim {

void join_products(Queue& queue, const Tensor& partials, const Tensor& result, const ProductFinish& finish) {
  constexpr std::int64_t many = 16;
  constexpr int lanes_of_many = 4;
  const int items = std::min(128, queue.device().info().max_work_group);
  const std::int64_t parts = partials.shape[1];
  const int lanes = parts < many || items % lanes_of_many != 0 ? 1 : lanes_of_many;
  const auto narrow = [](std::int64_t n) { return kernel_int(n, "product", "a result"); };
  const ProductJoin p{narrow(result.numel()), narrow(result.numel() / partials.shape[0]),
                      narrow(parts),          narrow(finish.bias ? finish.bias->numel() : 1),
                      narrow(finish.plane),   finish.bias ? 1 : 0};
  const std::int64_t of_batch = partials.shape[2];
  // Few results are better joined by more items.
  constexpr std::int64_t many_results = 64 << 10;
  const int width = result.numel() >= many_results && of_batch % 4 == 0 && is_aligned_to(4, result) &&
                            is_aligned_to(4, partials)
                        ? 4
                        : 1;
  const Range range = Range::groups(items, ceil_div(result.numel() / width, items / lanes));
  with_real(result.dtype, [&](auto zero) {
    using Real = decltype(zero);
    queue.launch(
        queue.kernel(
            "ops/gemm/product_join_simt.cl", "product_join",
            dtype_defines(result.dtype).set("LANES", lanes).set("JOIN_ITEMS", items).set("WIDTH", width)),
        range, partials, Optional{finish.bias}, result, p, static_cast<Real>(finish.alpha),
        static_cast<Real>(finish.beta));
  });
}

}  // namespace dlprim
