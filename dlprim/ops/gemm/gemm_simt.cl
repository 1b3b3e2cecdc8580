// c = alpha * a @ b + beta * c + bias on a GPU. Macros say which way a and b lie.
#define LEFT_BY_VECTORS 0
#include "ops/gemm/product.cl"

typedef struct {
  __global const STORAGE *next;  // of this item's first element of the next panel
  long step, element_step;       // to the same of the panel after it, and to this item's next element
} Operand;

#define ROW_OF(i) (LEFT_BY_DEPTH ? LINE_OF_ELEMENT(item, i) : LINE_OF_ITEM(item, TILE_ROWS))
#define LEFT_DEPTH(i) (LEFT_BY_DEPTH ? DEPTH_OF_ITEM(item) : DEPTH_OF_ELEMENT(item, i, TILE_ROWS))
#define COLUMN_OF(i) (RIGHT_BY_DEPTH ? LINE_OF_ELEMENT(item, i) : LINE_OF_ITEM(item, TILE_COLUMNS))
#define RIGHT_DEPTH(i) (RIGHT_BY_DEPTH ? DEPTH_OF_ITEM(item) : DEPTH_OF_ELEMENT(item, i, TILE_COLUMNS))

inline void fetch(Operand *a, Operand *b, const int rows, const int columns, const int depth, LEFT_PANEL left_to,
                  RIGHT_PANEL right_to) {
  const int item = get_local_id(0);
  UNROLL for (int i = 0; i < LEFT_COUNT; ++i)
    BRING_LEFT(i, ROW_OF(i) < rows && LEFT_DEPTH(i) < depth, a->next + i * a->element_step);
  UNROLL for (int i = 0; i < RIGHT_COUNT; ++i)
    BRING_RIGHT(i, COLUMN_OF(i) < columns && RIGHT_DEPTH(i) < depth, b->next + i * b->element_step);
  a->next += a->step;
  b->next += b->step;
}

__attribute__((reqd_work_group_size(TILE_ITEMS, 1, 1)))
__kernel void gemm(BUFFER(const STORAGE, a), BUFFER(const STORAGE, b), BUFFER(const STORAGE, bias),
                   BUFFER(STORAGE, c), const int m, const int n, const int depth, const long a_batch,
                   const long a_row, const long a_column, const long b_batch, const long b_row, const long b_column,
                   const REAL alpha, const REAL beta, const int has_bias) {
  PRODUCT_MEMORY;
  const int item = get_local_id(0), batch = get_group_id(2);
  const int block_row = get_group_id(1) * TILE_ROWS, block_column = get_group_id(0) * TILE_COLUMNS;
  Operand left = {a_buffer + a_start + batch * a_batch + (block_row + ROW_OF(0)) * a_row + LEFT_DEPTH(0) * a_column,
                  TILE_DEPTH * a_column,
                  LEFT_BY_DEPTH ? TILE_ITEMS / TILE_DEPTH * a_row : TILE_ITEMS / TILE_ROWS * a_column};
  Operand right = {
      b_buffer + b_start + batch * b_batch + (block_column + COLUMN_OF(0)) * b_column + RIGHT_DEPTH(0) * b_row,
      TILE_DEPTH * b_row, RIGHT_BY_DEPTH ? TILE_ITEMS / TILE_DEPTH * b_column : TILE_ITEMS / TILE_COLUMNS * b_row};
  PRODUCT((depth + TILE_DEPTH - 1) / TILE_DEPTH,
          fetch(&left, &right, m - block_row, n - block_column, depth - next_step * TILE_DEPTH, left_to, right_to))
  __global STORAGE *c = c_buffer + c_start + (long)batch * m * n;
  const int column = block_column + LINE_OF_ITEM(item, TILE_COLUMNS);
#define STORE_RESULT                                              \
  if (block_row + row < m && column < n) {                        \
    const long at = (long)(block_row + row) * n + column;         \
    value *= alpha;                                               \
    if (has_bias) value += LOAD(bias_buffer, bias_start + column); \
    if (beta != 0) value += beta * LOAD(c, at);                   \
    STORE(c, at, value);                                          \
  }
  STORE_RESULTS(STORE_RESULT)
}
