#pragma once

#include "dlprim/core/tensor.h"
#include "dlprim/runtime/queue.h"

namespace dlprim::cpu_tile {

/** Rows of the register tile; packed left operands hold whole groups of them. */
constexpr int tile_rows = 8;
/** Steps of the depth that are summed in one chain: CHAIN of cpu_tile.cl. */
constexpr int chain = 256;
/** Columns of the register tile: two vectors of 16 floats or 8 doubles. */
int tile_columns(DType dtype);

/** The dtype that kernels pack operands into: float64 for float64, else float32. */
DType packed_dtype(DType dtype);

/** Macros of a kernel file that includes cpu_tile.cl. */
Defines defines(DType dtype);

/** Work items that keep every core busy to the end: a few times the number of cores, at most one a job. */
std::int64_t items_for(const Device& device, std::int64_t jobs);

/** A left operand, `batches` matrices of `rows` rows; the depth is three nested strided indices. */
struct LeftOperand {
  const Tensor& source;
  std::int64_t start, batches, batch_stride, rows, row_stride;
  std::int64_t depth[3], stride[3];  // outermost first
};

/** Packs `left` into scratch [batches][row panels][depth][tile_rows]. */
Tensor pack_left(Queue& queue, const LeftOperand& left);

}  // namespace dlprim::cpu_tile
