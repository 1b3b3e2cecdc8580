#pragma once

#include "dlprim/core/shared.h"

BEGIN_SHARED

// Partial products [batch][part][results] of `count` results in all, which lie [batch…][channels][plane] as a
// bias counts them.
typedef struct {
  cl_int count, results, parts, channels, plane, has_bias;
} ProductJoin;

END_SHARED
