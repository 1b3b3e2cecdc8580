#include "dlprim/ops/gemm/cpu_tile.h"

#include <algorithm>

#include "dlprim/core/checked.h"
#include "dlprim/runtime/constant_forms.h"
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

Defines defines(DType dtype, const Epilogue* epilogue) {
  return dtype_defines(dtype)
      .append(activation_defines(epilogue ? epilogue->activation : nullptr))
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

Kernel& packing_kernel(Queue& queue, const char* name, DType dtype) {
  return queue.kernel("ops/gemm/pack_left_cpu.cl", name, defines(dtype));
}

/** Packed rows, which `launch` enqueues the packing of; the columns that they meet are packed as deep. */
Tensor packed_rows(
    Queue& queue, const char* kind, const LeftRows& rows, std::int64_t depth, std::vector<std::int64_t> walk,
    const std::function<void(Kernel& kernel, const Range& range, const Tensor& packed)>& launch) {
  const DType dtype = rows.source.dtype;
  kernel_size(product({depth, tile_columns(dtype)}));
  walk.insert(walk.end(), {rows.batches, rows.batch_stride, rows.count, rows.stride});
  const std::int64_t panels = ceil_div(rows.count, TILE_ROWS);
  return form_of(queue, rows.source, kind, walk, {rows.batches, panels, depth, TILE_ROWS},
                 compute_dtype(dtype), [&](const Tensor& packed) {
                   launch(packing_kernel(queue, kind, dtype), Range::groups(1, panels, rows.batches), packed);
                 });
}

}  // namespace

Tensor pack_matrix(Queue& queue, const LeftRows& rows, std::int64_t depth, std::int64_t step) {
  return packed_rows(queue, "pack_matrix", rows, depth, {depth, step},
                     [&](Kernel& kernel, const Range& range, const Tensor& packed) {
                       queue.launch(kernel, range, rows.source, packed, kernel_size(rows.count),
                                    kernel_size(depth), rows.batch_stride, rows.stride, step);
                     });
}

Tensor pack_weights(Queue& queue, const LeftRows& rows, const TapDepth& d) {
  return packed_rows(queue, "pack_weights", rows, d.size[0] * d.size[1] * d.size[2],
                     {d.start, d.size[0], d.size[1], d.size[2], d.stride[0], d.stride[1], d.stride[2]},
                     [&](Kernel& kernel, const Range& range, const Tensor& packed) {
                       queue.launch(kernel, range, rows.source, packed, kernel_size(rows.count),
                                    kernel_size(d.size[0]), kernel_size(d.size[1]), kernel_size(d.size[2]),
                                    d.start, rows.batch_stride, rows.stride, d.stride[0], d.stride[1],
                                    d.stride[2]);
                     });
}

}  // namespace dlprim::cpu_tile
