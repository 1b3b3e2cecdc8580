#include "dlprim/ops/index/nonzero.h"

#include "dlprim/core/call.h"
#include "dlprim/core/checked.h"
#include "dlprim/ops/index/index.h"
#include "dlprim/ops/index/index_shared.h"
#include "dlprim/ops/sort/work.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/launch_ranges.h"

namespace dlprim {
namespace {

constexpr const char* file = "ops/index/nonzero.cl";

std::int64_t stretch_of(const Queue& queue) {
  return queue.device().info().runs_cpu_kernels() ? CPU_TRUE_STRETCH : SIMT_TRUE_STRETCH;
}

std::int64_t stretches(const Queue& queue, const Tensor& x) {
  return ceil_div(x.numel(), stretch_of(queue));
}

void require_flags(const Tensor& x) {
  require<TypeError>(x.dtype == DType::boolean, "nonzero: expected an input of dtype bool, got ",
                     name(x.dtype));
  require_contiguous("nonzero", "the input", x);
}

}  // namespace

TrueCount count_true(Queue& queue, const Tensor& x) {
  ENTER(count_true, queue, x);
  require_flags(x);
  kernel_int(x.numel(), "nonzero", "a tensor");
  if (x.numel() == 0) return entered.returns(TrueCount{0, {}});
  const Tensor counts = queue.scratch({1, stretches(queue, x)}, DType::int32);
  const Tensor total = queue.scratch({1}, DType::int32);
  queue.launch(queue.kernel(file, "count_true"), share_range(queue, stretches(queue, x), stretch_of(queue)),
               x, counts, cl_long{x.numel()});
  sums_before(queue, file, {}, counts, &total);
  cl_int count = 0;
  queue.read(total, &count, sizeof count);
  return entered.returns(TrueCount{count, counts});
}

void write_true(Queue& queue, const Tensor& x, const TrueCount& counted, const Tensor& places) {
  ENTER(write_true, queue, x, counted, places);
  require_flags(x);
  const Dims shape_of_places{counted.count, std::max(x.rank(), 1)};
  require(places.shape == shape_of_places, "nonzero: expected places of shape ", shape_of_places, ", got ",
          places.shape);
  require<TypeError>(places.dtype == DType::int64, "nonzero: expected places of dtype int64, got ",
                     name(places.dtype));
  if (counted.count == 0) return;
  TrueShape shape{};
  shape.rank = std::max(x.rank(), 1);
  shape.size[0] = 1;
  for (int d = 0; d < x.rank(); ++d) shape.size[d] = x.shape[x.rank() - 1 - d];
  shape.count_stride = places.strides[0];
  shape.dim_stride = places.strides[1];
  queue.launch(queue.kernel(file, "write_true"), share_range(queue, stretches(queue, x), stretch_of(queue)),
               x, counted.starts, places, cl_long{x.numel()}, shape);
}

}  // namespace dlprim
