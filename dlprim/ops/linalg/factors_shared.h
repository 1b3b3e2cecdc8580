#pragma once

#include "dlprim/core/shared.h"

BEGIN_SHARED

// Rows and columns of a matrix that a launch factors or solves; the rest of the work is products of matrices.
enum { FACTOR_BLOCK = 32 };

// Where the elements of a batch of matrices stand: batch * i + row * r + column * c.
typedef struct {
  cl_long batch, row, column;
} MatrixSteps;

END_SHARED
