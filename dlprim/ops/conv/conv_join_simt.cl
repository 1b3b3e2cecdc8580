// The second step of a convolution, or its gradient by the weight, on a GPU whose sums were split among work groups: their parts
// are added, in an order that is always the same. Where there are many of them, LANES items share a result's: the CONV_JOIN_ITEMS
// of a group then have fewer results.
#include "core/common.cl"
#include "ops/conv/conv_shared.h"

// result [channels][plane], repeated; bias [channels]
#define JOINED (CONV_JOIN_ITEMS / LANES)
__attribute__((reqd_work_group_size(CONV_JOIN_ITEMS, 1, 1)))
__kernel void conv_join(BUFFER(const REAL, partials), BUFFER(const STORAGE, bias), BUFFER(STORAGE, result), const int count,
                        const int parts, const int channels, const int plane, const int has_bias) {
  __local REAL sums[LANES][JOINED];
  const int column = get_local_id(0) % JOINED, lane = get_local_id(0) / JOINED;
  const int at = get_group_id(0) * JOINED + column;
  REAL sum = 0;
  if (at < count) _Pragma("unroll 8")
    for (int part = lane; part < parts; part += LANES) sum += partials_buffer[partials_start + (long)part * count + at];
  sums[lane][column] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lane > 0 || at >= count) return;
  for (int other = 1; other < LANES; ++other) sum += sums[other][column];
  if (has_bias) sum += LOAD(bias_buffer, bias_start + at / plane % channels);
  STORE(result_buffer, result_start + at, sum);
}
