#pragma once

#include "dlprim/core/shared.h"

BEGIN_SHARED

enum { DIGIT_BITS = 8 };       // of a key that a pass sorts by
enum { SIMT_STRETCH = 8 };     // pairs of a block for each item of its work group
enum { CPU_MOST_FIRST = 32 };  // of a row's first elements, up to which shape cpu looks for them alone

END_SHARED
