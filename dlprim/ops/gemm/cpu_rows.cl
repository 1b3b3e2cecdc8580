// Tiles of a left operand that is read as it lies, row by row, without packing.
#include "ops/gemm/cpu_tile.cl"
#include "core/prefetch.cl"

// Memory that is to be asked for while something else is multiplied: a cache line every two steps of the depth,
// `stride` elements after the one before, and `turn` further every sixteen steps.
typedef struct {
  const __global STORAGE *at;
  long stride, turn;
} Ahead;

// The product of `rows` rows as they lie, `row_length` from one to the next, and a packed panel, in one chain; rows
// beyond the last are the last one again. Where half a tile holds the rows, the other half is left out.
INLINE Tile multiply_rows(const __global STORAGE *left, const int rows, const long row_length,
                          const __global REAL *restrict panel, const int depth, Ahead ahead) {
  const __global STORAGE *row[MR];
#pragma unroll
  for (int i = 0; i < MR; ++i) row[i] = left + min(i, rows - 1) * row_length;
  Tile tile = zero_tile();
  int k = 0;
#define ROW_LEFT(i) LOAD(row[i], k + s)
#define ROW_STEP(ROWS, at) { const int s = at; TILE_STEP_OF(ROWS, tile, ROW_LEFT, panel + s * NR) }
#define ROW_STEPS(ROWS)                                                                       \
  for (; k + 4 <= depth; k += 4, panel += 4 * NR) {                                           \
    PREFETCH(ahead.at);                                                                       \
    PREFETCH(ahead.at + ahead.stride);                                                        \
    ahead.at += 2 * ahead.stride + (k % 16 == 12 ? ahead.turn : 0);                           \
    ROW_STEP(ROWS, 0) ROW_STEP(ROWS, 1) ROW_STEP(ROWS, 2) ROW_STEP(ROWS, 3)                   \
  }                                                                                           \
  for (; k < depth; ++k, panel += NR) ROW_STEP(ROWS, 0)
  if (rows <= MR / 2) {
    ROW_STEPS(MR / 2)
  } else {
    ROW_STEPS(MR)
  }
#undef ROW_STEPS
#undef ROW_STEP
#undef ROW_LEFT
  return tile;
}
