// c = alpha * a @ b + beta * c + bias where both operands lie along the depth, or across it (LEFT_ACROSS,
// RIGHT_ACROSS): Hopper's copy engine brings their panels, rounded.
#define LEFT_BY_DEPTH 1
#define RIGHT_BY_DEPTH 1
#define LEFT_BY_VECTORS 0
#define TENSOR_MAPS 1
#include "ops/gemm/product.cl"
#include "ops/gemm/gemm_results.cl"
#include "ops/gemm/tensor_map_shared.h"

// Results that an item stores at once: 16-bit ones in pairs, as words.
#define TOGETHER (STORAGE_IS_REAL ? 1 : 2)
#define EACH_TOGETHER(count) UNROLL for (int n = 0; n < TOGETHER; ++n) if (n < (count))
inline void store_together(__global STORAGE *c, const long at, const REAL *values, const int count) {
#if !STORAGE_IS_REAL
  if (count == TOGETHER && ((ulong)(c + at) & 3) == 0) {
    *(__global float *)(c + at) = word_of(values);
    return;
  }
#endif
  EACH_TOGETHER(count) STORE(c, at + n, values[n]);
}

__attribute__((reqd_work_group_size(TILE_ITEMS, 1, 1))) __kernel void gemm_mapped(
    BUFFER(const uint, maps), BUFFER(const STORAGE, bias), BUFFER(STORAGE, c), const MappedProduct p, const REAL alpha,
    const REAL beta, const int has_bias, BUFFER(REAL, partials)) {
  PRODUCT_MEMORY;
  const int item = get_local_id(0), batch = get_group_id(2) / p.parts, part = REMAINDER((int)get_group_id(2), p.parts);
  const int block_row = get_group_id(1) * TILE_ROWS, block_column = get_group_id(0) * TILE_COLUMNS;
  const int first = part * p.part_boxes;
  __global const uint *left_map = maps_buffer + maps_start, *right_map = left_map + TENSOR_MAP_BYTES / 4;
  if (item == 0) {
    open_map(left_map);
    open_map(right_map);
  }
  PRODUCT(min(p.part_boxes, p.boxes - first), {
    const int k = (first + next_step) * (TILE_DEPTH * NUMBERS_IN_WORD);
    bring_lines(LEFT_ACROSS, TILE_ROWS, left_to, left_map, k, block_row, batch * p.left_matrices, has_arrived);
    bring_lines(RIGHT_ACROSS, TILE_COLUMNS, right_to, right_map, k, block_column, batch * p.right_matrices,
                has_arrived);
  })
  __global REAL *partial = partials_buffer + partials_start + (long)get_group_id(2) * p.rows * p.columns;
  __global STORAGE *c = c_buffer + c_start + (long)batch * p.rows * p.columns;
  const int column = block_column + TOGETHER * LINE_OF_ITEM(item, TILE_COLUMNS / TOGETHER),
            count = min(p.columns - column, TOGETHER);
  STORE_NEIGHBOURS(TOGETHER, if (block_row + row < p.rows) {
    const long at = (long)(block_row + row) * p.columns + column;
    if (p.parts > 1) {
      EACH_TOGETHER(count) partial[at + n] = values[n];
    } else {
      EACH_TOGETHER(count) FINISH(values[n], c, at + n, column + n)
      store_together(c, at, values, count);
    }
  })
}
