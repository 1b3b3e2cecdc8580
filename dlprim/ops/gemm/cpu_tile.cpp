#include "dlprim/ops/gemm/cpu_tile.h"

#include <algorithm>

#include "dlprim/core/checked.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"

namespace dlprim::cpu_tile {

int tile_columns(DType dtype) {
  return dtype == DType::float64 ? 16 : 32;
}

DType packed_dtype(DType dtype) {
  return dtype == DType::float64 ? DType::float64 : DType::float32;
}

Defines defines(DType dtype) {
  const bool is_double = dtype == DType::float64;
  return dtype_defines(dtype)
      .set("VEC", is_double ? "double8" : "float16")
      .set("LANES", is_double ? 8 : 16)
      .set("DIRECT", dtype == packed_dtype(dtype) ? 1 : 0);
}

std::int64_t items_for(const Device& device, std::int64_t jobs) {
  return std::max<std::int64_t>(1, std::min<std::int64_t>(jobs, 16 * device.info().compute_units));
}

Tensor pack_left(Queue& queue, const LeftOperand& left) {
  const DType dtype = left.source.dtype;
  const std::int64_t panels = (left.rows + tile_rows - 1) / tile_rows;
  const std::int64_t depth = left.depth[0] * left.depth[1] * left.depth[2];
  const auto size = [](std::int64_t n) { return kernel_int(n, "gemm", "a dimension"); };
  size(product({depth, tile_columns(dtype)}));  // of a packed panel
  const Tensor packed = queue.scratch({left.batches, panels, depth, tile_rows}, packed_dtype(dtype));
  queue.launch(queue.kernel("ops/gemm/pack_left_cpu.cl", "pack_left", defines(dtype)),
               Range::groups(1, panels, left.batches), left.source, packed, size(left.rows),
               size(left.depth[0]), size(left.depth[1]), size(left.depth[2]), left.start, left.batch_stride,
               left.row_stride, left.stride[0], left.stride[1], left.stride[2]);
  return packed;
}

}  // namespace dlprim::cpu_tile
