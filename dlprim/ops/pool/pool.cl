// The kernels of this folder, one program a dtype. Macros: STORAGE, REAL, LOAD, STORE (dtype_defines); EXACT_STORAGE:
// STORAGE holds any REAL; LEAST: its least value; WHOLE: whole numbers, which go window by window; PLACE: int or long,
// of a maximum's place; HAS_DEPTH: volumes, and not planes.
#include "core/common.cl"
#if WHOLE
#define IS_NAN(value) 0
#else
#define IS_NAN(value) ((value) != (value))
#include "core/vectors.cl"
#if SHAPE_SIMT
#include "core/vectors4.cl"
#endif
#endif
#include "ops/pool/window.cl"
#include "ops/pool/avg_pool.cl"
#include "ops/pool/max_pool.cl"
