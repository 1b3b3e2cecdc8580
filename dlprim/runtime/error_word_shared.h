#pragma once

#include "dlprim/core/shared.h"

BEGIN_SHARED

// The values that the first failing kernel leaves for the host thread that launched it.
typedef struct {
  cl_int code;  // of a check; 0: nothing failed
  cl_int unused;
  cl_long value;
} ErrorWord;

END_SHARED
