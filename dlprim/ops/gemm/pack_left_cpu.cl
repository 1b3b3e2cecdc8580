// Packs the left operand of a product into panels [batch][panel][depth][MR]; rows beyond the last are zero.
// The depth is three nested indices (channel, tap row, tap column of a convolution; 1, 1, k of a plain matrix).
#include "ops/gemm/cpu_tile.cl"

// Packs depth0 steps of a whole panel of rows; says how many it has done.
inline int pack_vectors(__global const STORAGE *restrict column, const int depth0, const long row_stride,
                        const long stride0, __global REAL *restrict to) {
  int k = 0;
#if DIRECT
  if (stride0 == 1)
    for (; k + LANES <= depth0; k += LANES) {
      VEC block[MR];
#pragma unroll
      for (int i = 0; i < MR; ++i) block[i] = VLOAD(0, column + i * row_stride + k);
      transpose_rows(block);
#pragma unroll
      for (int i = 0; i < MR; ++i) VSTORE(block[i], i, to + k * MR);
    }
  else if (row_stride == 1)
    for (; k < depth0; ++k) vstore8(vload8(0, column + k * stride0), k, to);
#endif
  return k;
}

__attribute__((reqd_work_group_size(1, 1, 1)))
__kernel void pack_left(BUFFER(const STORAGE, source), BUFFER(REAL, panels), const int rows, const int depth2,
                        const int depth1, const int depth0, const long start, const long batch_stride,
                        const long row_stride, const long stride2, const long stride1, const long stride0) {
  BIND(const STORAGE, source);
  BIND(REAL, panels);
  const int panel = get_group_id(0), batch = get_group_id(1);
  const int present = min(MR, rows - panel * MR);
  const long depth = (long)depth2 * depth1 * depth0;
  __global const STORAGE *from = source + start + batch * batch_stride + (long)panel * MR * row_stride;
  __global REAL *to = panels + ((long)batch * get_num_groups(0) + panel) * depth * MR;
  for (int k2 = 0; k2 < depth2; ++k2)
    for (int k1 = 0; k1 < depth1; ++k1, to += (long)depth0 * MR) {
      __global const STORAGE *column = from + k2 * stride2 + k1 * stride1;
      int k0 = present == MR ? pack_vectors(column, depth0, row_stride, stride0, to) : 0;
      for (; k0 < depth0; ++k0)
        for (int i = 0; i < MR; ++i)
          to[k0 * MR + i] = i < present ? LOAD(column, k0 * stride0 + i * row_stride) : (REAL)0;
    }
}
