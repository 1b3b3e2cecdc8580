#pragma once

#include "dlprim/core/shared.h"

BEGIN_SHARED

// Rows of the step, and rows that the next one has: forward they go on there, backward they come from there.
// Then the units, and elements from one row of `out` (forward) or `dy` (backward) to the next, and in a row
// of `carry`.
typedef struct {
  cl_int rows, next_rows, units, out_row, carry_row;
} RnnStepSizes;

// The work of a step beside its product, and the source of its product. They are macros since kernels choose
// by them what to compile.
#define CELL_TANH 0
#define CELL_RELU 1
#define CELL_LSTM 2
#define CELL_GRU 3
#define CELL_COPY 4

#define PRODUCT_GIVEN 0
#define PRODUCT_TILES 1
#define PRODUCT_THIN 2

// Shape cpu: neighbouring units that are worked on together.
enum { CELL_VECTOR = 16 };

// PRODUCT_THIN: rows and columns of the products that a work group makes, and the work items of that group.
enum { THIN_TILE_ROWS = 32, THIN_TILE_COLUMNS = 16, THIN_ITEMS = 256 };

END_SHARED
