// The kernels of this folder, one program a dtype. Macros: STORAGE, REAL, LOAD, STORE (dtype_defines).
#include "core/common.cl"
#include "ops/resample/resample_shared.h"
#include "ops/resample/rows.cl"
#include "ops/resample/interpolate.cl"
#if SHAPE_CPU
#include "ops/resample/interpolate_cpu.cl"
#endif
#include "ops/resample/pad.cl"
#include "ops/resample/unfold.cl"
