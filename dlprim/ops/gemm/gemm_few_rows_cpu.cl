// c = alpha * a @ b + beta * c + bias on a CPU where one operand has few lines: what counts is that the other's, the
// `many`, come from memory once and in order. Register tiles pack them, 128 bytes of a line at a time, and reach a
// quarter of what memory gives.
#include "core/prefetch.cl"
#include "ops/gemm/cpu_tile.cl"
#include "ops/gemm/gemm_few_rows_shared.h"

#define UNROLL _Pragma("unroll")

#define LINES FEW_ROWS_LINES
#define AHEAD (4096 / (int)sizeof(REAL))
#define CHAIN 256  // additions in one go, for the accuracy of long sums

INLINE void store_result(__global REAL *c, const long place, const REAL sum, const REAL alpha, const REAL beta,
                         const REAL bias) {
  const REAL value = alpha * sum + bias;
  c[place] = beta != 0 ? value + beta * c[place] : value;
}

// Elements of a line from `from` on, of which those from `to` on are 0.
INLINE VEC part_of(__global const REAL *line, const int from, const int to) {
  REAL lanes[LANES];
  UNROLL for (int i = 0; i < LANES; ++i) lanes[i] = from + i < to ? line[from + i] : (REAL)0;
  return VLOAD(0, lanes);
}

// Products of lines that lie along the depth. Lanes are steps of it.
__attribute__((reqd_work_group_size(1, 1, 1))) __kernel void few_rows_along_depth(BUFFER(const REAL, few),
                                                                                  BUFFER(const REAL, many),
                                                                                  BUFFER(const REAL, bias),
                                                                                  BUFFER(REAL, c), const FewRows s,
                                                                                  const REAL alpha, const REAL beta) {
  BIND(const REAL, few);
  BIND(const REAL, many);
  BIND(REAL, c);
  __global const REAL *bias = s.has_bias ? bias_buffer + bias_start : 0;
  const long batch = get_group_id(1);
  few += batch * s.few_batch, many += batch * s.many_batch, c += batch * s.c_batch;
  const int first = get_group_id(0) * s.block, last = min(first + s.block, s.many), depth = s.depth;
  for (int m = first; m < last; m += LINES)
    for (int f = 0; f < s.few; f += LINES) {
      __global const REAL *a[LINES], *b[LINES];
      UNROLL for (int i = 0; i < LINES; ++i) {
        a[i] = few + min(f + i, s.few - 1) * s.few_line;
        b[i] = many + min(m + i, last - 1) * s.many_line;
      }
      REAL totals[LINES][LINES];
      UNROLL for (int i = 0; i < LINES; ++i) UNROLL for (int j = 0; j < LINES; ++j) totals[i][j] = 0;
      for (int done = 0; done < depth; done += CHAIN * LANES) {
        const int end = min(depth, done + CHAIN * LANES);
        VEC sums[LINES][LINES];
        UNROLL for (int i = 0; i < LINES; ++i) UNROLL for (int j = 0; j < LINES; ++j) sums[i][j] = (VEC)(0);
#define ADD_PRODUCTS(VECTOR_OF)                                                                                       \
  {                                                                                                                   \
    VEC right[LINES];                                                                                                 \
    UNROLL for (int j = 0; j < LINES; ++j) right[j] = VECTOR_OF(b[j]);                                                \
    UNROLL for (int i = 0; i < LINES; ++i) {                                                                          \
      const VEC left = VECTOR_OF(a[i]);                                                                               \
      UNROLL for (int j = 0; j < LINES; ++j) sums[i][j] = MAD(left, right[j], sums[i][j]);                            \
    }                                                                                                                 \
  }
        int k = done;
#define WHOLE(line) VLOAD(0, line + k)
        for (; k + LANES <= end; k += LANES) {
          if (f == 0) UNROLL for (int j = 0; j < LINES; ++j) PREFETCH(b[j] + k + AHEAD);
          ADD_PRODUCTS(WHOLE)
        }
#define REST(line) part_of(line, k, end)
        if (k < end) ADD_PRODUCTS(REST)
        UNROLL for (int i = 0; i < LINES; ++i) UNROLL for (int j = 0; j < LINES; ++j) totals[i][j] +=
            sum_of_lanes(sums[i][j]);
      }
      for (int i = 0; i < min(LINES, s.few - f); ++i)
        for (int j = 0; j < min(LINES, last - m); ++j)
          store_result(c, (f + i) * s.c_few + (m + j) * s.c_many, totals[i][j], alpha, beta,
                       bias ? bias[(f + i) * s.bias_few + (m + j) * s.bias_many] : (REAL)0);
    }
}

// Adds to sums[LINES][block] the products of STEPS steps from k on of LINES lines of few, with whole vectors and then
// with single ones of the many lines.
#define ADD_STEPS(STEPS)                                                               \
  {                                                                                    \
    __global const REAL *b[STEPS];                                                     \
    REAL a[LINES][STEPS];                                                              \
    UNROLL for (int t = 0; t < STEPS; ++t) {                                           \
      b[t] = right + (k + t) * s.many_step;                                            \
      UNROLL for (int i = 0; i < LINES; ++i) a[i][t] =                                 \
          left[min(f + i, s.few - 1) * s.few_line + (k + t) * s.few_step];             \
    }                                                                                  \
    int m = 0;                                                                         \
    for (; m + LANES <= count; m += LANES) {                                           \
      VEC vectors[STEPS];                                                              \
      UNROLL for (int t = 0; t < STEPS; ++t) {                                         \
        vectors[t] = VLOAD(0, b[t] + m);                                               \
        PREFETCH(b[t] + STEPS * s.many_step + m);                                      \
      }                                                                                \
      UNROLL for (int i = 0; i < LINES; ++i) {                                         \
        __global REAL *sum = sums + (f + i) * s.block + m;                             \
        VEC v = k == done ? (VEC)(0) : VLOAD(0, sum);                                  \
        UNROLL for (int t = 0; t < STEPS; ++t) v = MAD((VEC)(a[i][t]), vectors[t], v); \
        VSTORE(v, 0, sum);                                                             \
      }                                                                                \
    }                                                                                  \
    for (; m < count; ++m)                                                             \
      for (int i = 0; i < LINES; ++i) {                                                \
        __global REAL *sum = sums + (f + i) * s.block + m;                             \
        REAL v = k == done ? (REAL)0 : *sum;                                           \
        UNROLL for (int t = 0; t < STEPS; ++t) v = MAD(a[i][t], b[t][m], v);           \
        *sum = v;                                                                      \
      }                                                                                \
  }

// Products of many lines that lie beside each other at each step. Sums stay in scratch: of a chain, and in all.
__attribute__((reqd_work_group_size(1, 1, 1))) __kernel void few_rows_across_depth(
    BUFFER(const REAL, few), BUFFER(const REAL, many), BUFFER(const REAL, bias), BUFFER(REAL, c), BUFFER(REAL, scratch),
    const FewRows s, const REAL alpha, const REAL beta) {
  BIND(const REAL, few);
  BIND(const REAL, many);
  BIND(REAL, c);
  __global const REAL *bias = s.has_bias ? bias_buffer + bias_start : 0;
  const long size = (long)(s.few + LINES - 1) / LINES * LINES * s.block, blocks = (s.many + s.block - 1) / s.block;
  __global REAL *sums = scratch_buffer + scratch_start + get_group_id(0) * 2 * size, *totals = sums + size;
  const long jobs = s.batches * blocks, last_job = first_job(jobs, get_group_id(0) + 1, get_num_groups(0));
  for (long job = first_job(jobs, get_group_id(0), get_num_groups(0)); job < last_job; ++job) {
    const long batch = job / blocks, first = REMAINDER(job, blocks) * s.block;
    const int count = min((long)s.block, s.many - first), depth = s.depth;
    __global const REAL *left = few + batch * s.few_batch, *right = many + batch * s.many_batch + first;
    for (int done = 0; done < depth; done += CHAIN) {
      const int end = min(depth, done + CHAIN);
      int k = done;
      for (; k + 4 <= end; k += 4)
        for (int f = 0; f < s.few; f += LINES) ADD_STEPS(4)
      for (; k < end; ++k)
        for (int f = 0; f < s.few; f += LINES) ADD_STEPS(1)
      for (int i = 0; i < s.few; ++i)
        for (int m = 0; m < count; ++m)
          totals[i * s.block + m] = (done > 0 ? totals[i * s.block + m] : 0) + sums[i * s.block + m];
    }
    for (int i = 0; i < s.few; ++i)
      for (int m = 0; m < count; ++m)
        store_result(c, batch * s.c_batch + i * s.c_few + (first + m) * s.c_many,
                     depth > 0 ? totals[i * s.block + m] : 0, alpha, beta,
                     bias ? bias[i * s.bias_few + (first + m) * s.bias_many] : (REAL)0);
  }
}
