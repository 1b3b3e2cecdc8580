// The kernels of this folder, one program a dtype. Macros: STORAGE, REAL, LOAD, STORE (dtype_defines); EXACT_STORAGE: STORAGE
// holds any REAL; PLACE: int or long, of a maximum's place; HAS_DEPTH: volumes, and not planes.
#include "core/common.cl"
#include "core/vectors.cl"
#include "ops/pool/window.cl"
#include "ops/pool/avg_pool.cl"
#include "ops/pool/max_pool.cl"
