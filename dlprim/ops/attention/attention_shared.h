#pragma once

#include "dlprim/core/shared.h"

BEGIN_SHARED

// Scores of a part: the batch's items from first_batch on, their queries from first_query on, their first
// keys.
typedef struct {
  cl_long rows, first_batch, first_query;
  cl_int queries, keys;
  cl_long is_causal;  // a query sees keys up to its own number; no padding at the end (docs/driver-faults.md)
} AttentionExtents;

// Elements from one item of [outer, inner, queries, keys] to the next.
typedef struct {
  cl_long outer, inner, query, key, inner_size;
} MaskStrides;

// Elements from one to the next of an operand [batch, rows, columns].
typedef struct {
  cl_long item, row, column;
} OperandStrides;

// Arguments of kernels that keep their scores; results are contiguous.
typedef struct {
  OperandStrides query, key, value;
  MaskStrides mask;
  cl_long threshold;  // of dropout (random.h); 0: none
  cl_int queries, keys, columns, value_columns;
  cl_int is_causal, blocks;  // work groups of an item of the batch
} FlashExtents;

// Queries and keys of a block of the portable kernels, their work items, and columns whose results an item
// has four of. FLASH_TENSOR_ITEMS: of a group on tensor cores, with a block of FLASH_TILE too.
enum { FLASH_TILE = 64, FLASH_ITEMS = 256, FLASH_COLUMNS = 64, FLASH_TENSOR_ITEMS = 128 };

END_SHARED
