#pragma once

#include "dlprim/core/shared.h"

BEGIN_SHARED

typedef struct {
  cl_long outer, inner;
  cl_long a[3], b[3], y[3];  // strides of [outer, 3, inner]
} CrossShape;

END_SHARED
