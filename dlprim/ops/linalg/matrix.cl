// Batches of matrices: element (r, c) of matrix i stands at AT(steps, i, r, c). Include it after core/common.cl.
#include "ops/linalg/factors_shared.h"
#include "ops/sort/work.cl"

#define AT(steps, i, r, c) ((steps).batch * (i) + (steps).row * (r) + (steps).column * (c))
