#pragma once

#include "dlprim/core/shared.h"

BEGIN_SHARED

// Counters of a run; word w of its counter c serves element c + RANDOM_RUN w of the run.
enum { RANDOM_RUN = 16 };

// Rows […, inner_rows] of neighbouring elements of dropout. Each has `length` elements and meets at most
// `runs` runs. Its first element is number first + i outer + j inner of all that numbers are drawn for.
typedef struct {
  cl_long rows, inner_rows, length, first, outer, inner, runs;
} DropoutRows;

END_SHARED
