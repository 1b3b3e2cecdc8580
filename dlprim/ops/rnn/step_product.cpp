#include "dlprim/ops/rnn/step_product.h"

#include <algorithm>

#include "dlprim/core/checked.h"
#include "dlprim/ops/gemm/cpu_tile.h"
#include "dlprim/ops/gemm/gemm.h"
#include "dlprim/runtime/device.h"
#include "dlprim/runtime/dtype_defines.h"

namespace dlprim {
namespace {

// Beyond it the GEMM's larger tiles read the weights less often. An estimate, not measured.
constexpr std::int64_t thin_rows = 64;
constexpr int job_row_tiles = 3;

}  // namespace

StepProduct::StepProduct(Queue& queue, const char* kernel, StepCell cell, const Tensor& matrix, int blocks,
                         std::int64_t rows)
    : queue_(queue),
      matrix_(matrix),
      blocks_(blocks),
      kind_(kind_for(queue.device(), rows)),
      kernel_(kernel_of(queue, kernel, cell, matrix.dtype, kind_)),
      weights_(kind_ == Kind::tiles ? packed() : matrix),
      depth_(kernel_int(matrix.shape[0], "rnn", "a number of units")) {}

StepProduct::Kind StepProduct::kind_for(const Device& device, std::int64_t rows) {
  if (device.info().runs_cpu_kernels()) return Kind::tiles;
  return rows <= thin_rows && device.info().max_work_group >= THIN_ITEMS ? Kind::thin : Kind::given;
}

Kernel& StepProduct::kernel_of(Queue& queue, const char* kernel, StepCell cell, DType dtype, Kind kind) {
  Defines defines = kind == Kind::tiles ? cpu_tile::defines(dtype) : dtype_defines(dtype);
  defines.set("REAL_IS_FLOAT", dtype == DType::float64 ? 0 : 1)
      .set("CELL", static_cast<int>(cell))
      .set("PRODUCT", static_cast<int>(kind))
      .set("ROW_TILES", job_row_tiles);
  return queue.kernel("ops/rnn/rnn.cl", kernel, defines);
}

/** [panels of a block][blocks][depth][columns of a panel]. */
Tensor StepProduct::packed() const {
  const DType dtype = matrix_.dtype;
  const std::int64_t depth = matrix_.shape[0], units = matrix_.shape[1] / blocks_;
  const std::int64_t columns = cpu_tile::tile_columns(dtype), panels = ceil_div(units, columns);
  const Tensor result = queue_.scratch({panels, blocks_, depth, columns}, compute_dtype(dtype));
  queue_.launch(kernel_of(queue_, "pack_panels", StepCell::copy, dtype, Kind::tiles),
                Range::groups(1, panels, blocks_), matrix_, result, static_cast<cl_long>(matrix_.strides[0]),
                static_cast<cl_long>(matrix_.strides[1]), static_cast<cl_int>(depth),
                static_cast<cl_int>(units));
  return result;
}

Tensor StepProduct::product_of(const Tensor& left) const {
  const Tensor product = queue_.scratch({left.shape[0], matrix_.shape[1]}, left.dtype);
  gemm(queue_, left, matrix_, product);
  return product;
}

Range StepProduct::range(const RnnStepSizes& sizes) const {
  const std::int64_t rows = std::max(sizes.rows, sizes.next_rows);
  switch (kind_) {
    case Kind::given:
      break;
    case Kind::tiles:
      return Range::groups(
          1,
          cpu_tile::items_for(queue_.device(), ceil_div(sizes.units, cpu_tile::tile_columns(matrix_.dtype)) *
                                                   ceil_div(rows, job_row_tiles * TILE_ROWS)));
    case Kind::thin:
      return Range::groups(THIN_ITEMS, ceil_div(sizes.units, THIN_TILE_COLUMNS / blocks_),
                           ceil_div(rows, THIN_TILE_ROWS));
  }
  return plain_step_range(queue_.device(), sizes);
}

Kernel& plain_step_kernel(Queue& queue, const char* kernel, StepCell cell, DType dtype) {
  return StepProduct::kernel_of(queue, kernel, cell, dtype, StepProduct::Kind::given);
}

Range plain_step_range(const Device& device, const RnnStepSizes& sizes) {
  const std::int64_t rows = std::max(sizes.rows, sizes.next_rows);
  if (device.info().runs_cpu_kernels())
    return Range::linear(std::min<std::int64_t>(rows, 8 * device.info().compute_units), 1);
  constexpr int group = 64;
  return Range::groups(group, ceil_div(sizes.units, group), rows);
}

}  // namespace dlprim
