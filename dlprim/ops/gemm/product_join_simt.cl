// Joins products on a GPU whose depth was split among work groups: result = alpha * the sum of their parts + beta * result + bias.
// Parts are added in an order that is always the same. Where there are many of them, LANES items share a result's: a group of
// JOIN_ITEMS then has fewer results.
#include "core/common.cl"
#include "ops/gemm/product_join_shared.h"

#define JOINED (JOIN_ITEMS / LANES)
__attribute__((reqd_work_group_size(JOIN_ITEMS, 1, 1)))
__kernel void product_join(BUFFER(const REAL, partials), BUFFER(const STORAGE, bias), BUFFER(STORAGE, result), const ProductJoin p,
                           const REAL alpha, const REAL beta) {
  __local REAL sums[LANES][JOINED];
  const int column = get_local_id(0) % JOINED, lane = get_local_id(0) / JOINED;
  const int at = get_group_id(0) * JOINED + column, batch = at / p.results;
  __global const REAL *partial = partials_buffer + partials_start + (long)batch * (p.parts - 1) * p.results + at;
  REAL sum = 0;
  if (at < p.count) _Pragma("unroll 8")
    for (int part = lane; part < p.parts; part += LANES) sum += partial[(long)part * p.results];
  sums[lane][column] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lane > 0 || at >= p.count) return;
  for (int other = 1; other < LANES; ++other) sum += sums[other][column];
  sum *= alpha;
  if (p.has_bias) sum += LOAD(bias_buffer, bias_start + at / p.plane % p.channels);
  if (beta != 0) sum += beta * LOAD(result_buffer, result_start + at);
  STORE(result_buffer, result_start + at, sum);
}
