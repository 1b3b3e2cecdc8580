// c = alpha * left @ right + beta * c + bias on a CPU, or c its transpose: the host says which of a and b gives scalars
// (left) and which vectors (right). A job is one block of columns (some panels of NR) times one block of rows; an item
// walks jobs in order. It packs TILE_CHAIN steps of the right operand's depth at a time, so that a panel stays in the
// level-1 cache while all rows pass by it, and keeps the sums so far in its scratch; where the depth is one block it
// keeps the packed panels while only the row block changes.
//
// The left operand is read as it lies where its depth is contiguous; otherwise it comes packed by a launch before.
// Packing 10000 x 700 numbers took a fifth of the time of their product with 700 x 650, for they leave the caches
// twice.
#include "ops/gemm/cpu_rows.cl"
#include "ops/gemm/epilogue_cpu.cl"
#include "ops/gemm/gemm_cpu_shared.h"

#define ROW PASTE(REAL, 8)
#define LINE (64 / (int)sizeof(STORAGE))  // numbers of a cache line

// Where the results of one kind of tile go: `lines` of c, of which they hold `length` neighbours.
typedef struct {
  __global STORAGE *c;
  long line_length;
  int lines, length;
  REAL alpha, beta;
  __global const STORAGE *bias;  // of the neighbours, or none
#ifdef EPILOGUE
  REAL shift[NR];                   // of the lines
  __global const STORAGE *addend;  // of the results, where there is ADDEND
#endif
} Target;

// With EPILOGUE, where beta is 0: the results of a line after their shift and their addend. The bias has a number for
// each row of c.
#ifdef EPILOGUE
#ifdef ADDEND
#define OF_ADDEND(to, i, n) ((to).addend + (i) * (to).line_length + (n))
#else
#define OF_ADDEND(to, i, n) 0
#endif
#define FINISHED(to, i, n, v) finished((v) + (to).shift[i], OF_ADDEND(to, i, n))
#define FINISHED_VECTOR(to, i, n, v) finished_vector((v) + (to).shift[i], OF_ADDEND(to, i, n))
#else
#define FINISHED(to, i, n, v) (v)
#define FINISHED_VECTOR(to, i, n, v) (v)
#endif
// Whether tiles of a transposed product are finished before they are turned, in vectors along the lines.
#if defined(EPILOGUE) && !defined(ADDEND) && DIRECT
#define FINISHED_FIRST 1
#else
#define FINISHED_FIRST 0
#endif

// `values`: [lines][pitch]
inline void store_lines(REAL *values, const int pitch, const Target to) {
  for (int i = 0; i < to.lines; ++i, values += pitch) {
    __global STORAGE *line = to.c + i * to.line_length;
    for (int n = 0; n < to.length; ++n) values[n] *= to.alpha;
    if (to.bias)
      for (int n = 0; n < to.length; ++n) values[n] += LOAD(to.bias, n);
    if (to.beta != 0)
      for (int n = 0; n < to.length; ++n) values[n] += to.beta * LOAD(line, n);
    for (int n = 0; n < to.length; ++n) STORE(line, n, FINISHED(to, i, n, values[n]));
  }
}

// Tiles are handed over in memory only where they are not stored as they are: a call that takes one has all of them
// written to memory.
INLINE void store_tile(const Tile tile, const Target to) {
#if DIRECT
  if (to.lines == MR && to.length == NR && to.beta == 0) {
    const VEC bias0 = to.bias ? VLOAD(0, to.bias) : (VEC)(0), bias1 = to.bias ? VLOAD(1, to.bias) : (VEC)(0);
#pragma unroll
    for (int i = 0; i < MR; ++i) {
      VSTORE(FINISHED_VECTOR(to, i, 0, tile.v[i][0] * to.alpha + bias0), 0, to.c + i * to.line_length);
      VSTORE(FINISHED_VECTOR(to, i, LANES, tile.v[i][1] * to.alpha + bias1), 1, to.c + i * to.line_length);
    }
    return;
  }
#endif
  REAL values[MR * NR];
  spill_tile(tile, values);
  store_lines(values, NR, to);
}

#if FINISHED_FIRST
INLINE Tile finished_tile(Tile tile, const Target to) {
  const VEC shift0 = VLOAD(0, to.shift), shift1 = VLOAD(1, to.shift);
#pragma unroll
  for (int i = 0; i < MR; ++i) {
    tile.v[i][0] = activated(tile.v[i][0] * to.alpha + shift0);
    tile.v[i][1] = activated(tile.v[i][1] * to.alpha + shift1);
  }
  return tile;
}
#endif

// `rows`: [MR][NR]
inline void store_transposed(const REAL *rows, const Target to) {
  REAL values[NR * MR];
#pragma unroll
  for (int half_tile = 0; half_tile < TILE_VECTORS; ++half_tile) {
    VEC block[MR];
#pragma unroll
    for (int i = 0; i < MR; ++i) block[i] = VLOAD(TILE_VECTORS * i + half_tile, rows);
    transpose_rows(block);
#pragma unroll
    for (int i = 0; i < MR; ++i) VSTORE(block[i], half_tile * MR + i, values);
  }
#if FINISHED_FIRST
  for (int i = 0; i < to.lines; ++i) {
    if (to.length == MR)
      vstore8(vload8(i, values), 0, to.c + i * to.line_length);
    else
      for (int n = 0; n < to.length; ++n) to.c[i * to.line_length + n] = values[i * MR + n];
  }
  return;
#elif DIRECT
  if (to.lines == NR && to.length == MR && to.beta == 0) {
    const ROW bias = to.bias ? vload8(0, to.bias) : (ROW)(0);
    for (int i = 0; i < NR; ++i) vstore8(vload8(i, values) * to.alpha + bias, 0, to.c + i * to.line_length);
    return;
  }
#endif
  store_lines(values, MR, to);
}

#define FEWEST_TILES 16  // whose products hide that way; 64 x 1600 x 128 took 8 % longer with fewer

// The part of the right operand that a job packs next, which is asked for while tiles are multiplied: its cache
// lines, dealt out to `tiles` of them.
typedef struct {
  __global const STORAGE *at;
  long stride;              // between neighbours that do not follow each other in memory
  int length, place;        // of those that do, and how many of them were asked for
  int lines, tiles;         // that are left
} NextPanels;

INLINE NextPanels next_panels(__global const STORAGE *from, const int steps, const int columns, const GemmCpuSizes s,
                              const int tiles) {
  const bool by_steps = s.right_line == 1;
  const int length = by_steps ? columns : steps, count = tiles < FEWEST_TILES ? 0 : by_steps ? steps : columns;
  return (NextPanels){from, by_steps ? s.right_step : s.right_line, length,
                      0,    count * ((length + LINE - 1) / LINE),   tiles};
}

INLINE void ask_for(NextPanels *next) {
  for (int share = (next->lines + next->tiles - 1) / next->tiles; share > 0; --share, --next->lines) {
    PREFETCH(next->at + next->place);
    next->place += LINE;
    if (next->place >= next->length) next->place = 0, next->at += next->stride;
  }
  --next->tiles;
}

INLINE void ask_for_target(const Target to) {
  for (int i = 0; i < to.lines; ++i)
    for (int n = 0; n < to.length; n += LINE) PREFETCH(to.c + i * to.line_length + n);
}

// The rows of the next tile: two lines every four steps, each line once.
INLINE Ahead next_rows(__global const STORAGE *rows, const long row_length) {
  return (Ahead){rows, row_length, LINE - MR * row_length};
}

__attribute__((reqd_work_group_size(1, 1, 1)))
__kernel void gemm(BUFFER(const REAL, left), BUFFER(const STORAGE, right), BUFFER(const STORAGE, bias),
                   BUFFER(const STORAGE, addend), BUFFER(STORAGE, c), BUFFER(REAL, scratch), const GemmCpuSizes s,
                   const REAL alpha, const REAL beta) {
  BIND(const REAL, left);
  BIND(const STORAGE, right);
  BIND(STORAGE, c);
  BIND(REAL, scratch);
  __global const STORAGE *bias = s.has_bias ? bias_buffer + bias_start : 0;
  const long panel_size = (long)min(s.depth, (int)TILE_CHAIN) * NR;
  __global REAL *panels = scratch + get_group_id(0) * s.slice, *sums = panels + s.most_panels * panel_size;
  const int row_panels = (s.rows + MR - 1) / MR, column_panels = (s.columns + NR - 1) / NR;
  const long jobs = (long)s.batches * s.column_blocks * s.row_blocks;
  const long end = first_job(jobs, get_group_id(0) + 1, get_num_groups(0));
  long packed = -1;
  for (long job = first_job(jobs, get_group_id(0), get_num_groups(0)); job < end; ++job) {
    const int row_block = REMAINDER(job, s.row_blocks);
    const long block = job / s.row_blocks;
    const int batch = block / s.column_blocks, column_block = REMAINDER(block, s.column_blocks);
    const int first_panel = first_job(column_panels, column_block, s.column_blocks);
    const int last_panel = first_job(column_panels, column_block + 1, s.column_blocks);
    const int first_row = first_job(row_panels, row_block, s.row_blocks);
    const int last_row = first_job(row_panels, row_block + 1, s.row_blocks);
    __global const REAL *left_rows = left + batch * s.left_batch;
    __global const STORAGE *right_columns = right + batch * s.right_batch + first_panel * NR * s.right_line;
    __global STORAGE *c_rows = c + batch * ((long)s.rows * s.columns);
    int done = 0;  // steps of the depth
    do {
      const int steps = min(TILE_CHAIN, s.depth - done);
      if (block != packed || steps < s.depth)
        for (int p = first_panel; p < last_panel; ++p)
          pack_panel(right_columns + done * s.right_step + (p - first_panel) * NR * s.right_line, s.right_step,
                     s.right_line, steps, min(NR, s.columns - p * NR), panels + (p - first_panel) * panel_size);
      packed = block;
      NextPanels next = next_panels(
          right_columns + (done + steps) * s.right_step, min(TILE_CHAIN, s.depth - done - steps),
          min(last_panel * NR, s.columns) - first_panel * NR, s, (last_panel - first_panel) * (last_row - first_row));
      for (int outer = 0; outer < (s.goes_along_rows ? last_row - first_row : last_panel - first_panel); ++outer)
        for (int inner = 0; inner < (s.goes_along_rows ? last_panel - first_panel : last_row - first_row); ++inner) {
          const int p = first_panel + (s.goes_along_rows ? inner : outer),
                    r = first_row + (s.goes_along_rows ? outer : inner);
          __global REAL *sum = sums + ((long)(p - first_panel) * (last_row - first_row) + r - first_row) * (MR * NR);
          __global const REAL *panel = panels + (p - first_panel) * panel_size;
          const int rows = min(MR, s.rows - r * MR), columns = min(NR, s.columns - p * NR);
          const bool is_last = done + steps >= s.depth;
          Target to =
              s.is_transposed
                  ? (Target){c_rows + (long)p * NR * s.rows + r * MR, s.rows, columns, rows, alpha, beta,
                             bias ? bias + r * MR : 0}
                  : (Target){c_rows + (long)r * MR * s.columns + p * NR, s.columns, rows, columns, alpha, beta,
                             bias ? bias + p * NR : 0};
#ifdef EPILOGUE
          to.bias = 0;
          if (is_last) {
            const int first_line = s.is_transposed ? p * NR : r * MR;
            for (int i = 0; i < NR; ++i) to.shift[i] = bias && i < to.lines ? LOAD(bias, first_line + i) : (REAL)0;
          }
          to.addend = addend_buffer + addend_start + (to.c - c);
#endif
          ask_for(&next);
          if (is_last) ask_for_target(to);
          Tile tile;
#if DIRECT
          if (s.left_line > 0)
            tile = multiply_rows(left_rows + r * MR * s.left_line + done, rows, s.left_line, panel, steps,
                                 next_rows(left_rows + (r + 1) * MR * s.left_line + done, s.left_line));
          else
#endif
            tile = multiply_chain(left_rows + ((long)row_panels * done + (long)r * steps) * MR, panel, steps);
          if (done > 0) tile = add_tiles(load_tile(sum), tile);
          if (!is_last)
            keep_tile(tile, sum);
          else if (s.is_transposed) {
            REAL values[MR * NR];
#if FINISHED_FIRST
            tile = finished_tile(tile, to);
#endif
            spill_tile(tile, values);
            store_transposed(values, to);
          } else
            store_tile(tile, to);
        }
      done += steps;
    } while (done < s.depth);
  }
}
