// An evenly spaced sequence. Macros: STORAGE, REAL, STORE (dtype_defines of the result), FLOATING.
#include "core/common.cl"

#pragma OPENCL FP_CONTRACT OFF  // the rounding errors below are what is computed

#if FLOATING

// start + i * step; both are given as the nearest REAL and what that leaves.
inline REAL element(ulong i, REAL start, REAL start_rest, REAL step, REAL step_rest) {
  if (i == 0) return start + start_rest;  // of an infinite step too
  const REAL n = (REAL)i, n_rest = (REAL)((long)i - (long)n);
  const REAL way = n * step;
  REAL error = fma(n, step, -way) + (n * step_rest + n_rest * step + start_rest);
  const REAL sum = start + way, moved = sum - start;
  error += (start - (sum - moved)) + (way - moved);
  return sum + error;
}
#define NUMBERS const REAL start, const REAL start_rest, const REAL step, const REAL step_rest
#define ELEMENT(i) element(i, start, start_rest, step, step_rest)

#else

#define NUMBERS const long start, const long step
#define ELEMENT(i) (start + (long)(i) * step)

#endif

// CPU: a work item walks a share of the elements. SIMT: one element a work item.
__kernel void arange(BUFFER(STORAGE, out), const ulong numel, NUMBERS) {
  BIND(STORAGE, out);
#if SHAPE_CPU
  const ulong end = numel * (get_global_id(0) + 1) / get_global_size(0);
  for (ulong i = numel * get_global_id(0) / get_global_size(0); i < end; ++i) STORE(out, i, ELEMENT(i));
#else
  const ulong i = get_global_id(0);
  if (i < numel) STORE(out, i, ELEMENT(i));
#endif
}
