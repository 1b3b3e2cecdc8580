// Functions of many tensors at once. Macros: STORAGE, REAL, LOAD, STORE (dtype_defines of the tensors).
#include "core/common.cl"
#include "core/power.cl"
#include "core/vectors.cl"
#include "ops/optim/parameter_pack.cl"

inline REAL joined(int kind, REAL a, REAL b) {
  if (kind == NORM_MAX) return a > b || isnan(a) ? a : b;
  if (kind == NORM_MIN) return a < b || isnan(a) ? a : b;
  return a + b;
}
inline REAL measured(int kind, REAL p, REAL v) {
  if (kind == NORM_2) return v * v;
  if (kind == NORM_0) return v != 0 ? 1 : 0;
  return kind == NORM_P ? POWER_OF(REAL)(fabs(v), p) : fabs(v);
}
inline REAL of_nothing(int kind) {
  return kind == NORM_MIN ? (REAL)INFINITY : (REAL)0;
}

#if SHAPE_SIMT
// Every work item's value, joined; the result is valid in work item 0.
inline REAL joined_group(int kind, REAL mine, __local REAL* shared) {
  const int lid = get_local_id(0);
  shared[lid] = mine;
  for (int width = get_local_size(0) / 2; width > 0; width /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid < width) shared[lid] = joined(kind, shared[lid], shared[lid + width]);
  }
  return lid == 0 ? shared[0] : mine;
}
#endif

__kernel void multi_tensor_norm_chunks(PACK_ARGS, BUFFER(REAL, partials), const int kind, const REAL p) {
  BIND_CHUNK;
  const __global STORAGE* x = CHUNK_TENSOR(0);
  REAL result = of_nothing(kind);
#if SHAPE_CPU
  const int whole = kind <= NORM_MAX ? count & ~15 : 0;  // the others have no vector code
  REAL16 lanes = 0;
  if (kind == NORM_2 || kind == NORM_1)
    for (int block = 0; block < whole; block += 512) {  // sums of sums: a running one gathers more error
      REAL16 part = 0;
      for (int i = block; i < min(whole, block + 512); i += 16) {
        const REAL16 v = LOAD16(x, i);
        part = kind == NORM_2 ? fma(v, v, part) : part + fabs(v);
      }
      lanes += part;
    }
  else if (kind == NORM_MAX)
    for (int i = 0; i < whole; i += 16) {
      const REAL16 v = fabs(LOAD16(x, i));
      lanes = lanes > v || isnan(lanes) ? lanes : v;
    }
  REAL values[16];
  vstore16(lanes, 0, values);
  for (int width = 8; width > 0; width /= 2)
    for (int lane = 0; lane < width; ++lane) values[lane] = joined(kind, values[lane], values[lane + width]);
  if (whole > 0) result = values[0];
  for (int block = whole; block < count; block += 128) {
    REAL part = of_nothing(kind);
    for (int i = block; i < min(count, block + 128); ++i)
      part = joined(kind, part, measured(kind, p, LOAD(x, i)));
    result = joined(kind, result, part);
  }
#else
  __local REAL shared[MAX_GROUP];
  FOR_EACH_ELEMENT(i) result = joined(kind, result, measured(kind, p, LOAD(x, i)));
  result = joined_group(kind, result, shared);
#endif
  if (get_local_id(0) == 0) partials_buffer[partials_start + THIS_CHUNK] = result;
}

// The norm of what those chunks make up, in work item 0.
inline REAL norm_of_chunks(const __global REAL* partials, int count, int kind, REAL p, __local REAL* shared) {
  const int size = get_local_size(0);
  REAL result = of_nothing(kind);
  for (int block = get_local_id(0); block < count; block += 256 * size) {
    REAL part = of_nothing(kind);
    for (int i = block; i < min(count, block + 256 * size); i += size) part = joined(kind, part, partials[i]);
    result = joined(kind, result, part);
  }
#if SHAPE_SIMT
  result = joined_group(kind, result, shared);
#endif
  return kind == NORM_2 ? sqrt(result) : kind == NORM_P ? POWER_OF(REAL)(result, 1 / p) : result;
}

#if SHAPE_SIMT
#define GROUP_MEMORY __local REAL shared[MAX_GROUP]
#else
#define GROUP_MEMORY __local REAL* shared = 0
#endif

__kernel void multi_tensor_norm_join(BUFFER(const REAL, partials), const int count, const int kind,
                                     const REAL p, BUFFER(STORAGE, norm)) {
  GROUP_MEMORY;
  const REAL result = norm_of_chunks(partials_buffer + partials_start, count, kind, p, shared);
  if (get_local_id(0) == 0) STORE(norm_buffer, norm_start, result);
}

// A group for each tensor.
__kernel void multi_tensor_norms_join(BUFFER(const REAL, partials), BUFFER(const ulong, table),
                                      const ulong ranges, const int kind, const REAL p,
                                      BUFFER(STORAGE, norms)) {
  GROUP_MEMORY;
  const __global ulong* range = table_buffer + table_start + ranges + 2 * get_group_id(0);
  const REAL result =
      norm_of_chunks(partials_buffer + partials_start + range[0], (int)range[1], kind, p, shared);
  if (get_local_id(0) == 0) STORE(norms_buffer, norms_start + get_group_id(0), result);
}

inline void scale_chunk(__global STORAGE* restrict x, int count, REAL factor) {
  FOR_EACH_ELEMENT(i) STORE(x, i, LOAD(x, i) * factor);
}

__kernel void multi_tensor_scale(PACK_ARGS, const REAL factor) {
  BIND_CHUNK;
  scale_chunk(CHUNK_TENSOR(0), count, factor);
}

// Work items that find something write the same.
__kernel void multi_tensor_unscale(PACK_ARGS, const REAL factor, BUFFER(float, found_inf)) {
  BIND_CHUNK;
  __global STORAGE* x = CHUNK_TENSOR(0);
  int all_are_finite = 1;
  FOR_EACH_ELEMENT(i) {
    const REAL value = LOAD(x, i);
    all_are_finite &= isfinite(value);
    STORE(x, i, value * factor);
  }
  if (!all_are_finite) found_inf_buffer[found_inf_start] = 1;
}

__kernel void multi_tensor_clip(PACK_ARGS, BUFFER(const REAL, norm), const REAL max_norm) {
  BIND_CHUNK;
  const REAL ratio = max_norm / (norm_buffer[norm_start] + (REAL)1e-6);
  scale_chunk(CHUNK_TENSOR(0), count, ratio < 1 || isnan(ratio) ? ratio : (REAL)1);
}

inline void clamp_chunk(__global STORAGE* restrict x, int count, REAL limit) {
  FOR_EACH_ELEMENT(i) {
    const REAL value = LOAD(x, i);
    STORE(x, i, value > limit ? limit : value < -limit ? -limit : value);
  }
}

__kernel void multi_tensor_clamp(PACK_ARGS, const REAL limit) {
  BIND_CHUNK;
  clamp_chunk(CHUNK_TENSOR(0), count, limit);
}
