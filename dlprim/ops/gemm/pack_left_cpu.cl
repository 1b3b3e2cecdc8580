// Packs the left operand of a product into panels of MR rows; rows beyond the last are zero.
#include "ops/gemm/cpu_tile.cl"

// Packs `depth` steps of the first `present` of MR rows to [depth][MR].
inline void pack_rows(__global const STORAGE *restrict source, const int present, const int depth, const long row,
                      const long step, __global REAL *restrict to) {
  int k = 0;
#if DIRECT
  if (present == MR && step == 1)
    for (; k + LANES <= depth; k += LANES) {
      VEC block[MR];
#pragma unroll
      for (int i = 0; i < MR; ++i) block[i] = VLOAD(0, source + i * row + k);
      transpose_rows(block);
#pragma unroll
      for (int i = 0; i < MR; ++i) VSTORE(block[i], i, to + k * MR);
    }
  else if (present == MR && row == 1)
    for (; k < depth; ++k) vstore8(vload8(0, source + k * step), k, to);
#endif
  if (present == MR)  // apart from the rest: twice as fast, and a convolution's weights come here
    for (; k < depth; ++k) {
      __global const STORAGE *column = source + k * step;
      __global REAL *packed = to + k * MR;
#pragma unroll
      for (int i = 0; i < MR; ++i) packed[i] = LOAD(column, i * row);
    }
  for (; k < depth; ++k)
    for (int i = 0; i < MR; ++i) to[k * MR + i] = i < present ? LOAD(source, k * step + i * row) : (REAL)0;
}

// A matrix, to [batch][chain][panel][steps of the chain][MR].
__attribute__((reqd_work_group_size(1, 1, 1)))
__kernel void pack_matrix(BUFFER(const STORAGE, source), BUFFER(REAL, panels), const int rows, const int depth,
                          const long batch_stride, const long row, const long step) {
  BIND(const STORAGE, source);
  BIND(REAL, panels);
  const int panel = get_group_id(0), batch = get_group_id(1), present = min(MR, rows - panel * MR);
  const long count = get_num_groups(0);
  __global const STORAGE *from = source + batch * batch_stride + (long)panel * MR * row;
  __global REAL *to = panels + batch * count * depth * MR;
  for (int done = 0; done < depth; done += TILE_CHAIN) {
    const int steps = min(TILE_CHAIN, depth - done);
    pack_rows(from + done * step, present, steps, row, step, to + (count * done + (long)panel * steps) * MR);
  }
}

// A convolution's weights, to [batch][panel][depth][MR]; the depth is three nested indices (channel, tap row, tap
// column).
__attribute__((reqd_work_group_size(1, 1, 1)))
__kernel void pack_weights(BUFFER(const STORAGE, source), BUFFER(REAL, panels), const int rows, const int depth2,
                           const int depth1, const int depth0, const long start, const long batch_stride,
                           const long row_stride, const long stride2, const long stride1, const long stride0) {
  BIND(const STORAGE, source);
  BIND(REAL, panels);
  const int panel = get_group_id(0), batch = get_group_id(1), present = min(MR, rows - panel * MR);
  const long depth = (long)depth2 * depth1 * depth0;
  __global const STORAGE *from = source + start + batch * batch_stride + (long)panel * MR * row_stride;
  __global REAL *to = panels + ((long)batch * get_num_groups(0) + panel) * depth * MR;
  for (int k2 = 0; k2 < depth2; ++k2)
    for (int k1 = 0; k1 < depth1; ++k1, to += (long)depth0 * MR)
      pack_rows(from + k2 * stride2 + k1 * stride1, present, depth0, row_stride, stride0, to);
}
