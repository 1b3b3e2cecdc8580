#pragma once

#include "dlprim/core/shared.h"

BEGIN_SHARED

// Counters of a run; word w of its counter c serves element c + RANDOM_RUN w of the run.
enum { RANDOM_RUN = 16 };

END_SHARED
