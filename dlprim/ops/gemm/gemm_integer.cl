// c = alpha * a @ b + beta * c + bias for integers of 1, 2, 4 or 8 bytes: exact but for wrapping, plain, not tuned.
//   NUMBER   the unsigned type of their size. The low bits of a result follow from its operands' low bits alone, so a
//            dtype's sign does not matter here.
//   SUM      the type of the sums: uint at least, as the products of smaller types are signed
//   COLUMNS  how many neighbours of one row a work item makes: several on a CPU, one on a GPU
#include "core/common.cl"

__kernel void gemm(BUFFER(const NUMBER, a), BUFFER(const NUMBER, b), BUFFER(const NUMBER, bias), BUFFER(NUMBER, c),
                   const long rows, const long m, const long n, const long depth, const long a_batch, const long a_row,
                   const long a_column, const long b_batch, const long b_row, const long b_column, const long alpha,
                   const long beta) {
  const long items_per_row = (n + COLUMNS - 1) / COLUMNS, item = get_global_id(0);
  if (item >= rows * items_per_row) return;
  const long row = item / items_per_row, first = (item - row * items_per_row) * COLUMNS;
  const long batch = row / m, count = min((long)COLUMNS, n - first);
  __global const NUMBER *left = a_buffer + a_start + batch * a_batch + (row - batch * m) * a_row;
  __global const NUMBER *right = b_buffer + b_start + batch * b_batch + first * b_column;
  SUM sums[COLUMNS] = {0};
  if (count == COLUMNS && b_column == 1)
    for (long k = 0; k < depth; ++k)
      for (int j = 0; j < COLUMNS; ++j) sums[j] += (SUM)left[k * a_column] * right[k * b_row + j];
  else
    for (int j = 0; j < count; ++j)
      for (long k = 0; k < depth; ++k) sums[j] += (SUM)left[k * a_column] * right[k * b_row + j * b_column];
  for (int j = 0; j < count; ++j) {
    const ulong at = c_start + row * n + first + j;
    SUM value = (SUM)alpha * sums[j];
    if (bias_buffer) value += bias_buffer[bias_start + first + j];
    if (beta != 0) value += (SUM)beta * c_buffer[at];
    c_buffer[at] = (NUMBER)value;
  }
}
