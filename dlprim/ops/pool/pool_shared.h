#pragma once

#include "dlprim/core/shared.h"

BEGIN_SHARED

// Windows over a plane; axis 0 is the height.
typedef struct {
  cl_int size[2], out[2];
  cl_int kernel_size[2], stride[2], padding[2], dilation[2];
  cl_int adaptive;  // windows are spread evenly over the input; the line above does not matter
} PoolWindow;

typedef struct {
  cl_long count_include_pad, of_all;  // what all windows are divided by; 0: each by its own elements
} PoolDivisor;

END_SHARED
