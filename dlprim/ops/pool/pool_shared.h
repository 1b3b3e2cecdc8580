#pragma once

#include "dlprim/core/shared.h"

BEGIN_SHARED

// Windows over planes or volumes; axis 0 is the height, 1 the width, 2 the depth, of which a plane has one
// position.
enum { POOL_DEPTH = 2 };

typedef struct {
  cl_int size[3], out[3];
  cl_int kernel_size[3], stride[3], padding[3], dilation[3];
  cl_int adaptive;  // windows are spread evenly over the input; the line above does not matter
} PoolWindow;

typedef struct {
  cl_long count_include_pad, of_all;  // what all windows are divided by; 0: each by its own elements
} PoolDivisor;

END_SHARED
