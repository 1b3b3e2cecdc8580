#pragma once

#include "dlprim/core/shared.h"

BEGIN_SHARED

// Rows and columns of the tile of results that a work group makes, and the work items of that group.
enum { SIMT_TILE = 64, SIMT_TILE_ITEMS = 256 };

END_SHARED
