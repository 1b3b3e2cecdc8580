#pragma once

#include "dlprim/core/shared.h"

BEGIN_SHARED

// Partial products [batch][part][results] of `count` results in all, which lie [batch…][channels][plane] as a
// bias counts them.
typedef struct {
  cl_int count, results, parts, channels, plane, has_bias;
} ProductJoin;

// Work items of a group.
enum { PRODUCT_JOIN_ITEMS = 128 };

END_SHARED
