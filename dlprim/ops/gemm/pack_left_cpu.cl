// Packs the left operand of a product into panels [batch][panel][depth][MR]; rows beyond the last are zero.
// The depth is three nested indices (channel, tap row, tap column of a convolution; 1, 1, k of a plain matrix).
#include "ops/gemm/cpu_tile.cl"

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
    for (int k1 = 0; k1 < depth1; ++k1)
      for (int k0 = 0; k0 < depth0; ++k0, to += MR) {
        __global const STORAGE *column = from + k2 * stride2 + k1 * stride1 + k0 * stride0;
        if (present == MR) {
#pragma unroll
          for (int i = 0; i < MR; ++i) to[i] = LOAD(column, i * row_stride);
        } else {
          for (int i = 0; i < MR; ++i) to[i] = i < present ? LOAD(column, i * row_stride) : (REAL)0;
        }
      }
}
