#pragma once

#include "dlprim/core/shared.h"

BEGIN_SHARED

enum { CPU_SCAN_COLUMNS = 16 };   // neighbours that a work item of shape cpu follows together
enum { CPU_SCAN_ROWS = 4 };       // rows whose extremes it follows together
enum { SIMT_SCAN_COLUMNS = 16 };  // neighbours that a work group of shape simt follows together

END_SHARED
