// c = alpha * a @ b + beta * c + bias on a CPU. A job is one block of columns (some panels of NR) times one block of
// rows; an item walks jobs in order. Of the depth it packs TILE_CHAIN steps at a time, so that a panel stays in the
// level-1 cache while all rows pass by it, and keeps the sums so far in its scratch; where the depth is one block it keeps
// the packed panels while only the row block changes.
#include "ops/gemm/cpu_tile.cl"

inline void store_tile(const Tile tile, __global STORAGE *restrict c, const long row_length, const int rows,
                       const int columns, const REAL alpha, const REAL beta, __global const STORAGE *restrict bias) {
#if DIRECT
  if (rows == MR && columns == NR && beta == 0) {
    const VEC bias0 = bias ? VLOAD(0, bias) : (VEC)(0), bias1 = bias ? VLOAD(1, bias) : (VEC)(0);
#pragma unroll
    for (int i = 0; i < MR; ++i) {
      VSTORE(tile.v[i][0] * alpha + bias0, 0, c + i * row_length);
      VSTORE(tile.v[i][1] * alpha + bias1, 1, c + i * row_length);
    }
    return;
  }
#endif
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
                   const REAL alpha, const REAL beta, const int has_bias, const int column_blocks,
                   const int row_blocks, const int most_panels, const long slice) {
  BIND(const REAL, left);
  BIND(const STORAGE, b);
  BIND(STORAGE, c);
  BIND(REAL, scratch);
  __global const STORAGE *bias = has_bias ? bias_buffer + bias_start : 0;
  const int block_depth = min(depth, TILE_CHAIN);
  const long panel_size = (long)block_depth * NR;
  __global REAL *panels = scratch + get_group_id(0) * slice, *sums = panels + most_panels * panel_size;
  const int row_panels = (m + MR - 1) / MR, column_panels = (n + NR - 1) / NR;
  const long jobs = (long)batches * column_blocks * row_blocks;
  const long end = first_job(jobs, get_group_id(0) + 1, get_num_groups(0));
  long packed = -1;
  for (long job = first_job(jobs, get_group_id(0), get_num_groups(0)); job < end; ++job) {
    const int row_block = REMAINDER(job, row_blocks);
    const long block = job / row_blocks;
    const int batch = block / column_blocks, column_block = REMAINDER(block, column_blocks);
    const int first_panel = first_job(column_panels, column_block, column_blocks);
    const int last_panel = first_job(column_panels, column_block + 1, column_blocks);
    const int first_row = first_job(row_panels, row_block, row_blocks);
    const int last_row = first_job(row_panels, row_block + 1, row_blocks);
    int done = 0;  // steps of the depth
    do {
      const int steps = min(TILE_CHAIN, depth - done);
      if (block != packed || steps < depth)
        for (int p = first_panel; p < last_panel; ++p)
          pack_panel(b + batch * b_batch + done * b_row + p * NR * b_column, b_row, b_column, steps,
                     min(NR, n - p * NR), panels + (p - first_panel) * panel_size);
      packed = block;
      for (int p = first_panel; p < last_panel; ++p)
        for (int r = first_row; r < last_row; ++r) {
          __global REAL *sum = sums + ((long)(p - first_panel) * (last_row - first_row) + r - first_row) * (MR * NR);
          Tile tile = multiply_chain(left + batch * left_batch + ((long)row_panels * done + (long)r * steps) * MR,
                                      panels + (p - first_panel) * panel_size, steps);
          if (done > 0) tile = add_tiles(load_tile(sum), tile);
          if (done + steps < depth)
            keep_tile(tile, sum);
          else
            store_tile(tile, c + ((long)batch * m + r * MR) * n + p * NR, n, min(MR, m - r * MR),
                       min(NR, n - p * NR), alpha, beta, bias ? bias + p * NR : 0);
        }
      done += steps;
    } while (done < depth);
  }
}
