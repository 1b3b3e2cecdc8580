// The GEMM skeleton of the CPU-shaped kernels: a register tile of MR rows by NR columns is updated by one vector
// FMA per (row, vector) and step of the depth; the left operand gives scalars, the right one a packed panel.
// One work item is one thread: it packs panels into its own slice of a scratch buffer, which stays in its cache.
//
//   REAL, STORAGE, LOAD, STORE   the dtype (dtype_defines)
//   VEC, LANES                   float16 and 16, or double8 and 8: one AVX-512 register
//   DIRECT                       1 where STORAGE is REAL, so that whole vectors can be loaded from a tensor
//
// Measured (PoCL 3.1, 2 Zen 4 cores, n = 960, median CPU time of three alternating runs): 8x32 217 to 223 GFLOP/s,
// 12x32 219 to 227. The smaller one wastes nothing on channel counts of 32 and 64.
#include "core/common.cl"
#include "core/multiply_add.cl"
#include "ops/gemm/cpu_tile_shared.h"
#include "ops/gemm/remainder.cl"

#define MR TILE_ROWS
#define NR (TILE_VECTORS * LANES)
// TILE_CHAIN steps of the depth are summed in one chain of FMAs; chains are then added up: for the accuracy of long
// sums, and because that much of a right panel stays in the level-1 cache.

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define VLOAD PASTE(vload, LANES)
#define VSTORE store_vector

// Tiles are to stay in registers, and a call hands them over in memory.
#define INLINE __attribute__((always_inline)) inline

// Replaces vstore, which PoCL makes three stores of.
typedef VEC UnalignedVec __attribute__((aligned(sizeof(REAL))));
#define DEFINE_STORE_VECTOR(SPACE)                                                                          \
  INLINE __attribute__((overloadable)) void store_vector(const VEC v, const long at, SPACE REAL *to) {      \
    *(SPACE UnalignedVec *)(to + at * LANES) = v;                                                           \
  }
DEFINE_STORE_VECTOR(__global)
DEFINE_STORE_VECTOR(__private)

// Lanes to keep, as select() wants them: as wide as the lanes of VEC. Each lane's own number, to be compared.
#if LANES == 16
#define MASK int16
#define EACH_LANE (int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#else
#define MASK long8
#define EACH_LANE (long8)(0, 1, 2, 3, 4, 5, 6, 7)
#endif

inline REAL sum_of_lanes(const VEC v) {
  REAL lanes[LANES];
  VSTORE(v, 0, lanes);
#pragma unroll
  for (int width = LANES / 2; width > 0; width /= 2)
    for (int i = 0; i < width; ++i) lanes[i] += lanes[i + width];
  return lanes[0];
}

typedef struct {
  VEC v[MR][TILE_VECTORS];
} Tile;

INLINE Tile zero_tile() {
  Tile t;
#pragma unroll
  for (int i = 0; i < MR; ++i) t.v[i][0] = t.v[i][1] = (VEC)(0);
  return t;
}

INLINE Tile add_tiles(Tile a, const Tile b) {
#pragma unroll
  for (int i = 0; i < MR; ++i) {
    a.v[i][0] += b.v[i][0];
    a.v[i][1] += b.v[i][1];
  }
  return a;
}

// Tiles in memory, [MR][NR]; private for loops over rows that are not unrolled (tails, conversions).
#define DEFINE_TILE_MEMORY(LOAD_NAME, STORE_NAME, SPACE)        \
  INLINE Tile LOAD_NAME(const SPACE REAL *from) {               \
    Tile tile;                                                  \
    _Pragma("unroll") for (int i = 0; i < MR; ++i) {            \
      tile.v[i][0] = VLOAD(2 * i, from);                        \
      tile.v[i][1] = VLOAD(2 * i + 1, from);                    \
    }                                                           \
    return tile;                                                \
  }                                                             \
  INLINE void STORE_NAME(const Tile tile, SPACE REAL *to) {     \
    _Pragma("unroll") for (int i = 0; i < MR; ++i) {            \
      VSTORE(tile.v[i][0], 2 * i, to);                          \
      VSTORE(tile.v[i][1], 2 * i + 1, to);                      \
    }                                                           \
  }
DEFINE_TILE_MEMORY(load_tile, keep_tile, __global)
DEFINE_TILE_MEMORY(reload_tile, spill_tile, __private)

// One step of the depth: tile += LEFT(i) * right, for rows i < ROWS, or all of them.
#define TILE_STEP_OF(ROWS, tile, LEFT, right)                                  \
  {                                                                            \
    const VEC right0_ = VLOAD(0, right), right1_ = VLOAD(1, right);            \
    _Pragma("unroll") for (int i = 0; i < ROWS; ++i) {                         \
      const VEC scalar_ = (VEC)(LEFT(i));                                      \
      (tile).v[i][0] = MAD(scalar_, right0_, (tile).v[i][0]);                  \
      (tile).v[i][1] = MAD(scalar_, right1_, (tile).v[i][1]);                  \
    }                                                                          \
  }
#define TILE_STEP(tile, LEFT, right) TILE_STEP_OF(MR, tile, LEFT, right)

// The steps of the depth, four at a time: counting them one by one takes slots that FMAs could have (960 x 960 x 960
// went from about 100 to about 115 GFLOP/s). STEP(s) is the step s places on; NEXT(n) moves on by n. Written out: PoCL
// 5 warns of
// `#pragma unroll 4`, and an inner loop over (k + s) made convolutions 15 % slower.
#define ALL_STEPS(depth, STEP, NEXT)               \
  {                                                \
    int k_ = 0;                                    \
    for (; k_ + 4 <= (depth); k_ += 4, NEXT(4)) {  \
      STEP(0) STEP(1) STEP(2) STEP(3)              \
    }                                              \
    for (; k_ < (depth); ++k_, NEXT(1)) { STEP(0) } \
  }

// The product of a packed panel, left [depth][MR], and NR columns of lines that are `pitch` apart, in one chain of
// FMAs.
INLINE Tile multiply_lines(__global const REAL *restrict left, __global const REAL *restrict right, const int pitch,
                           const int depth) {
  Tile tile = zero_tile();
#define PANEL_LEFT(i) left[s * MR + (i)]
#define PANEL_STEP(at) { const int s = at; TILE_STEP(tile, PANEL_LEFT, right + s * pitch) }
#define NEXT_PANELS(n) left += n * MR, right += n * pitch
  ALL_STEPS(depth, PANEL_STEP, NEXT_PANELS)
#undef PANEL_LEFT
#undef PANEL_STEP
#undef NEXT_PANELS
  return tile;
}

// The product of two packed panels: left [depth][MR], right [depth][NR].
INLINE Tile multiply_chain(__global const REAL *restrict left, __global const REAL *restrict right, const int depth) {
  return multiply_lines(left, right, NR, depth);
}

// The product for any depth, in chains of twice the length: shorter ones only add additions to convolutions.
inline Tile multiply_panels(__global const REAL *restrict left, __global const REAL *restrict right, const int depth) {
  Tile total = zero_tile();
  for (int start = 0; start < depth; start += 2 * TILE_CHAIN)
    total = add_tiles(total, multiply_chain(left + start * MR, right + start * NR, min(2 * TILE_CHAIN, depth - start)));
  return total;
}

// Transposes a block of ROWS vectors, rows x LANES, in registers: afterwards they hold its columns one after the
// other, ROWS values each. Each stage interleaves row i with row i + ROWS / 2, which turns the bits of all places
// by one to the left.
#define DEFINE_TRANSPOSE(NAME, ROWS)                     \
  inline void NAME(VEC *r) {                             \
    _Pragma("unroll") for (int stage = 1; stage < ROWS; stage *= 2) { \
      VEC t[ROWS];                                       \
      _Pragma("unroll") for (int i = 0; i < ROWS / 2; ++i) { \
        t[2 * i].even = r[i].lo;                         \
        t[2 * i].odd = r[i + ROWS / 2].lo;               \
        t[2 * i + 1].even = r[i].hi;                     \
        t[2 * i + 1].odd = r[i + ROWS / 2].hi;           \
      }                                                  \
      _Pragma("unroll") for (int i = 0; i < ROWS; ++i) r[i] = t[i]; \
    }                                                    \
  }
DEFINE_TRANSPOSE(transpose_block, LANES)
DEFINE_TRANSPOSE(transpose_rows, MR)

// Packs columns [0, columns) of a strided matrix (element (k, n) at source[k * row + n * column]) into a panel
// [depth][NR]; missing columns are zero. Depth-contiguous matrices go through the register transpose.
inline void pack_panel(__global const STORAGE *restrict source, const long row, const long column, const int depth,
                       const int columns, __global REAL *restrict panel) {
  int k = 0;
#if DIRECT
  if (columns == NR && column == 1) {
    for (; k < depth; ++k) {
      VSTORE(VLOAD(0, source + k * row), 0, panel + k * NR);
      VSTORE(VLOAD(1, source + k * row), 1, panel + k * NR);
    }
  } else if (columns == NR && row == 1) {
    // One half after the other, so that 16 rows are read at a time and not 32: 16 x 4096 x 9216 went from about 24 to
    // about 14 ms. (Why is a guess: what the prefetchers follow, or rows that share a cache set.)
    const int whole = depth / LANES * LANES;
    for (int half_panel = 0; half_panel < 2; ++half_panel)
      for (k = 0; k < whole; k += LANES) {
        VEC block[LANES];
#pragma unroll
        for (int i = 0; i < LANES; ++i) block[i] = VLOAD(0, source + (half_panel * LANES + i) * column + k);
        transpose_block(block);
#pragma unroll
        for (int i = 0; i < LANES; ++i) VSTORE(block[i], half_panel, panel + (k + i) * NR);
      }
  }
#endif
  for (; k < depth; ++k) {
    // Not a second loop for the rest: Intel's compiler displaces its zeros by one (docs/driver-faults.md).
    VSTORE((VEC)(0), 0, panel + k * NR);
    VSTORE((VEC)(0), 1, panel + k * NR);
    for (int n = 0; n < columns; ++n) panel[k * NR + n] = LOAD(source, k * row + n * column);
  }
}

// Items share `jobs` evenly: the first job of item `index` of `items`.
inline long first_job(const long jobs, const long index, const long items) { return jobs * index / items; }
