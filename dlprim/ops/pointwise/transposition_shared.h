#pragma once

#include "dlprim/core/shared.h"

BEGIN_SHARED

enum { OTHER_DIMENSIONS = MAX_RANK - 2 };
// A copy between tensors of which each lies along a dimension of its own: neighbours `along` follow each
// other in the destination, neighbours `across` in the source. The innermost of the other dimensions is the
// first.
typedef struct {
  cl_long source_stride, destination_stride;   // of the source along, of the destination across
  cl_int along, across;                        // elements
  cl_int blocks_along, blocks_across, blocks;  // those of a plane, and of all planes
  cl_int size[OTHER_DIMENSIONS];
  cl_long source_strides[OTHER_DIMENSIONS], destination_strides[OTHER_DIMENSIONS];
} Transposition;
// Elements along and across without which nothing is gained, and on a CPU of a block, of which the last of a
// plane has up to twice as many.
enum { LEAST_TRANSPOSED = 16, TRANSPOSED_CPU_BLOCK = 64 };
// Work items of a group of shape simt.
enum { TRANSPOSED_ITEMS = 256 };

END_SHARED
