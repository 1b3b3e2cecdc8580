// c = alpha * a @ b + beta * c + bias for integers of 1, 2, 4 or 8 bytes: exact but for wrapping, plain, not tuned. The
// low bits of a result follow from its operands' low bits alone, so that a dtype's sign does not matter here.
#include "core/common.cl"

static long element(__global const uchar *p, const ulong at, const int bytes) {
  return bytes == 8   ? ((__global const long *)p)[at]
         : bytes == 4 ? ((__global const int *)p)[at]
         : bytes == 2 ? ((__global const short *)p)[at]
                      : (long)p[at];
}

// One work item makes `columns` neighbours of one row: all of them on a CPU, one on a GPU.
__kernel void gemm(BUFFER(const uchar, a), BUFFER(const uchar, b), BUFFER(const uchar, bias), BUFFER(uchar, c),
                   const int bytes, const long rows, const long m, const long n, const long depth, const long a_batch,
                   const long a_row, const long a_column, const long b_batch, const long b_row, const long b_column,
                   const long alpha, const long beta, const long columns) {
  const long items_per_row = (n + columns - 1) / columns, item = get_global_id(0);
  if (item >= rows * items_per_row) return;
  const long row = item / items_per_row, first = (item - row * items_per_row) * columns;
  const long batch = row / m;
  const ulong left = a_start + batch * a_batch + (row - batch * m) * a_row, right = b_start + batch * b_batch;
  for (long column = first; column < min(first + columns, n); ++column) {
    long sum = 0;
    for (long k = 0; k < depth; ++k)
      sum += element(a_buffer, left + k * a_column, bytes) *
             element(b_buffer, right + k * b_row + column * b_column, bytes);
    const ulong at = c_start + row * n + column;
    long value = alpha * sum;
    if (bias_buffer) value += element(bias_buffer, bias_start + column, bytes);
    if (beta != 0) value += beta * element(c_buffer, at, bytes);
    if (bytes == 8)
      ((__global long *)c_buffer)[at] = value;
    else if (bytes == 4)
      ((__global int *)c_buffer)[at] = (int)value;
    else if (bytes == 2)
      ((__global short *)c_buffer)[at] = (short)value;
    else
      c_buffer[at] = (uchar)value;
  }
}
