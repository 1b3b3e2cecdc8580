#pragma once

#include "dlprim/core/shared.h"

BEGIN_SHARED

typedef struct {
  cl_long rows;
  cl_int queries, keys;
  cl_long is_causal;  // a query sees keys up to its own number; no padding at the end (docs/known-issues.md)
} AttentionExtents;

// Elements from one item of [outer, inner, queries, keys] to the next.
typedef struct {
  cl_long outer, inner, query, key, inner_size;
} MaskStrides;

END_SHARED
