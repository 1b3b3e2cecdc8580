// A product of matrices by two-dimensional work groups, to find drivers that get them wrong.
// Macros: ROWS, COLUMNS: the items of a work group, one a result.
#include "core/common.cl"

#define DEPTH 16  // of the panels that a work group shares

// c (m, n) = a (m, k) b (k, n).
__attribute__((reqd_work_group_size(COLUMNS, ROWS, 1)))
__kernel void group_probe(BUFFER(const float, a), BUFFER(const float, b), BUFFER(float, c), const int m, const int n,
                          const int k) {
  __local float left[ROWS][DEPTH], right[DEPTH][COLUMNS];
  BIND(const float, a);
  BIND(const float, b);
  BIND(float, c);
  const int x = get_local_id(0), y = get_local_id(1), column = get_global_id(0), row = get_global_id(1);
  float sum = 0;
  for (int begin = 0; begin < k; begin += DEPTH) {
    for (int i = x; i < DEPTH; i += COLUMNS) left[y][i] = row < m && begin + i < k ? a[row * k + begin + i] : 0;
    for (int i = y; i < DEPTH; i += ROWS) right[i][x] = column < n && begin + i < k ? b[(begin + i) * n + column] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < DEPTH; ++i) sum = fma(left[y][i], right[i][x], sum);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (row < m && column < n) c[row * n + column] = sum;
}
