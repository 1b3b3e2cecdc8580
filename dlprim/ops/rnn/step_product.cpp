#include "dlprim/ops/rnn/step_product.h"

#include <algorithm>

#include "dlprim/core/checked.h"
#include "dlprim/ops/gemm/cpu_tile.h"
#include "dlprim/ops/gemm/gemm.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"

namespace dlprim {
namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

Kernel& step_kernel(Queue& queue, const char* kernel, StepCell cell, DType dtype, bool is_fused) {
  Defines defines = is_fused ? cpu_tile::defines(dtype) : dtype_defines(dtype);
  defines.set("REAL_IS_FLOAT", dtype == DType::float64 ? 0 : 1)
      .set("CELL", static_cast<int>(cell))
      .set("FUSED", is_fused ? 1 : 0);
  return queue.kernel("ops/rnn/rnn.cl", kernel, defines);
}

/** [blocks][panels of a block][depth][columns of a panel]. */
Tensor packed(Queue& queue, const Tensor& matrix, int blocks) {
  const DType dtype = matrix.dtype;
  const std::int64_t depth = matrix.shape[0], units = matrix.shape[1] / blocks;
  const std::int64_t columns = cpu_tile::tile_columns(dtype), panels = ceil_div(units, columns);
  const Tensor result = queue.scratch({blocks, panels, depth, columns}, cpu_tile::packed_dtype(dtype));
  queue.launch(step_kernel(queue, "pack_panels", StepCell::copy, dtype, true),
               Range::groups(1, panels, blocks), matrix, result, static_cast<cl_long>(matrix.strides[0]),
               static_cast<cl_long>(matrix.strides[1]), static_cast<cl_int>(depth),
               static_cast<cl_int>(units));
  return result;
}

}  // namespace

StepProduct::StepProduct(Queue& queue, const char* kernel, StepCell cell, const Tensor& matrix, int blocks)
    : queue_(queue),
      matrix_(matrix),
      is_fused_(queue.device().info().runs_cpu_kernels()),
      kernel_(step_kernel(queue, kernel, cell, matrix.dtype, is_fused_)),
      depth_(kernel_int(matrix.shape[0], "rnn", "a number of units")) {
  if (is_fused_) panels_ = packed(queue, matrix, blocks);
}

Tensor StepProduct::product_of(const Tensor& left) const {
  const Tensor product = queue_.scratch({left.shape[0], matrix_.shape[1]}, left.dtype);
  gemm(queue_, left, matrix_, product);
  return product;
}

Range StepProduct::range(const RnnStepSizes& sizes) const {
  if (!is_fused_) return plain_step_range(queue_.device(), sizes);
  const std::int64_t jobs = ceil_div(sizes.units, cpu_tile::tile_columns(matrix_.dtype)) *
                            ceil_div(std::max(sizes.rows, sizes.next_rows), cpu_tile::tile_rows);
  return Range::groups(1, cpu_tile::items_for(queue_.device(), jobs));
}

Kernel& plain_step_kernel(Queue& queue, const char* kernel, StepCell cell, DType dtype) {
  return step_kernel(queue, kernel, cell, dtype, false);
}

Range plain_step_range(const Device& device, const RnnStepSizes& sizes) {
  const std::int64_t rows = std::max(sizes.rows, sizes.next_rows);
  if (device.info().runs_cpu_kernels())
    return Range::linear(std::min<std::int64_t>(rows, 8 * device.info().compute_units), 1);
  constexpr int group = 64;
  return Range::groups(group, ceil_div(sizes.units, group), rows);
}

}  // namespace dlprim
