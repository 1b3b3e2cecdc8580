// Joins products on a GPU whose depth was split among work groups: result = alpha * the sum of their parts + beta *
// result + bias. Parts are added in an order that is always the same. Where there are many of them, LANES items share a
// result's: a group of JOIN_ITEMS then has fewer results. WIDTH results of an item, 1 or 4, lie side by side.
#include "core/common.cl"
#include "core/vectors4.cl"
#include "ops/gemm/product_join_shared.h"

#if WIDTH == 4
#define NUMBERS REAL4
#define LOAD_SUMS(p, i) ((__global const REAL4 *)(p))[i]
#define LOAD_RESULTS LOAD4
#define STORE_RESULTS STORE4
#else
#define NUMBERS REAL
#define LOAD_SUMS(p, i) (p)[i]
#define LOAD_RESULTS LOAD
#define STORE_RESULTS STORE
#endif
#define JOINED (JOIN_ITEMS / LANES)

inline REAL bias_of(__global const STORAGE *bias, const int at, const ProductJoin p) {
  return LOAD(bias, at / p.plane % p.channels);
}

__attribute__((reqd_work_group_size(JOIN_ITEMS, 1, 1))) __kernel void product_join(BUFFER(const REAL, partials),
                                                                                   BUFFER(const STORAGE, bias),
                                                                                   BUFFER(STORAGE, result),
                                                                                   const ProductJoin p,
                                                                                   const REAL alpha, const REAL beta) {
  __local NUMBERS sums[LANES][JOINED];
  const int column = get_local_id(0) % JOINED, lane = get_local_id(0) / JOINED;
  const int at = (get_group_id(0) * JOINED + column) * WIDTH, batch = at / p.results;
  __global const REAL *partial = partials_buffer + partials_start + (long)batch * (p.parts - 1) * p.results + at;
  NUMBERS sum = 0;
  if (at < p.count) _Pragma("unroll 8")
    for (int part = lane; part < p.parts; part += LANES) sum += LOAD_SUMS(partial + (long)part * p.results, 0);
  sums[lane][column] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lane > 0 || at >= p.count) return;
  for (int other = 1; other < LANES; ++other) sum += sums[other][column];
  sum *= alpha;
  if (p.has_bias) {
    __global const STORAGE *of_channels = bias_buffer + bias_start;
#if WIDTH == 4
    sum += (REAL4)(bias_of(of_channels, at, p), bias_of(of_channels, at + 1, p), bias_of(of_channels, at + 2, p),
                   bias_of(of_channels, at + 3, p));
#else
    sum += bias_of(of_channels, at, p);
#endif
  }
  __global STORAGE *to = result_buffer + result_start + at;
  if (beta != 0) sum += beta * LOAD_RESULTS(to, 0);
  STORE_RESULTS(to, 0, sum);
}
