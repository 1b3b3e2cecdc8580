#pragma once

#include "dlprim/core/tensor.h"
#include "dlprim/ops/gemm/cpu_tile_shared.h"
#include "dlprim/ops/pointwise/epilogue.h"
#include "dlprim/runtime/queue.h"

namespace dlprim::cpu_tile {

/** Columns of the register tile. */
int tile_columns(DType dtype);

/** Macros of a kernel file that includes cpu_tile.cl, and epilogue_cpu.cl where there may be an epilogue. */
Defines defines(DType dtype, const Epilogue* epilogue = nullptr);

/** Work items that keep every core busy to the end: a few times the number of cores, at most one a job. */
std::int64_t items_for(const Device& device, std::int64_t jobs);

/** Rows of a left operand, and how they lie. */
struct LeftRows {
  const Tensor& source;
  std::int64_t batches, batch_stride, count, stride;
};

/** Packs a matrix (once, where it is a constant: form_of), `depth` steps of stride `step`, as
 * [batches][chains][row panels][steps][TILE_ROWS]. */
Tensor pack_matrix(Queue& queue, const LeftRows& rows, std::int64_t depth, std::int64_t step);

/** The depth of a convolution, three nested strided indices, outermost first; it begins at element `start`.
 */
struct TapDepth {
  std::int64_t start, size[3], stride[3];
};

/** Packs a convolution's weights as [batches][row panels][depth][TILE_ROWS]. */
Tensor pack_weights(Queue& queue, const LeftRows& rows, const TapDepth& depth);

}  // namespace dlprim::cpu_tile
