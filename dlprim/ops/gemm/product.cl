// The skeleton of products on a GPU. A work group of TILE_ITEMS work items makes a tile of TILE_ROWS x TILE_COLUMNS
// results in steps of TILE_DEPTH. While one pair of panels in local memory is multiplied, the items hold what the next
// pair will be, on its way from global memory, in registers.
//
// A kernel file says where operands are from. In a kernel of TILE_ITEMS items it declares PRODUCT_MEMORY, and expands
//   PRODUCT(steps, FETCH, PLACE)
// FETCH   statement that reads this item's share of the next panels into REAL left_next[LEFT_COUNT], right_next[RIGHT_COUNT]
// PLACE   statement that puts it where it belongs in left_panel[k * LEFT_PITCH + row], right_panel[k * RIGHT_PITCH + column],
//         elements outside as 0
// Then RESULT(i, j), for i < RESULT_ROWS, j < RESULT_COLUMNS, is the result of RESULT_ROW(i), RESULT_COLUMN(j) of the tile.
//
// The engines multiply two panels: product_registers.cl anywhere, product_tensor.cl on NVIDIA's tensor cores.
#include "core/common.cl"
#include "ops/gemm/product_shared.h"
#include "ops/gemm/remainder.cl"

#define JOIN4_(type) type##4
#define JOIN4(type) JOIN4_(type)
#define REAL4 JOIN4(REAL)

#if TF32_PRODUCTS
#include "ops/gemm/product_tensor.cl"
#else
#include "ops/gemm/product_registers.cl"
#endif

#ifndef ENGINE_MEMORY  // what an engine needs besides
#define ENGINE_MEMORY
#define BEGIN_ENGINE
#define NOTE_OPERANDS(number)
#endif

#define LEFT_PITCH (TILE_ROWS + PANEL_PADDING)
#define RIGHT_PITCH (TILE_COLUMNS + PANEL_PADDING)
// Elements of a panel that an item brings.
#define LEFT_COUNT (TILE_ROWS * TILE_DEPTH / TILE_ITEMS)
#define RIGHT_COUNT (TILE_COLUMNS * TILE_DEPTH / TILE_ITEMS)

#define PANEL_MEMORY(name, pitch) __local REAL name[2 * TILE_DEPTH * (pitch)] __attribute__((aligned(4 * sizeof(REAL))))
#define PRODUCT_MEMORY                     \
  PANEL_MEMORY(left_panels, LEFT_PITCH);   \
  PANEL_MEMORY(right_panels, RIGHT_PITCH); \
  ENGINE_MEMORY

#define PRODUCT(steps, FETCH, PLACE)                                                       \
  REAL left_next[LEFT_COUNT], right_next[RIGHT_COUNT];                                     \
  RESULTS;                                                                                 \
  BEGIN_ENGINE;                                                                            \
  for (int step = -1; step < (steps); ++step) {                                            \
    const bool more = step + 1 < (steps);                                                  \
    if (more) FETCH;                                                                       \
    if (step >= 0) {                                                                       \
      MULTIPLY(left_panels + (step & 1) * (TILE_DEPTH * LEFT_PITCH),                       \
               right_panels + (step & 1) * (TILE_DEPTH * RIGHT_PITCH));                    \
    }                                                                                      \
    if (more) {                                                                            \
      __local REAL *left_panel = left_panels + (~step & 1) * (TILE_DEPTH * LEFT_PITCH);    \
      __local REAL *right_panel = right_panels + (~step & 1) * (TILE_DEPTH * RIGHT_PITCH); \
      PLACE;                                                                               \
      NOTE_OPERANDS(step + 1);                                                             \
    }                                                                                      \
    barrier(CLK_LOCAL_MEM_FENCE);                                                          \
  }

// Two ways to share a panel out. Neighbouring items bring neighbouring lines (rows, or columns) of one k:
#define LINE_OF_ITEM(item, lines) ((item) % (lines))
#define DEPTH_OF_ELEMENT(item, i, lines) ((item) / (lines) + (i) * (TILE_ITEMS / (lines)))
// or neighbouring k of one line:
#define DEPTH_OF_ITEM(item) ((item) % TILE_DEPTH)
#define LINE_OF_ELEMENT(item, i) ((item) / TILE_DEPTH + (i) * (TILE_ITEMS / TILE_DEPTH))

// `next` into `panel` as either of them brought it.
inline void place_lines(__local REAL *panel, const int pitch, const int lines, const REAL *next, const int count) {
  const int item = get_local_id(0);
#pragma unroll
  for (int i = 0; i < count; ++i)
    panel[DEPTH_OF_ELEMENT(item, i, lines) * pitch + LINE_OF_ITEM(item, lines)] = OPERAND(next[i]);
}

inline void place_depths(__local REAL *panel, const int pitch, const REAL *next, const int count) {
  const int item = get_local_id(0);
#pragma unroll
  for (int i = 0; i < count; ++i) panel[DEPTH_OF_ITEM(item) * pitch + LINE_OF_ELEMENT(item, i)] = OPERAND(next[i]);
}
