// c = alpha * a @ b + beta * c + bias on a GPU. Macros say which way a and b lie. Where there are few results for the
// device, the depth is split among work groups, and their sums are joined. With BOTH_ARE_ROUNDED the depth, and what
// lies along it, is counted in words.
#define LEFT_BY_VECTORS 0
#include "ops/gemm/product.cl"
#include "ops/gemm/gemm_results.cl"

typedef struct {
  __global const BROUGHT *next;  // of this item's first piece of the next panel
  long step, piece_step;         // to the same of the panel after it, and to this item's next piece
} Operand;

inline void fetch(Operand *a, Operand *b, const int rows, const int columns, const int depth, LEFT_PANEL left_to,
                  RIGHT_PANEL right_to) {
  const int item = get_local_id(0);
  UNROLL for (int i = 0; i < LEFT_PIECES; ++i)
    BRING_LEFT(i, LEFT_ROW(item, i) < rows && LEFT_DEPTH(item, i) < depth, a->next + i * a->piece_step);
  UNROLL for (int i = 0; i < RIGHT_PIECES; ++i)
    BRING_RIGHT(i, RIGHT_COLUMN(item, i) < columns && RIGHT_DEPTH(item, i) < depth, b->next + i * b->piece_step);
  a->next += a->step;
  b->next += b->step;
}

__attribute__((reqd_work_group_size(TILE_ITEMS, 1, 1)))
__kernel void gemm(BUFFER(const BROUGHT, a), BUFFER(const BROUGHT, b), BUFFER(const STORAGE, bias),
                   BUFFER(STORAGE, c), const int m, const int n, const int depth, const long a_batch,
                   const long a_row, const long a_column, const long b_batch, const long b_row, const long b_column,
                   const REAL alpha, const REAL beta, const int has_bias, BUFFER(REAL, partials), const int splits,
                   const int split_depth) {
  PRODUCT_MEMORY;
  const int item = get_local_id(0), batch = get_group_id(2) / splits, split = REMAINDER((int)get_group_id(2), splits);
  const int first = split * split_depth, depth_of_split = min(split_depth, depth - first);
  const int block_row = get_group_id(1) * TILE_ROWS, block_column = get_group_id(0) * TILE_COLUMNS;
  Operand left = {a_buffer + a_start + batch * a_batch + (block_row + LEFT_ROW(item, 0)) * a_row +
                      (first + LEFT_DEPTH(item, 0)) * a_column,
                  TILE_DEPTH * a_column,
                  LEFT_BY_DEPTH ? LINES_APART(LEFT_WIDTH) * a_row : LEFT_DEPTHS_APART * a_column};
  Operand right = {
      b_buffer + b_start + batch * b_batch + (block_column + RIGHT_COLUMN(item, 0)) * b_column +
          (first + RIGHT_DEPTH(item, 0)) * b_row,
      TILE_DEPTH * b_row,
      RIGHT_BY_DEPTH ? LINES_APART(RIGHT_WIDTH) * b_column : DEPTHS_APART(TILE_COLUMNS, RIGHT_WIDTH) * b_row};
  PRODUCT(
      (depth_of_split + TILE_DEPTH - 1) / TILE_DEPTH,
      fetch(&left, &right, m - block_row, n - block_column, depth_of_split - next_step * TILE_DEPTH, left_to, right_to))
  __global REAL *partial = partials_buffer + partials_start + (long)get_group_id(2) * m * n;
  __global STORAGE *c = c_buffer + c_start + (long)batch * m * n;
  const int column = block_column + LINE_OF_ITEM(item, TILE_COLUMNS);
  STORE_RESULTS(STORE_RESULT(m, n, splits))
}
