// c = alpha * a @ b + beta * c + bias on a GPU. BY_DEPTH macros: which way a and b lie, see product.cl.
#include "ops/gemm/product.cl"

typedef struct {
  __global const STORAGE *next;  // of this item's first element of the next panel
  long step, element_step;       // to the same of the panel after it, and to this item's next element
} Operand;

#define LEFT_LINE(i) (LEFT_BY_DEPTH ? LINE_OF_ELEMENT(item, i) : LINE_OF_ITEM(item, TILE_ROWS))
#define LEFT_DEPTH(i) (LEFT_BY_DEPTH ? DEPTH_OF_ITEM(item) : DEPTH_OF_ELEMENT(item, i, TILE_ROWS))
#define RIGHT_LINE(i) (RIGHT_BY_DEPTH ? LINE_OF_ELEMENT(item, i) : LINE_OF_ITEM(item, TILE_COLUMNS))
#define RIGHT_DEPTH(i) (RIGHT_BY_DEPTH ? DEPTH_OF_ITEM(item) : DEPTH_OF_ELEMENT(item, i, TILE_COLUMNS))

inline void fetch_left(Operand *a, REAL *next, const int lines, const int depth) {
  const int item = get_local_id(0);
#pragma unroll
  for (int i = 0; i < LEFT_COUNT; ++i)
    next[i] = LEFT_LINE(i) < lines && LEFT_DEPTH(i) < depth ? LOAD(a->next, i * a->element_step) : (REAL)0;
  a->next += a->step;
}

inline void fetch_right(Operand *b, REAL *next, const int lines, const int depth) {
  const int item = get_local_id(0);
#pragma unroll
  for (int i = 0; i < RIGHT_COUNT; ++i)
    next[i] = RIGHT_LINE(i) < lines && RIGHT_DEPTH(i) < depth ? LOAD(b->next, i * b->element_step) : (REAL)0;
  b->next += b->step;
}

inline void place_operands(__local REAL *left_panel, __local REAL *right_panel, const REAL *left_next,
                           const REAL *right_next) {
  if (LEFT_BY_DEPTH) place_depths(left_panel, LEFT_PITCH, left_next, LEFT_COUNT);
  else place_lines(left_panel, LEFT_PITCH, TILE_ROWS, left_next, LEFT_COUNT);
  if (RIGHT_BY_DEPTH) place_depths(right_panel, RIGHT_PITCH, right_next, RIGHT_COUNT);
  else place_lines(right_panel, RIGHT_PITCH, TILE_COLUMNS, right_next, RIGHT_COUNT);
}

__attribute__((reqd_work_group_size(TILE_ITEMS, 1, 1)))
__kernel void gemm(BUFFER(const STORAGE, a), BUFFER(const STORAGE, b), BUFFER(const STORAGE, bias),
                   BUFFER(STORAGE, c), const int m, const int n, const int depth, const long a_batch,
                   const long a_row, const long a_column, const long b_batch, const long b_row, const long b_column,
                   const REAL alpha, const REAL beta, const int has_bias) {
  PRODUCT_MEMORY;
  const int item = get_local_id(0), batch = get_group_id(2);
  const int block_row = get_group_id(1) * TILE_ROWS, block_column = get_group_id(0) * TILE_COLUMNS;
  Operand left = {a_buffer + a_start + batch * a_batch + (block_row + LEFT_LINE(0)) * a_row + LEFT_DEPTH(0) * a_column,
                  TILE_DEPTH * a_column,
                  LEFT_BY_DEPTH ? TILE_ITEMS / TILE_DEPTH * a_row : TILE_ITEMS / TILE_ROWS * a_column};
  Operand right = {
      b_buffer + b_start + batch * b_batch + (block_column + RIGHT_LINE(0)) * b_column + RIGHT_DEPTH(0) * b_row,
      TILE_DEPTH * b_row, RIGHT_BY_DEPTH ? TILE_ITEMS / TILE_DEPTH * b_column : TILE_ITEMS / TILE_COLUMNS * b_row};
#define FETCH                                                                 \
  fetch_left(&left, left_next, m - block_row, depth - (step + 1) * TILE_DEPTH); \
  fetch_right(&right, right_next, n - block_column, depth - (step + 1) * TILE_DEPTH)
  PRODUCT((depth + TILE_DEPTH - 1) / TILE_DEPTH, {FETCH; },
          place_operands(left_panel, right_panel, left_next, right_next))
  __global STORAGE *c = c_buffer + c_start + (long)batch * m * n;
#pragma unroll
  for (int i = 0; i < RESULT_ROWS; ++i)
#pragma unroll
    for (int j = 0; j < RESULT_COLUMNS; ++j) {
      const int row = block_row + RESULT_ROW(i), column = block_column + RESULT_COLUMN(j);
      if (row >= m || column >= n) continue;
      const long at = (long)row * n + column;
      REAL value = alpha * RESULT(i, j);
      if (has_bias) value += LOAD(bias_buffer, bias_start + column);
      if (beta != 0) value += beta * LOAD(c, at);
      STORE(c, at, value);
    }
}
