#pragma once

#include "dlprim/core/shared.h"

BEGIN_SHARED

// How an operand of a product is packed. In the source `plane_stride` leads from plane to plane and
// `line_stride` from line to line. There are `lines` lines; a line has size_h rows of size_w elements, or
// pixels, from (first_h, first_w) on at steps.
typedef struct {
  cl_long plane_stride, line_stride;
  cl_int lines, padded_lines;  // the latter a multiple of what a vector of words holds
  cl_int source_h, source_w, first_h, first_w, step_h, step_w, size_h, size_w;
} OperandPack;
// How an operand of matrices whose lines lie along the depth is rounded.
typedef struct {
  cl_long matrix_stride, line_stride;
  cl_int matrices, lines, depth, padded_depth;  // the latter as padded_lines
} OperandRound;
// A group's work items, and elements.
enum { OPERAND_PACK_ITEMS = 256, OPERAND_PACK_ELEMENTS = 2048 };

END_SHARED
