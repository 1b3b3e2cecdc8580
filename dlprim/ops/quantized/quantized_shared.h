#pragma once

#include "dlprim/core/shared.h"

BEGIN_SHARED

// Neighbours along `in` whose four-bit weights lie in bytes of their own, and of these the lower half is in
// the low bits (quantized_linear.h).
enum { QUANTIZED_BLOCK = 32 };

// A stored weight [out, in]; of four bits 1 << `group_shift` neighbours along `in` share a scale and a zero,
// `groups` of which a line has.
typedef struct {
  cl_int out, in, group_shift, groups;
} QuantizedShape;

// The part of a weight that becomes numbers: `lines` from `first_line` on, of each `columns` from
// `first_column` on, both of which are whole blocks.
typedef struct {
  cl_int first_line, lines, first_column, columns;
} QuantizedPart;

END_SHARED
