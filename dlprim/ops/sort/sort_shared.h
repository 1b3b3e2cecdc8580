#pragma once

#include "dlprim/core/shared.h"

BEGIN_SHARED

enum { CPU_DIGIT_BITS = 8, SIMT_DIGIT_BITS = 4 };  // of a key that a pass sorts by, in each kernel shape
enum { CPU_MOST_FIRST = 32 };  // of a row's first elements, up to which shape cpu looks for them alone

END_SHARED
