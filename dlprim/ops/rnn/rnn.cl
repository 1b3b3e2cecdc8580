// One step of a recurrent layer, forward or backward. Macros: STORAGE, REAL, LOAD, STORE (dtype_defines), REAL_IS_FLOAT,
// CELL (cells.cl), and
//   FUSED   1: the kernel makes the product with the recurrent weights itself, out of `left` [product_rows, depth] and
//              packed panels of the weights (CPU alone, macros of cpu_tile.cl)
//           0: `left` is that product
// Shape cpu: a work item takes a range of jobs (FUSED: a block of units times a block of rows) or of rows. Shape simt: a
// work item takes a unit of a row.
#include "core/common.cl"
#include "core/vectors.cl"
#include "ops/gemm/remainder.cl"
#include "ops/rnn/cells.cl"
#if FUSED
#include "ops/gemm/cpu_tile.cl"
#endif

#define PRODUCT_ARGS BUFFER(const STORAGE, left), const int product_rows, BUFFER(const REAL, panels), const int depth
#define FORWARD_ARGS                                                                                                  \
  const step_t s, PRODUCT_ARGS, BUFFER(STORAGE, gates), BUFFER(const STORAGE, bias), BUFFER(const STORAGE, h),        \
      BUFFER(const STORAGE, c), BUFFER(STORAGE, hidden_n), BUFFER(STORAGE, out), BUFFER(STORAGE, h_next),             \
      BUFFER(STORAGE, h_end), BUFFER(STORAGE, c_next), BUFFER(STORAGE, c_end)
#define BACKWARD_ARGS                                                                                                 \
  const step_t s, PRODUCT_ARGS, BUFFER(const STORAGE, gates), BUFFER(const STORAGE, h), BUFFER(const STORAGE, c),     \
      BUFFER(const STORAGE, hidden_n), BUFFER(const STORAGE, dy), BUFFER(const STORAGE, dh_end),                      \
      BUFFER(const STORAGE, dc_end), BUFFER(REAL, carry), BUFFER(STORAGE, dx_gates), BUFFER(STORAGE, dh_gates),       \
      BUFFER(STORAGE, dh_start), BUFFER(STORAGE, dc_start)
#define FORWARD_TENSORS                                                                                               \
  {OPTIONAL(gates), OPTIONAL(bias), OPTIONAL(h), OPTIONAL(c), OPTIONAL(hidden_n), OPTIONAL(out), OPTIONAL(h_next),    \
   OPTIONAL(h_end), OPTIONAL(c_next), OPTIONAL(c_end)}
#define BACKWARD_TENSORS                                                                                              \
  {OPTIONAL(gates), OPTIONAL(h), OPTIONAL(c), OPTIONAL(hidden_n), OPTIONAL(dy), OPTIONAL(dh_end), OPTIONAL(dc_end),   \
   OPTIONAL(carry), OPTIONAL(dx_gates), OPTIONAL(dh_gates), OPTIONAL(dh_start), OPTIONAL(dc_start)}

#if FUSED

// Rows [0, rows) of `left` times a packed panel; rows beyond the last are the last one again.
inline Tile multiply_rows(const __global STORAGE *left, const int rows, const __global REAL *restrict panel,
                          const int depth) {
  const __global STORAGE *row[MR];
#pragma unroll
  for (int i = 0; i < MR; ++i) row[i] = left + (long)min(i, rows - 1) * depth;
  Tile total = zero_tile();
  for (int start = 0; start < depth; start += CHAIN) {
    const int end = min(start + CHAIN, depth);
    Tile tile = zero_tile();
    for (int k = start; k < end; ++k) {
#define ROW_LEFT(i) LOAD(row[i], k)
      TILE_STEP(tile, ROW_LEFT, panel + k * NR)
#undef ROW_LEFT
    }
    total = add_tiles(total, tile);
  }
  return total;
}

// Leaves in `values` [COUNT][MR * NR] the products of a block of rows with the panels of a block of units, one of every
// gate; `stride` is from a gate's panel to the next gate's.
#define MULTIPLY(values, COUNT, rows)                                                                             \
  for (int g = 0; g < COUNT; ++g) {                                                                               \
    const Tile tile = multiply_rows(left + (long)first_row * depth, rows,                                         \
                                    panels + ((long)g * unit_blocks + block) * depth * NR, depth);                \
    spill_tile(tile, values + g * MR * NR);                                                                       \
  }

#define FOR_MY_JOBS(all_rows)                                                                                     \
  const int unit_blocks = (s.units + NR - 1) / NR, row_blocks = ((all_rows) + MR - 1) / MR;                       \
  const long jobs = (long)unit_blocks * row_blocks, end = first_job(jobs, get_group_id(0) + 1, get_num_groups(0)); \
  for (long job = first_job(jobs, get_group_id(0), get_num_groups(0)); job < end; ++job)
#define FIND_JOB(all_rows)                                                                                        \
  const int block = job / row_blocks, first_row = (int)REMAINDER(job, row_blocks) * MR;                           \
  const int rows = min(MR, (all_rows) - first_row)

__attribute__((reqd_work_group_size(1, 1, 1)))
__kernel void step_forward_kernel(FORWARD_ARGS) {
  BIND(const STORAGE, left);
  BIND(const REAL, panels);
  const forward_t a = FORWARD_TENSORS;
  FOR_MY_JOBS(s.rows) {
    FIND_JOB(s.rows);
    REAL values[GATES * MR * NR];
    MULTIPLY(values, GATES, rows)
    for (int i = 0; i < rows; ++i)
      for (int n = 0; n < min(NR, s.units - block * NR); n += WIDTH) {
        V product[GATES];
#pragma unroll
        for (int g = 0; g < GATES; ++g) product[g] = vload16(0, values + (g * MR + i) * NR + n);
        const int unit = block * NR + n;
        step_forward(a, s, first_row + i, unit, min(WIDTH, s.units - unit), product);
      }
  }
}

__attribute__((reqd_work_group_size(1, 1, 1)))
__kernel void step_backward_kernel(BACKWARD_ARGS) {
  BIND(const STORAGE, left);
  BIND(const REAL, panels);
  const backward_t a = BACKWARD_TENSORS;
  const int all_rows = max(s.rows, s.next_rows);
  FOR_MY_JOBS(all_rows) {
    FIND_JOB(all_rows);
    REAL values[MR * NR];
    if (first_row < product_rows) {
      MULTIPLY(values, 1, min(MR, product_rows - first_row))
    }
    for (int i = 0; i < rows; ++i)
      for (int n = 0; n < min(NR, s.units - block * NR); n += WIDTH) {
        const int row = first_row + i, unit = block * NR + n;
        const bool has_product = row < product_rows;
        step_backward(a, s, row, unit, min(WIDTH, s.units - unit),
                      has_product ? vload16(0, values + i * NR + n) : (V)(0), has_product);
      }
  }
}

// Packs the right operand (element (k, g * columns + n) at matrix[k * row + (g * columns + n) * column]) into panels
// [gate][block of NR columns][depth][NR]; one work item a panel.
__attribute__((reqd_work_group_size(1, 1, 1)))
__kernel void pack_panels(BUFFER(const STORAGE, matrix), BUFFER(REAL, panels), const long row, const long column,
                          const int depth, const int columns) {
  BIND(const STORAGE, matrix);
  BIND(REAL, panels);
  const int block = get_group_id(0), gate = get_group_id(1);
  pack_panel(matrix + ((long)gate * columns + block * NR) * column, row, column, depth, min(NR, columns - block * NR),
             panels + ((long)gate * get_num_groups(0) + block) * depth * NR);
}

#else

#if SHAPE_CPU
#define FOR_MY_UNITS(all_rows)                                                              \
  const long end = (long)(all_rows) * (get_global_id(0) + 1) / get_global_size(0);          \
  for (int row = (long)(all_rows)*get_global_id(0) / get_global_size(0); row < end; ++row)  \
    for (int unit = 0; unit < s.units; unit += WIDTH)
#define MY_LANES min(WIDTH, s.units - unit)
#else
#define FOR_MY_UNITS(all_rows)              \
  const int row = get_group_id(1);          \
  const int unit = get_global_id(0);        \
  if (unit < s.units)
#define MY_LANES 1
#endif

__kernel void step_forward_kernel(FORWARD_ARGS) {
  BIND(const STORAGE, left);
  const forward_t a = FORWARD_TENSORS;
  FOR_MY_UNITS(s.rows) {
    const int lanes = MY_LANES;
    V product[GATES];
#pragma unroll
    for (int g = 0; g < GATES; ++g) product[g] = GET(left, ((long)row * GATES + g) * s.units + unit);
    step_forward(a, s, row, unit, lanes, product);
  }
}

__kernel void step_backward_kernel(BACKWARD_ARGS) {
  BIND(const STORAGE, left);
  const backward_t a = BACKWARD_TENSORS;
  FOR_MY_UNITS(max(s.rows, s.next_rows)) {
    const int lanes = MY_LANES;
    const bool has_product = row < product_rows;
    step_backward(a, s, row, unit, lanes, has_product ? GET(left, (long)row * s.units + unit) : (V)(0), has_product);
  }
}

#endif
