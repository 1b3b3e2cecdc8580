#pragma once

#include "dlprim/core/shared.h"

BEGIN_SHARED

// The register tile. Its rows, of which packed left operands hold whole groups; the vectors of one row; and
// the steps of the depth that are summed in one chain.
enum { TILE_ROWS = 8, TILE_VECTORS = 2, TILE_CHAIN = 256 };

END_SHARED
