#include "dlprim/ops/gemm/cpu_tile.h"

#include <algorithm>

#include "dlprim/core/checked.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"

namespace dlprim::cpu_tile {
namespace {

/** The lanes of a vector register. */
int lanes(DType dtype) {
  return dtype == DType::float64 ? 8 : 16;
}

}  // namespace

int tile_columns(DType dtype) {
  return TILE_VECTORS * lanes(dtype);
}

Defines defines(DType dtype) {
  return dtype_defines(dtype)
      .set("VEC", dtype == DType::float64 ? "double8" : "float16")
      .set("LANES", lanes(dtype))
      .set("DIRECT", is_compute_dtype(dtype) ? 1 : 0);
}

std::int64_t items_for(const Device& device, std::int64_t jobs) {
  return std::max<std::int64_t>(1, std::min<std::int64_t>(jobs, 16 * device.info().compute_units));
}

namespace {

int kernel_size(std::int64_t n) {
  return kernel_int(n, "gemm", "a dimension");
}

/** Scratch for packed rows; the columns that they meet are packed as deep. */
Tensor panels_for(Queue& queue, const LeftRows& rows, std::int64_t depth) {
  const DType dtype = rows.source.dtype;
  kernel_size(product({depth, tile_columns(dtype)}));
  return queue.scratch({rows.batches, ceil_div(rows.count, TILE_ROWS), depth, TILE_ROWS},
                       compute_dtype(dtype));
}

Kernel& packing_kernel(Queue& queue, const char* name, DType dtype) {
  return queue.kernel("ops/gemm/pack_left_cpu.cl", name, defines(dtype));
}

}  // namespace

Tensor pack_matrix(Queue& queue, const LeftRows& rows, std::int64_t depth, std::int64_t step) {
  const Tensor packed = panels_for(queue, rows, depth);
  queue.launch(packing_kernel(queue, "pack_matrix", rows.source.dtype),
               Range::groups(1, packed.shape[1], rows.batches), rows.source, packed, kernel_size(rows.count),
               kernel_size(depth), rows.batch_stride, rows.stride, step);
  return packed;
}

Tensor pack_weights(Queue& queue, const LeftRows& rows, const TapDepth& depth) {
  const Tensor packed = panels_for(queue, rows, depth.size[0] * depth.size[1] * depth.size[2]);
  queue.launch(packing_kernel(queue, "pack_weights", rows.source.dtype),
               Range::groups(1, packed.shape[1], rows.batches), rows.source, packed, kernel_size(rows.count),
               kernel_size(depth.size[0]), kernel_size(depth.size[1]), kernel_size(depth.size[2]),
               depth.start, rows.batch_stride, rows.stride, depth.stride[0], depth.stride[1],
               depth.stride[2]);
  return packed;
}

}  // namespace dlprim::cpu_tile
