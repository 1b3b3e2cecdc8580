// c = alpha * a @ b + beta * c + bias on a GPU.
#include "ops/gemm/simt_tile.cl"

inline REAL left_element(__global const STORAGE *a, const long row_stride, const long column_stride, const int m,
                         const int row, const int k) {
  return row < m ? LOAD(a, row * row_stride + k * column_stride) : (REAL)0;
}

inline REAL right_element(__global const STORAGE *b, const long row_stride, const long column_stride, const int n,
                          const int k, const int column) {
  return column < n ? LOAD(b, k * row_stride + column * column_stride) : (REAL)0;
}

__attribute__((reqd_work_group_size(SIMT_TILE_ITEMS, 1, 1)))
__kernel void gemm(BUFFER(const STORAGE, a), BUFFER(const STORAGE, b), BUFFER(const STORAGE, bias),
                   BUFFER(STORAGE, c), const int m, const int n, const int depth, const long a_batch,
                   const long a_row, const long a_column, const long b_batch, const long b_row, const long b_column,
                   const REAL alpha, const REAL beta, const int has_bias) {
  __local REAL left_panel[STEP * PITCH], right_panel[STEP * PITCH];
  const int batch = get_group_id(2);
  __global const STORAGE *a = a_buffer + a_start + batch * a_batch;
  __global const STORAGE *b = b_buffer + b_start + batch * b_batch;
  __global STORAGE *c = c_buffer + c_start + (long)batch * m * n;
#define LEFT(row, k) left_element(a, a_row, a_column, m, row, k)
#define RIGHT(k, column) right_element(b, b_row, b_column, n, k, column)
  SIMT_PRODUCT(LEFT, RIGHT, 0, depth)
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      const int row = RESULT_ROW(i), column = RESULT_COLUMN(j);
      if (row >= m || column >= n) continue;
      const long at = (long)row * n + column;
      REAL value = alpha * result[i][j];
      if (has_bias) value += LOAD(bias_buffer, bias_start + column);
      if (beta != 0) value += beta * LOAD(c, at);
      STORE(c, at, value);
    }
}
