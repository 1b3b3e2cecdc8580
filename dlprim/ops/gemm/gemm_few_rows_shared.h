#pragma once

#include "dlprim/core/shared.h"

BEGIN_SHARED

// Elements of each operand that are multiplied at once: sixteen sums stay in registers.
enum { FEW_ROWS_LINES = 4 };

// Lines of two operands, `few` and `many`, whose products over the depth are results. Strides lead from batch
// to batch, from line to line and from step to step, and in the results from one of few (many) lines to the
// next. A job has `block` of the many lines.
typedef struct {
  cl_long few_batch, few_line, few_step, many_batch, many_line, many_step, c_batch, c_few, c_many, bias_few,
      bias_many;
  cl_int batches, few, many, depth, block, has_bias;
} FewRows;

END_SHARED
