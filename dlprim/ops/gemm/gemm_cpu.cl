// c = alpha * a @ b + beta * c + bias on a CPU. A job is one block of columns (some panels of NR) times one block of
// rows; an item walks jobs in order and keeps its packed panels while only the row block changes.
#include "ops/gemm/cpu_tile.cl"

inline void store_tile(const Tile tile, __global STORAGE *restrict c, const long row_length, const int rows,
                       const int columns, const REAL alpha, const REAL beta, __global const STORAGE *restrict bias) {
  REAL tile_values[MR * NR];
  spill_tile(tile, tile_values);
  for (int i = 0; i < rows; ++i) {
    __global STORAGE *row = c + i * row_length;
    REAL *values = tile_values + i * NR;
    for (int n = 0; n < columns; ++n) values[n] *= alpha;
    if (bias)
      for (int n = 0; n < columns; ++n) values[n] += LOAD(bias, n);
    if (beta != 0)
      for (int n = 0; n < columns; ++n) values[n] += beta * LOAD(row, n);
    for (int n = 0; n < columns; ++n) STORE(row, n, values[n]);
  }
}

__attribute__((reqd_work_group_size(1, 1, 1)))
__kernel void gemm(BUFFER(const REAL, left), BUFFER(const STORAGE, b), BUFFER(const STORAGE, bias),
                   BUFFER(STORAGE, c), BUFFER(REAL, scratch), const int batches, const int m, const int n,
                   const int depth, const long left_batch, const long b_batch, const long b_row, const long b_column,
                   const REAL alpha, const REAL beta, const int has_bias, const int panels_per_job,
                   const int row_blocks, const long slice) {
  BIND(const REAL, left);
  BIND(const STORAGE, b);
  BIND(STORAGE, c);
  BIND(REAL, scratch);
  __global const STORAGE *bias = has_bias ? bias_buffer + bias_start : 0;
  __global REAL *panels = scratch + get_group_id(0) * slice;
  const int row_panels = (m + MR - 1) / MR, column_panels = (n + NR - 1) / NR;
  const int column_blocks = (column_panels + panels_per_job - 1) / panels_per_job;
  const long jobs = (long)batches * column_blocks * row_blocks;
  const long end = first_job(jobs, get_group_id(0) + 1, get_num_groups(0));
  long packed = -1;
  for (long job = first_job(jobs, get_group_id(0), get_num_groups(0)); job < end; ++job) {
    const int row_block = REMAINDER(job, row_blocks);
    const long block = job / row_blocks;
    const int batch = block / column_blocks, first_panel = (int)REMAINDER(block, column_blocks) * panels_per_job;
    const int last_panel = min(first_panel + panels_per_job, column_panels);
    if (block != packed)
      for (int p = first_panel; p < last_panel; ++p)
        pack_panel(b + batch * b_batch + p * NR * b_column, b_row, b_column, depth, min(NR, n - p * NR),
                   panels + (long)(p - first_panel) * depth * NR);
    packed = block;
    const int row_end = first_job(row_panels, row_block + 1, row_blocks);
    for (int r = first_job(row_panels, row_block, row_blocks); r < row_end; ++r)
      for (int p = first_panel; p < last_panel; ++p) {
        const Tile tile = multiply_panels(left + batch * left_batch + (long)r * depth * MR,
                                          panels + (long)(p - first_panel) * depth * NR, depth);
        store_tile(tile, c + ((long)batch * m + r * MR) * n + p * NR, n, min(MR, m - r * MR), min(NR, n - p * NR),
                   alpha, beta, bias ? bias + p * NR : 0);
      }
  }
}
