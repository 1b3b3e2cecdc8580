// One step of a recurrent layer, forward or backward. Macros: STORAGE, REAL, LOAD, STORE (dtype_defines),
// REAL_IS_FLOAT, CELL (cells.cl), and PRODUCT, which says where the product with the recurrent weights comes from:
//   PRODUCT_GIVEN   `left` is that product, [product_rows, products * units]
//   PRODUCT_TILES   the kernel makes it out of `left` [product_rows, depth] and `weights`, packed panels (CPU alone,
//   macros
//                   of cpu_tile.cl, and ROW_TILES, tiles of rows that a job has)
//   PRODUCT_THIN    the same, out of weights that are as they are: element (k, n) at
//                   weights[k * weight_row + n * weight_column]; for few rows (simt alone)
// Work: shape cpu, a range of rows an item (TILES: of jobs, a block of units times a block of rows); shape simt, a unit
// of a row an item (THIN: a block of units times a block of rows a group).
#include "core/common.cl"
#include "core/vectors.cl"
#include "ops/gemm/remainder.cl"
#include "ops/rnn/cells.cl"

#if PRODUCT == PRODUCT_TILES
#include "ops/gemm/cpu_rows.cl"
#define WEIGHT REAL
#else
#define WEIGHT STORAGE
#endif

#define PRODUCT_ARGS                                                                                                  \
  BUFFER(const STORAGE, left), const int product_rows, BUFFER(const WEIGHT, weights), const int depth,                \
      const long weight_row, const long weight_column
#define FORWARD_ARGS                                                                                                  \
  const RnnStepSizes s, PRODUCT_ARGS, BUFFER(STORAGE, gates), BUFFER(const STORAGE, x_bias),                          \
      BUFFER(const STORAGE, h_bias), BUFFER(const STORAGE, h), BUFFER(const STORAGE, c), BUFFER(STORAGE, hidden_n),   \
      BUFFER(STORAGE, out), BUFFER(STORAGE, h_next), BUFFER(STORAGE, h_end), BUFFER(STORAGE, c_next),                 \
      BUFFER(STORAGE, c_end)
#define BACKWARD_ARGS                                                                                                 \
  const RnnStepSizes s, PRODUCT_ARGS, BUFFER(const STORAGE, gates), BUFFER(const STORAGE, h),                         \
      BUFFER(const STORAGE, c), BUFFER(const STORAGE, hidden_n), BUFFER(const STORAGE, dy),                           \
      BUFFER(const STORAGE, dh_end), BUFFER(const STORAGE, dc_end), BUFFER(REAL, carry), BUFFER(STORAGE, dx_gates),   \
      BUFFER(STORAGE, dh_gates), BUFFER(STORAGE, dh_start), BUFFER(STORAGE, dc_start)
#define FORWARD_TENSORS                                                                                               \
  {OPTIONAL(gates), OPTIONAL(x_bias), OPTIONAL(h_bias), OPTIONAL(h), OPTIONAL(c), OPTIONAL(hidden_n), OPTIONAL(out),  \
   OPTIONAL(h_next), OPTIONAL(h_end), OPTIONAL(c_next), OPTIONAL(c_end)}
#define BACKWARD_TENSORS                                                                                              \
  {OPTIONAL(gates), OPTIONAL(h), OPTIONAL(c), OPTIONAL(hidden_n), OPTIONAL(dy), OPTIONAL(dh_end), OPTIONAL(dc_end),   \
   OPTIONAL(carry), OPTIONAL(dx_gates), OPTIONAL(dh_gates), OPTIONAL(dh_start), OPTIONAL(dc_start)}

#if PRODUCT == PRODUCT_TILES

#define ROWS (ROW_TILES * MR)

// The panel's next piece: the tiles of this one ask for three quarters of it, where there are three tiles.
INLINE Ahead next_piece(const __global REAL *panel, const int tile) {
  const int line = 64 / sizeof(STORAGE);
  return (Ahead){(const __global STORAGE *)(panel + TILE_CHAIN * NR) + tile * (TILE_CHAIN / 2 * line), line, 0};
}

// The cells' operands for a block of units after its products, asked for before them: it lies in short pieces far
// apart, whose way from memory took a third as long as the products.
INLINE void ask_for_block(const __global STORAGE *tensor, const int first_row, const int rows, const long row_length,
                          const int column) {
  if (tensor)
    for (int i = 0; i < rows; ++i)
      for (int n = 0; n < NR; n += 64 / sizeof(STORAGE)) PREFETCH(tensor + (first_row + i) * row_length + column + n);
}
#define ASK_FOR_STATES                                                                                            \
  for (int g = 0; g < GATES; ++g)                                                                                 \
    ask_for_block(a.gates, first_row, rows, (long)GATES * s.units, g * s.units + block * NR);                     \
  ask_for_block(a.c, first_row, rows, s.units, block * NR)

// Leaves in `values` [COUNT][ROW_TILES][MR * NR] the products of a block of rows with the panels of a block of units,
// one of every gate. A piece of a panel comes from memory once and serves all rows.
#define MULTIPLY(values, COUNT, rows)                                                                             \
  for (int g = 0; g < COUNT; ++g)                                                                                 \
    for (int done = 0; done < depth; done += TILE_CHAIN)                                                          \
      for (int t = 0; t * MR < rows; ++t) {                                                                       \
        REAL *sums = values + (g * ROW_TILES + t) * (MR * NR);                                                    \
        const __global REAL *panel = weights + (((long)block * COUNT + g) * depth + done) * NR;                   \
        Tile tile = multiply_rows(left + (long)(first_row + t * MR) * depth + done, rows - t * MR, depth, panel,  \
                                  min(TILE_CHAIN, depth - done), next_piece(panel, t));                           \
        if (done > 0) tile = add_tiles(reload_tile(sums), tile);                                                  \
        spill_tile(tile, sums);                                                                                   \
      }

#define FOR_MY_JOBS(all_rows)                                                                                     \
  const int unit_blocks = (s.units + NR - 1) / NR, row_blocks = ((all_rows) + ROWS - 1) / ROWS;                       \
  const long jobs = (long)unit_blocks * row_blocks, end = first_job(jobs, get_group_id(0) + 1, get_num_groups(0)); \
  for (long job = first_job(jobs, get_group_id(0), get_num_groups(0)); job < end; ++job)
#define FIND_JOB(all_rows)                                                                                        \
  const int block = job / row_blocks, first_row = (int)REMAINDER(job, row_blocks) * ROWS;                           \
  const int rows = min(ROWS, (all_rows) - first_row)

__attribute__((reqd_work_group_size(1, 1, 1)))
__kernel void step_forward_kernel(FORWARD_ARGS) {
  BIND(const STORAGE, left);
  BIND(const REAL, weights);
  const forward_t a = FORWARD_TENSORS;
  FOR_MY_JOBS(s.rows) {
    FIND_JOB(s.rows);
    ASK_FOR_STATES;
    REAL values[GATES * ROWS * NR];
    MULTIPLY(values, GATES, rows)
    for (int i = 0; i < rows; ++i)
      for (int n = 0; n < min(NR, s.units - block * NR); n += WIDTH) {
        V product[GATES];
#pragma unroll
        for (int g = 0; g < GATES; ++g) product[g] = vload16(0, values + (g * ROWS + i) * NR + n);
        const int unit = block * NR + n;
        step_forward(a, s, first_row + i, unit, min(WIDTH, s.units - unit), product);
      }
  }
}

__attribute__((reqd_work_group_size(1, 1, 1)))
__kernel void step_backward_kernel(BACKWARD_ARGS) {
  BIND(const STORAGE, left);
  BIND(const REAL, weights);
  const backward_t a = BACKWARD_TENSORS;
  const int all_rows = max(s.rows, s.next_rows);
  FOR_MY_JOBS(all_rows) {
    FIND_JOB(all_rows);
    ASK_FOR_STATES;
    ask_for_block(a.dy, first_row, rows, s.out_row, block * NR);
    REAL values[ROWS * NR];
    if (first_row < product_rows) {
      MULTIPLY(values, 1, min(ROWS, product_rows - first_row))
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
// [block of NR columns][gate][depth][NR]; one work item a panel.
__attribute__((reqd_work_group_size(1, 1, 1)))
__kernel void pack_panels(BUFFER(const STORAGE, matrix), BUFFER(REAL, panels), const long row, const long column,
                          const int depth, const int columns) {
  BIND(const STORAGE, matrix);
  BIND(REAL, panels);
  const int block = get_group_id(0), gate = get_group_id(1);
  pack_panel(matrix + ((long)gate * columns + block * NR) * column, row, column, depth, min(NR, columns - block * NR),
             panels + ((long)block * get_num_groups(1) + gate) * depth * NR);
}

#elif PRODUCT == PRODUCT_THIN

// A group makes a tile of products, whose columns are those of all gates of block_units units. The depth comes through
// local memory, STEP at a time; its steps are dealt out to SLICES, whose sums are added at the end.
#define SLICES 8
#define STEP (REAL_IS_FLOAT ? 128 : 64)
#define LEFT_PITCH (THIN_TILE_ROWS + 1)
#define RIGHT_PITCH (THIN_TILE_COLUMNS + 1)
#define SUMS (THIN_TILE_ROWS * THIN_TILE_COLUMNS)
// The panels of a step, and after them the sums of the slices.
#define LOCAL_SIZE (REAL_IS_FLOAT ? STEP * (LEFT_PITCH + RIGHT_PITCH) : SLICES * SUMS)

// Leaves the sums of each slice in shared[slice * SUMS + row * THIN_TILE_COLUMNS + gate * block_units + unit].
inline void thin_product(__local REAL *shared, const __global STORAGE *left, const int rows,
                         const __global STORAGE *weights, const long weight_row, const long weight_column,
                         const int depth, const int gates, const int block_units, const int first_unit,
                         const int units) {
  __local REAL *left_panel = shared, *right_panel = shared + STEP * LEFT_PITCH;
  const int item = get_local_id(0), slice = item / 32;
  const int row = item % 32 / 4 * 4, column = item % 4 * 4;
  const bool columns_first = weight_column == 1;
  REAL sum[4][4] = {{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}};
  for (int start = 0; start < depth; start += STEP) {
    for (int e = item; e < THIN_TILE_ROWS * STEP; e += THIN_ITEMS) {
      const int k = e % STEP, r = e / STEP;
      left_panel[k * LEFT_PITCH + r] =
          r < rows && start + k < depth ? LOAD(left, (long)r * depth + start + k) : (REAL)0;
    }
    for (int e = item; e < THIN_TILE_COLUMNS * STEP; e += THIN_ITEMS) {
      const int k = columns_first ? e / THIN_TILE_COLUMNS : e % STEP;
      const int n = columns_first ? e % THIN_TILE_COLUMNS : e / STEP;
      const int gate = n / block_units, unit = first_unit + n % block_units;
      right_panel[k * RIGHT_PITCH + n] =
          gate < gates && unit < units && start + k < depth
              ? LOAD(weights, (start + k) * weight_row + ((long)gate * units + unit) * weight_column)
              : (REAL)0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = slice; k < STEP; k += SLICES) {
      REAL l[4], r[4];
      for (int i = 0; i < 4; ++i) l[i] = left_panel[k * LEFT_PITCH + row + i];
      for (int j = 0; j < 4; ++j) r[j] = right_panel[k * RIGHT_PITCH + column + j];
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) sum[i][j] = mad(l[i], r[j], sum[i][j]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) shared[slice * SUMS + (row + i) * THIN_TILE_COLUMNS + column + j] = sum[i][j];
  barrier(CLK_LOCAL_MEM_FENCE);
}

inline REAL joined(const __local REAL *shared, const int row, const int column) {
  REAL total = 0;
  for (int slice = 0; slice < SLICES; ++slice) total += shared[slice * SUMS + row * THIN_TILE_COLUMNS + column];
  return total;
}

__attribute__((reqd_work_group_size(THIN_ITEMS, 1, 1)))
__kernel void step_forward_kernel(FORWARD_ARGS) {
  BIND(const STORAGE, left);
  BIND(const STORAGE, weights);
  __local REAL shared[LOCAL_SIZE];
  const forward_t a = FORWARD_TENSORS;
  const int block_units = THIN_TILE_COLUMNS / GATES, first_unit = get_group_id(0) * block_units;
  const int first_row = get_group_id(1) * THIN_TILE_ROWS, rows = min(THIN_TILE_ROWS, s.rows - first_row);
  thin_product(shared, left + (long)first_row * depth, rows, weights, weight_row, weight_column, depth, GATES,
               block_units, first_unit, s.units);
  for (int e = get_local_id(0); e < rows * block_units; e += THIN_ITEMS) {
    const int row = e / block_units, unit = e % block_units;
    if (first_unit + unit >= s.units) continue;
    V product[GATES];
    for (int g = 0; g < GATES; ++g) product[g] = joined(shared, row, g * block_units + unit);
    step_forward(a, s, first_row + row, first_unit + unit, 1, product);
  }
}

__attribute__((reqd_work_group_size(THIN_ITEMS, 1, 1)))
__kernel void step_backward_kernel(BACKWARD_ARGS) {
  BIND(const STORAGE, left);
  BIND(const STORAGE, weights);
  __local REAL shared[LOCAL_SIZE];
  const backward_t a = BACKWARD_TENSORS;
  const int all_rows = max(s.rows, s.next_rows), first_unit = get_group_id(0) * THIN_TILE_COLUMNS;
  const int first_row = get_group_id(1) * THIN_TILE_ROWS, rows = min(THIN_TILE_ROWS, all_rows - first_row);
  if (first_row < product_rows)
    thin_product(shared, left + (long)first_row * depth, min(THIN_TILE_ROWS, product_rows - first_row), weights,
                 weight_row, weight_column, depth, 1, THIN_TILE_COLUMNS, first_unit, s.units);
  for (int e = get_local_id(0); e < rows * THIN_TILE_COLUMNS; e += THIN_ITEMS) {
    const int row = e / THIN_TILE_COLUMNS, unit = e % THIN_TILE_COLUMNS;
    if (first_unit + unit >= s.units) continue;
    const bool has_product = first_row + row < product_rows;
    step_backward(a, s, first_row + row, first_unit + unit, 1, has_product ? joined(shared, row, unit) : (V)(0),
                  has_product);
  }
}

#else

#if SHAPE_CPU
#define FOR_MY_UNITS(all_rows)                                                              \
  const long end = (long)(all_rows) * (get_global_id(0) + 1) / get_global_size(0);          \
  for (int row = (long)(all_rows)*get_global_id(0) / get_global_size(0); row < end; ++row)  \
    for (int unit = 0; unit < s.units; unit += WIDTH)
#define MY_LANES min(WIDTH, s.units - unit)
#else
#define FOR_MY_UNITS(all_rows)                                                              \
  const int row = get_group_id(1);                                                          \
  const int unit = get_global_id(0);                                                        \
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
