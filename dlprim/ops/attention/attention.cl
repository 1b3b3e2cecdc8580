// Softmax of attention scores [batch, queries, keys], in place: scaled, masked, and 0 where nothing is left to attend
// to. Macros: STORAGE, REAL, LOAD, STORE (dtype_defines of the scores). Shape cpu: a work item takes a range of rows.
// Shape simt: a line of a work group takes a row.
#include "core/common.cl"
#include "core/group.cl"
#include "core/vectors.cl"
#include "ops/attention/attention_shared.h"

#define CHAIN 256  // terms of one chain of additions
#define OPTIONAL(name) (name##_buffer ? name##_buffer + name##_start : 0)

// `keep`: 0 hides a key; `bias`: added to the scores. At most one is given. log_sums: nothing, or [batch,
// queries_of_item].
#define ROW_ARGS                                                                                        \
  BUFFER(STORAGE, scores), const AttentionExtents e, const REAL scale, BUFFER(const uchar, keep),       \
      BUFFER(const STORAGE, bias), const MaskStrides m, BUFFER(REAL, log_sums), const long queries_of_item

inline long mask_start(long row, AttentionExtents e, MaskStrides m) {
  const long item = row / e.queries, query = e.first_query + row - item * e.queries;
  const long batch = e.first_batch + item, outer = batch / m.inner_size, inner = batch - outer * m.inner_size;
  return outer * m.outer + inner * m.inner + query * m.query;
}

inline long log_sum_place(long row, AttentionExtents e, long queries_of_item) {
  return (e.first_batch + row / e.queries) * queries_of_item + e.first_query + row % e.queries;
}

inline int visible_keys(long row, AttentionExtents e) {
  return e.is_causal ? (int)min((long)e.keys, e.first_query + row % e.queries + 1) : e.keys;
}

inline REAL masked_score(REAL score, const __global uchar *keep, const __global STORAGE *bias, long at) {
  if (keep && !keep[at]) return -INFINITY;
  return bias ? score + LOAD(bias, at) : score;
}

// A row of nothing but -inf is shifted by 0, so that its exponentials are 0, and those are divided by 1.
inline REAL shift_of(REAL top) { return top == -INFINITY ? (REAL)0 : top; }
inline REAL divisor_of(REAL sum) { return sum == 0 ? (REAL)1 : sum; }

#if SHAPE_CPU

// Scores of one row are scaled and masked; returns the largest.
inline REAL mask_row(__global STORAGE *restrict row, int n, REAL scale, const __global uchar *restrict keep,
                     const __global STORAGE *restrict bias, long step) {
  REAL top = -INFINITY;
  for (int i = 0; i < n; ++i) {
    const REAL score = masked_score(LOAD(row, i) * scale, keep, bias, i * step);
    STORE(row, i, score);
    top = fmax(top, score);
  }
  return top;
}

inline REAL exponentiate_row(__global STORAGE *row, int n, REAL shift) {
  const int whole = n & ~15;
  REAL16 total = 0;
  for (int start = 0; start < whole; start += 16 * CHAIN) {
    REAL16 sum = 0;
    for (int i = start; i < min(whole, start + 16 * CHAIN); i += 16) {
      const REAL16 power = EXP16(LOAD16(row, i) - shift);
      STORE16(row, i, power);
      sum += power;
    }
    total += sum;
  }
  if (whole < n) {
    const REAL16 power = EXP16(LOAD_UP_TO16(row, whole, n - whole, -INFINITY) - shift);
    STORE_UP_TO16(row, whole, n - whole, power);
    total += power;
  }
  return sum16(total);
}

__kernel void attention_softmax(ROW_ARGS) {
  BIND(STORAGE, scores);
  __global const uchar *keep = OPTIONAL(keep);
  __global const STORAGE *bias = OPTIONAL(bias);
  __global REAL *log_sums = OPTIONAL(log_sums);
  const long end = e.rows * (get_global_id(0) + 1) / get_global_size(0);
  for (long id = e.rows * get_global_id(0) / get_global_size(0); id < end; ++id) {
    __global STORAGE *row = scores + id * e.keys;
    const int n = visible_keys(id, e);
    const long at = mask_start(id, e, m);
    const REAL top = mask_row(row, n, scale, keep ? keep + at : 0, bias ? bias + at : 0, m.key);
    const REAL sum = exponentiate_row(row, n, shift_of(top)), divisor = divisor_of(sum);
    if (log_sums) log_sums[log_sum_place(id, e, queries_of_item)] = shift_of(top) + log(sum);
    for (int i = 0; i < n; ++i) STORE(row, i, LOAD(row, i) / divisor);
    for (int i = n; i < e.keys; ++i) STORE(row, i, (REAL)0);
  }
}

#else

#define SCORE(i) masked_score(LOAD(row, i) * scale, keep, bias, at + (i) * m.key)

__kernel void attention_softmax(ROW_ARGS) {
  NOT_CONTRACTED  // the largest score less itself is 0
  BIND(STORAGE, scores);
  __global const uchar *keep = OPTIONAL(keep);
  __global const STORAGE *bias = OPTIONAL(bias);
  __global REAL *log_sums = OPTIONAL(log_sums);
  __local REAL all_tops[MAX_GROUP], all_sums[MAX_GROUP];
  __local REAL *tops = OF_LINE(all_tops), *sums = OF_LINE(all_sums);
  const int lid = get_local_id(0), size = get_local_size(0);
  const long id = ROW_OF_LINE, at = mask_start(id, e, m);
  __global STORAGE *row = scores + id * e.keys;
  const bool is_there = id < e.rows;
  const int n = is_there ? visible_keys(id, e) : 0, keys = is_there ? e.keys : 0;
  REAL top = -INFINITY;
  for (int i = lid; i < n; i += size) top = fmax(top, SCORE(i));
  tops[lid] = top;
  JOIN_GROUP(tops, fmax);
  const REAL shift = shift_of(tops[0]);
  REAL total = 0;
  for (int start = lid; start < n; start += CHAIN * size) {
    REAL sum = 0;
    for (int i = start; i < min(n, start + CHAIN * size); i += size) sum += exp(SCORE(i) - shift);
    total += sum;
  }
  sums[lid] = total;
  JOIN_GROUP(sums, ADD);
  const REAL divisor = divisor_of(sums[0]), reciprocal = 1 / divisor;
  if (log_sums && lid == 0 && is_there) log_sums[log_sum_place(id, e, queries_of_item)] = shift + log(sums[0]);
  for (int i = lid; i < n; i += size) STORE(row, i, near_quotient(exp(SCORE(i) - shift), divisor, reciprocal));
  for (int i = n + lid; i < keys; i += size) STORE(row, i, (REAL)0);
}

#endif
