#pragma once

#include "dlprim/core/shared.h"

BEGIN_SHARED

// How a kernel reaches the tensors of many parameters. Counts: tensors of one parameter (itself, its
// gradient, up to three states and the number of its step), and buffers of one launch. A place has its
// buffer's number in the bits from BUFFER_NUMBER_SHIFT on, and its first element below.
enum { PACK_TENSORS = 6, PACK_BUFFERS = 16, BUFFER_NUMBER_SHIFT = 56 };
// A row of the table, in ulongs: the places of those tensors, and the number of elements.
// Behind the rows, two for each parameter: its first chunk, and how many it has.
enum { PACK_ROW = PACK_TENSORS + 1 };

// Numbers that an optimizer step reads, in the order in which its kernel names them.
enum { MAX_COEFFICIENTS = 12 };
REAL_STRUCT(Coefficients) {
  REAL of[MAX_COEFFICIENTS];
};

// Kinds of norm: what is summed (or of what the maximum is taken), and how the result follows.
enum { NORM_1, NORM_2, NORM_MAX, NORM_MIN, NORM_0, NORM_P };

END_SHARED
