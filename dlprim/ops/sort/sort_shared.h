#pragma once

#include "dlprim/core/shared.h"

BEGIN_SHARED

enum { CPU_DIGIT_BITS = 8, SIMT_DIGIT_BITS = 4 };  // of a key that a pass sorts by, in each kernel shape

END_SHARED
