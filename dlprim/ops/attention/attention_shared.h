#pragma once

#include "dlprim/core/shared.h"

BEGIN_SHARED

// Scores of a part: the batch's items from first_batch on, their queries from first_query on, their first keys.
typedef struct {
  cl_long rows, first_batch, first_query;
  cl_int queries, keys;
  cl_long is_causal;  // a query sees keys up to its own number; no padding at the end (docs/known-issues.md)
} AttentionExtents;

// Elements from one item of [outer, inner, queries, keys] to the next.
typedef struct {
  cl_long outer, inner, query, key, inner_size;
} MaskStrides;

END_SHARED
