// The GEMM skeleton of the GPU-shaped kernels. A work group of 16 x 16 items makes a square tile of results, 4 x 4 an
// item, in steps of STEP through local memory.
//
// A kernel file defines its operands and then expands SIMT_PRODUCT inside a kernel of SIMT_TILE_ITEMS work items a group:
//   LEFT(row, k)      element of the left operand, 0 outside
//   RIGHT(k, column)  element of the right operand, 0 outside
// Depth runs over [k_begin, k_end). The results are left in REAL result[4][4]; RESULT_ROW(i), RESULT_COLUMN(j) say
// where they belong.
#include "core/common.cl"
#include "ops/gemm/remainder.cl"
#include "ops/gemm/simt_tile_shared.h"

#define STEP 16
// Row stride of a local panel: one spare column keeps the transposing stores off one memory bank.
#define PITCH (SIMT_TILE + 1)

#define RESULT_ROW(i) (block_row + (item / 16) * 4 + (i))
#define RESULT_COLUMN(j) (block_column + (item % 16) + 16 * (j))

// Panels are filled so that neighbouring items read neighbouring k (left) and neighbouring columns (right).
#define SIMT_PRODUCT(LEFT, RIGHT, k_begin, k_end)                                                        \
  const int item = get_local_id(0);                                                                      \
  const int block_row = get_group_id(1) * SIMT_TILE, block_column = get_group_id(0) * SIMT_TILE;         \
  REAL result[4][4] = {{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}};                          \
  for (int k0 = (k_begin); k0 < (k_end); k0 += CHAIN) {                                                  \
    REAL chain[4][4] = {{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}};                         \
    const int chain_end = min(k0 + CHAIN, (int)(k_end));                                                 \
    for (int k1 = k0; k1 < chain_end; k1 += STEP) {                                                      \
      for (int e = item; e < SIMT_TILE * STEP; e += SIMT_TILE_ITEMS) {                                   \
        const int lk = k1 + e % STEP, lm = block_row + e / STEP;                                         \
        left_panel[(e % STEP) * PITCH + e / STEP] = lk < chain_end ? LEFT(lm, lk) : (REAL)0;             \
        const int rk = k1 + e / SIMT_TILE, rn = block_column + e % SIMT_TILE;                            \
        right_panel[(e / SIMT_TILE) * PITCH + e % SIMT_TILE] = rk < chain_end ? RIGHT(rk, rn) : (REAL)0; \
      }                                                                                                  \
      barrier(CLK_LOCAL_MEM_FENCE);                                                                      \
      for (int k = 0; k < STEP; ++k) {                                                                   \
        REAL l[4], r[4];                                                                                 \
        for (int i = 0; i < 4; ++i) l[i] = left_panel[k * PITCH + (item / 16) * 4 + i];                  \
        for (int j = 0; j < 4; ++j) r[j] = right_panel[k * PITCH + item % 16 + 16 * j];                  \
        for (int i = 0; i < 4; ++i)                                                                      \
          for (int j = 0; j < 4; ++j) chain[i][j] = mad(l[i], r[j], chain[i][j]);                        \
      }                                                                                                  \
      barrier(CLK_LOCAL_MEM_FENCE);                                                                      \
    }                                                                                                    \
    for (int i = 0; i < 4; ++i)                                                                          \
      for (int j = 0; j < 4; ++j) result[i][j] += chain[i][j];                                           \
  }

// Steps of the depth summed in one chain (accuracy of long sums); a multiple of STEP.
#define CHAIN 512
