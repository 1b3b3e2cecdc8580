#pragma once

#include "dlprim/core/shared.h"

BEGIN_SHARED

// A product of `rows` of the left operand with `columns` of the right one. Strides: from batch to batch, from
// row to row (column to column) and from step to step of the depth; left_line is 0 where the left operand is
// packed. is_transposed: c is [columns][rows]. An item has at most most_panels packed, and `slice` elements
// of scratch. goes_along_rows: its tiles follow each other so.
typedef struct {
  cl_long left_batch, left_line, right_batch, right_line, right_step, slice;
  cl_int batches, rows, columns, depth, column_blocks, row_blocks, most_panels, has_bias, is_transposed,
      goes_along_rows;
} GemmCpuSizes;

END_SHARED
