#pragma once

#include "dlprim/core/shared.h"

BEGIN_SHARED

// Steps of the depth that are summed in one chain where sums are deep (accuracy).
enum { PRODUCT_CHAIN = 512 };

END_SHARED
