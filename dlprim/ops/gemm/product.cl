// The skeleton of products on a GPU. A work group of TILE_ITEMS work items makes a tile of TILE_ROWS x TILE_COLUMNS
// results in steps of TILE_DEPTH through panels of the operands in local memory. The next panels are under way while
// one pair is multiplied.
//
// Before it includes this file a kernel file says whether its left and right operand lie along the depth
// (LEFT_BY_DEPTH, RIGHT_BY_DEPTH), whether the left one is brought in aligned vectors (LEFT_BY_VECTORS), and for tensor
// cores whether both are rounded already and lie along the depth, or the left one in vectors as it is brought
// (BOTH_ARE_ROUNDED), or are brought by tensor maps (TENSOR_MAPS; with two NUMBERS_IN_WORD each may lie across the
// depth as well: LEFT_ACROSS, RIGHT_ACROSS). In a kernel of TILE_ITEMS items it declares PRODUCT_MEMORY, and expands
//   PRODUCT(steps, FETCH)
// FETCH   statement that brings this item's share of the panels of `next_step`: BRING_LEFT(i, inside, pointer) for i in
// 0 …
//         LEFT_COUNT - 1 (or BRING_VECTOR, for i below VECTOR_COUNT) and BRING_RIGHT likewise, with `left_to` and
//         `right_to` of types LEFT_PANEL and RIGHT_PANEL in scope. With TENSOR_MAPS item 0 alone runs it:
//         bring_box(left_to, …, has_arrived) and the same to right_to, TILE_ROWS and TILE_COLUMNS lines of TILE_DEPTH,
//         or bring_lines
// and then
//   STORE_RESULTS(STATEMENT)
// whose statement stores `value`, the result of `row` of the tile and this item's column, LINE_OF_ITEM(item,
// TILE_COLUMNS); or
//   STORE_NEIGHBOURS(count, STATEMENT)
// whose statement stores `values`, so many from this item's column on, count * LINE_OF_ITEM(item, TILE_COLUMNS /
// count).
//
// The engines multiply two panels: product_registers.cl anywhere, product_tensor.cl on NVIDIA's tensor cores,
// product_warpgroup.cl on Hopper's.
#include "core/common.cl"
#include "core/vectors4.cl"
#include "ops/gemm/remainder.cl"

#define REAL2 JOIN(REAL, 2)
#define UNROLL _Pragma("unroll")

// ---- who brings what

// Elements of a panel that an item brings, and vectors of a line of the left one.
#define LEFT_COUNT (TILE_ROWS * TILE_DEPTH / TILE_ITEMS)
#define VECTOR_COUNT (LEFT_PARTS * LEFT_COUNT / 4)
#define RIGHT_COUNT (TILE_COLUMNS * TILE_DEPTH / TILE_ITEMS)

// Neighbouring items bring neighbouring lines (rows, columns, vectors of rows) of one k:
#define LINE_OF_ITEM(item, lines) ((item) % (lines))
// or neighbouring k of one line. They may bring aligned pieces of LEFT_WIDTH or RIGHT_WIDTH elements, 1 or 4, that lie
// side by side in global memory. An item's i-th piece of an operand that lies along the depth begins at
#ifndef LEFT_WIDTH
#define LEFT_WIDTH 1
#endif
#ifndef RIGHT_WIDTH
#define RIGHT_WIDTH 1
#endif
#define LEFT_PIECES (LEFT_COUNT / LEFT_WIDTH)
#define RIGHT_PIECES (RIGHT_COUNT / RIGHT_WIDTH)
#define LINES_APART(width) (TILE_ITEMS / (TILE_DEPTH / (width)))
#define PIECE_DEPTH_OF_ITEM(item, width) ((item) % (TILE_DEPTH / (width)) * (width))
#define LINE_OF_PIECE(item, i, width) ((item) / (TILE_DEPTH / (width)) + (i) * LINES_APART(width))
// and of one that lies along its lines at the following:
#define DEPTHS_APART(lines, width) (TILE_ITEMS / ((lines) / (width)))
#define LINE_ACROSS(item, lines, width) ((item) % ((lines) / (width)) * (width))
#define DEPTH_ACROSS(item, i, lines, width) ((item) / ((lines) / (width)) + (i) * DEPTHS_APART(lines, width))
// Where a panel has k side by side that global memory has not, each item brings the k of one row that follow each
// other, with a LEFT_WIDTH of 1.
#define LEFT_IN_ROWS (WARP_GROUPS && !LEFT_BY_DEPTH && !LEFT_BY_VECTORS)

#define LINE_OF(by_depth, item, i, lines, width) \
  ((by_depth) ? LINE_OF_PIECE(item, i, width) : LINE_ACROSS(item, lines, width))
#define DEPTH_OF(by_depth, item, i, lines, width) \
  ((by_depth) ? PIECE_DEPTH_OF_ITEM(item, width) : DEPTH_ACROSS(item, i, lines, width))
#define LEFT_ROW(item, i) LINE_OF(LEFT_BY_DEPTH, item, i, TILE_ROWS, LEFT_WIDTH)
#define LEFT_DEPTH(item, i) \
  (LEFT_IN_ROWS ? (item) / TILE_ROWS * LEFT_COUNT + (i) : DEPTH_OF(LEFT_BY_DEPTH, item, i, TILE_ROWS, LEFT_WIDTH))
#define LEFT_DEPTHS_APART (LEFT_IN_ROWS ? 1 : DEPTHS_APART(TILE_ROWS, LEFT_WIDTH))
#define RIGHT_COLUMN(item, i) LINE_OF(RIGHT_BY_DEPTH, item, i, TILE_COLUMNS, RIGHT_WIDTH)
#define RIGHT_DEPTH(item, i) DEPTH_OF(RIGHT_BY_DEPTH, item, i, TILE_COLUMNS, RIGHT_WIDTH)

// Where in a panel an item's piece goes, and how far apart its elements lie there.
inline int left_place(const int i);
inline int right_place(const int i);
inline void place_piece(__local REAL *to, const REAL *values, const int width, const int step) {
  if (width == 4 && step == 1) {
    *(__local REAL4 *)to = vload4(0, values);
    return;
  }
  to[0] = values[0];
  if (width == 4)
    UNROLL for (int e = 1; e < 4; ++e) to[e * step] = values[e];
}

#ifndef TENSOR_MAPS
#define TENSOR_MAPS 0
#endif
#ifndef BOTH_ARE_ROUNDED
#define BOTH_ARE_ROUNDED TENSOR_MAPS
#endif
// The source of operands: words of panels, or elements of tensors.
#if BOTH_ARE_ROUNDED
#define BROUGHT REAL
#else
#define BROUGHT STORAGE
#endif
#ifndef LEFT_ACROSS
#define LEFT_ACROSS 0
#define RIGHT_ACROSS 0
#endif
#if TENSOR_MAPS
#include "ops/gemm/product_panels.cl"
#else
#define ARRIVALS
#endif
#if TF32_PRODUCTS
#include "ops/gemm/product_copies.cl"
#endif
#if WARP_GROUPS
#include "ops/gemm/product_warpgroup.cl"
#elif TF32_PRODUCTS
#include "ops/gemm/product_tensor.cl"
#else
#include "ops/gemm/product_registers.cl"
#endif

#if !WARP_GROUPS
#define LEFT_PARTS 1
#define LEFT_PLACE(row, k) ((k) * LEFT_K + (row) * LEFT_LINE)
#define RIGHT_PLACE(column, k) ((k) * RIGHT_K + (column) * RIGHT_LINE)
#define LEFT_STEP (LEFT_BY_DEPTH ? LEFT_K : LEFT_LINE)
#define RIGHT_STEP (RIGHT_BY_DEPTH ? RIGHT_K : RIGHT_LINE)
#endif

inline int left_place(const int i) {
  const int item = get_local_id(0);
  if (!LEFT_BY_VECTORS) return LEFT_PLACE(LEFT_ROW(item, i), LEFT_DEPTH(item, i));
  if (WARP_GROUPS) return 4 * (item + i * TILE_ITEMS);  // as it is packed
  if (LEFT_BY_DEPTH) return LEFT_PLACE(LINE_OF_PIECE(item, i, 4), PIECE_DEPTH_OF_ITEM(item, 4));
  return LEFT_PLACE(LINE_ACROSS(item, TILE_ROWS, 4), DEPTH_ACROSS(item, i, TILE_ROWS, 4));
}

inline int right_place(const int i) {
  const int item = get_local_id(0);
  return RIGHT_PLACE(RIGHT_COLUMN(item, i), RIGHT_DEPTH(item, i));
}

// Operands that go through registers. An item keeps its pieces one after the other.
#define BRING_PIECE(width, to, i, inside, pointer)                                                \
  {                                                                                               \
    if ((width) > 1)                                                                              \
      vstore4((inside) ? LOAD4(pointer, 0) : (REAL4)0, 0, (to) + (width) * (i));                  \
    else                                                                                          \
      (to)[i] = (inside) ? LOAD(pointer, 0) : (REAL)0;                                            \
  }

// ---- the steps

#ifndef PANEL_ALIGNMENT
#define PANEL_ALIGNMENT (4 * sizeof(REAL))
#endif
#define PANEL_MEMORY(name, size) __local REAL name[TILE_STAGES * (size)] __attribute__((aligned(PANEL_ALIGNMENT)))
#define PRODUCT_MEMORY                    \
  PANEL_MEMORY(left_panels, LEFT_SIZE);   \
  PANEL_MEMORY(right_panels, RIGHT_SIZE); \
  ARRIVALS;                               \
  ENGINE_MEMORY

#if ASYNCHRONOUS_COPIES || WARP_GROUPS

#define LEFT_OF_STEP(step) (left_panels + (step) % TILE_STAGES * LEFT_SIZE)
#define RIGHT_OF_STEP(step) (right_panels + (step) % TILE_STAGES * RIGHT_SIZE)

// Elements go from global to local memory by themselves, TILE_STAGES - 1 panels ahead; those of a left operand that the
// engine rounds, through registers, which hold them for a step.
#define RIGHT_PANEL __local REAL *
#define BRING_RIGHT(i, inside, pointer) copy_piece(RIGHT_WIDTH, right_to + right_place(i), pointer, inside)
#if WARP_GROUPS && !LEFT_BY_VECTORS && !BOTH_ARE_ROUNDED
#define LEFT_PANEL REAL *
#define LEFT_REGISTERS REAL left_to[LEFT_COUNT]
#define LEFT_TO(step)
#define BRING_LEFT(i, inside, pointer) BRING_PIECE(LEFT_WIDTH, left_to, i, inside, pointer)
#define PLACE_LEFT(step)                                    \
  UNROLL for (int i = 0; i < LEFT_COUNT; i += PLACED_WIDTH) \
      place_parts(LEFT_OF_STEP(step) + left_place(i / LEFT_WIDTH), left_to + i)
#else
#define LEFT_PANEL __local REAL *
#define LEFT_REGISTERS
#define LEFT_TO(step) LEFT_PANEL left_to = LEFT_OF_STEP(step)
#define BRING_LEFT(i, inside, pointer) copy_piece(LEFT_WIDTH, left_to + left_place(i), pointer, inside)
#define BRING_VECTOR(i, pointer) copy_vector(left_to + left_place(i), pointer)
#define PLACE_LEFT(step)
#endif

#if !TENSOR_MAPS  // else as product_panels.cl says
#define BEGIN_COPIES
#define IS_BRINGER true
#define EXPECT_PANELS(step)
#define CLOSE_COPIES close_copies()
#define AWAIT_COPIES(step) await_copies()
#define MULTIPLY_STEP(step, steps, FETCH)                   \
  SHOW_PANELS(step);                                        \
  BEGIN_MULTIPLY(LEFT_OF_STEP(step), RIGHT_OF_STEP(step));  \
  ADVANCE((step) + TILE_STAGES - 1, steps, FETCH);          \
  END_MULTIPLY
#define LAST_MULTIPLY
#endif

#define FETCH_STEP(number, FETCH)                     \
  {                                                   \
    const int next_step = (number);                   \
    LEFT_TO(next_step);                               \
    RIGHT_PANEL right_to = RIGHT_OF_STEP(next_step);  \
    EXPECT_PANELS(next_step);                         \
    FETCH;                                            \
  }

// The numbers in registers are placed before those of the next step arrive there.
#define ADVANCE(next, steps, FETCH)                          \
  if ((next) > 0 && (next) - 1 < (steps)) PLACE_LEFT((next) - 1); \
  if ((next) < (steps) && IS_BRINGER) FETCH_STEP(next, FETCH); \
  CLOSE_COPIES

#define PRODUCT(steps, FETCH)                                                                    \
  LEFT_REGISTERS;                                                                                \
  RESULTS;                                                                                       \
  BEGIN_COPIES;                                                                                  \
  for (int stage = 0; stage < TILE_STAGES - 1; ++stage) { ADVANCE(stage, steps, FETCH); }        \
  for (int step = 0; step < (steps); ++step) {                                                   \
    AWAIT_COPIES(step);                                                                          \
    MULTIPLY_STEP(step, steps, FETCH);                                                           \
  }                                                                                              \
  LAST_MULTIPLY;                                                                                 \
  barrier(CLK_LOCAL_MEM_FENCE);

#else

// Elements wait in registers while the panels before theirs are multiplied.
#define LEFT_PANEL REAL *
#define RIGHT_PANEL REAL *
#define BRING_LEFT(i, inside, pointer) BRING_PIECE(LEFT_WIDTH, left_to, i, inside, pointer)
#define BRING_RIGHT(i, inside, pointer) BRING_PIECE(RIGHT_WIDTH, right_to, i, inside, pointer)
#define BRING_VECTOR(i, pointer) vstore4(*(__global const REAL4 *)(pointer), i, left_to)

inline void place_left(__local REAL *panel, const REAL *next) {
#if LEFT_BY_VECTORS
  UNROLL for (int i = 0; i < LEFT_COUNT / 4; ++i) place_piece(panel + left_place(i), next + 4 * i, 4, 1);
#else
  UNROLL for (int i = 0; i < LEFT_PIECES; ++i)
      place_piece(panel + left_place(i), next + i * LEFT_WIDTH, LEFT_WIDTH, LEFT_STEP);
#endif
}

inline void place_right(__local REAL *panel, const REAL *next) {
  UNROLL for (int i = 0; i < RIGHT_PIECES; ++i)
    place_piece(panel + right_place(i), next + i * RIGHT_WIDTH, RIGHT_WIDTH, RIGHT_STEP);
}

#define PRODUCT(steps, FETCH)                                                               \
  REAL left_to[LEFT_COUNT], right_to[RIGHT_COUNT];                                          \
  RESULTS;                                                                                  \
  BEGIN_ENGINE;                                                                             \
  for (int step = -1; step < (steps); ++step) {                                             \
    const int next_step = step + 1;                                                         \
    const bool more = next_step < (steps);                                                  \
    if (more) FETCH;                                                                        \
    if (step >= 0) {                                                                        \
      MULTIPLY(left_panels + (step & 1) * LEFT_SIZE, right_panels + (step & 1) * RIGHT_SIZE); \
    }                                                                                       \
    if (more) {                                                                             \
      place_left(left_panels + (next_step & 1) * LEFT_SIZE, left_to);                       \
      place_right(right_panels + (next_step & 1) * RIGHT_SIZE, right_to);                   \
      NOTE_OPERANDS(next_step);                                                             \
    }                                                                                       \
    barrier(CLK_LOCAL_MEM_FENCE);                                                           \
  }

#endif

// Results leave through local memory, some rows of every item's at a time: neighbouring items store neighbouring
// columns.
inline void take_neighbours(const int count, __local const REAL *from, REAL *values) {
  if (count == 2)
    vstore2(*(__local const REAL2 *)from, 0, values);
  else
    values[0] = *from;
}
#define STORE_NEIGHBOURS(count, STATEMENT)                                                                \
  UNROLL for (int i = 0; i < RESULT_ROWS; ++i) {                                                          \
    WRITE_LINE(RESULT_MEMORY, i);                                                                         \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                         \
    for (int line = item / (TILE_COLUMNS / (count)); line < RESULT_LINES;                                 \
         line += TILE_ITEMS / (TILE_COLUMNS / (count))) {                                                 \
      const int row = ROW_OF_LINE(i, line);                                                               \
      REAL values[count];                                                                                 \
      __local REAL *result_line = RESULT_MEMORY + line * RESULT_PITCH;                                    \
      take_neighbours(count, result_line + (count) * LINE_OF_ITEM(item, TILE_COLUMNS / (count)), values); \
      STATEMENT;                                                                                          \
    }                                                                                                     \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                         \
  }
#define STORE_RESULTS(STATEMENT)                                                                                \
  STORE_NEIGHBOURS(1, {                                                                                         \
    REAL value = values[0];                                                                                     \
    STATEMENT;                                                                                                  \
  })
