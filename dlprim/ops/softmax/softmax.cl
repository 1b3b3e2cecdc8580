// Softmax and log-softmax over the middle dimension of [outer, n, inner]; a row is the n elements at stride `inner`.
// Macros: STORAGE, REAL, LOAD, STORE (dtype_defines); EXACT_STORAGE: STORAGE holds any REAL.
// Shape cpu: a work item takes many rows; those with inner == 1 sixteen elements at a time, others sixteen rows at a
// time. Shape simt: *_rows gives a work item a row, *_groups (inner == 1) gives a line of a work group a row.
#include "core/common.cl"
#include "core/group.cl"
#include "core/vectors.cl"

#define CHAIN 256  // terms of one chain of additions

#define ROW_ARGS const long outer, const int n, const int inner, const int take_log

#if SHAPE_CPU
#include "core/log_sum.cl"

inline REAL row_maximum(const __global STORAGE *x, int n) {
  const int whole = n & ~15;
  REAL16 top = -INFINITY;
  for (int i = 0; i < whole; i += 16) top = fmax(top, LOAD16(x, i));
  if (whole < n) top = fmax(top, LOAD_UP_TO16(x, whole, n - whole, -INFINITY));
  return max16(top);
}

// Rows of consecutive elements.
inline void forward_row(const __global STORAGE *restrict x, __global STORAGE *restrict y, int n, int take_log) {
  const REAL top = row_maximum(x, n);
  const int whole = n & ~15;
  REAL16 total = 0;
  for (int start = 0; start < whole; start += 16 * CHAIN) {
    REAL16 sum = 0;
    for (int i = start; i < min(whole, start + 16 * CHAIN); i += 16) {
      const REAL16 e = EXP16(LOAD16(x, i) - top);
#if EXACT_STORAGE
      if (!take_log) STORE16(y, i, e);
#endif
      sum += e;
    }
    total += sum;
  }
  REAL16 tail = 0;
  if (whole < n) {
    tail = EXP16(LOAD_UP_TO16(x, whole, n - whole, -INFINITY) - top);
    total += tail;
  }
  const REAL sum = sum16(total);
  if (take_log) {
    const REAL16 log_sum = LOG1(sum);
    for (int i = 0; i < whole; i += 16) STORE16(y, i, LOAD16(x, i) - top - log_sum);
    if (whole < n) STORE_UP_TO16(y, whole, n - whole, LOAD_UP_TO16(x, whole, n - whole, 0) - top - log_sum);
    return;
  }
#if EXACT_STORAGE
  for (int i = 0; i < whole; i += 16) STORE16(y, i, LOAD16(y, i) / sum);
#else
  for (int i = 0; i < whole; i += 16) STORE16(y, i, EXP16(LOAD16(x, i) - top) / sum);
#endif
  if (whole < n) STORE_UP_TO16(y, whole, n - whole, tail / sum);
}

inline void backward_row(const __global STORAGE *restrict dy, const __global STORAGE *restrict y,
                         __global STORAGE *restrict dx, int n, int of_log) {
  const int whole = n & ~15;
  REAL16 total = 0;
  for (int start = 0; start < whole; start += 16 * CHAIN) {
    REAL16 sum = 0;
    for (int i = start; i < min(whole, start + 16 * CHAIN); i += 16)
      sum = of_log ? sum + LOAD16(dy, i) : fma(LOAD16(dy, i), LOAD16(y, i), sum);
    total += sum;
  }
  REAL16 dy_tail = 0, y_tail = 0;
  if (whole < n) {
    dy_tail = LOAD_UP_TO16(dy, whole, n - whole, 0);
    y_tail = LOAD_UP_TO16(y, whole, n - whole, 0);
    total += of_log ? dy_tail : dy_tail * y_tail;
  }
  const REAL sum = sum16(total);
  if (of_log) {
    for (int i = 0; i < whole; i += 16) STORE16(dx, i, LOAD16(dy, i) - EXP16(LOAD16(y, i)) * sum);
    if (whole < n) STORE_UP_TO16(dx, whole, n - whole, dy_tail - EXP16(y_tail) * sum);
  } else {
    for (int i = 0; i < whole; i += 16) STORE16(dx, i, LOAD16(y, i) * (LOAD16(dy, i) - sum));
    if (whole < n) STORE_UP_TO16(dx, whole, n - whole, y_tail * (dy_tail - sum));
  }
}

// Up to sixteen neighbouring rows at once, `step` apart; `lanes` of them exist.
#define LOAD_LANES(p, i) (step == 1 && lanes == 16 ? LOAD16(p, i) : load_apart16((p) + (i), lanes, step, 0))
#define STORE_LANES(p, i, v)     \
  if (step == 1 && lanes == 16)  \
    STORE16(p, i, v);            \
  else                           \
    store_apart16((p) + (i), lanes, step, v)

inline void forward_lanes(const __global STORAGE *restrict x, __global STORAGE *restrict y, int n, int inner, int lanes,
                          int step, int take_log) {
  REAL16 top = -INFINITY, total = 0;
  for (int i = 0; i < n; ++i) top = fmax(top, LOAD_LANES(x, (long)i * inner));
  for (int start = 0; start < n; start += CHAIN) {
    REAL16 sum = 0;
    for (int i = start; i < min(n, start + CHAIN); ++i) sum += EXP16(LOAD_LANES(x, (long)i * inner) - top);
    total += sum;
  }
  const REAL16 log_sum = take_log ? LOG16(total) : (REAL16)0;
  for (int i = 0; i < n; ++i) {
    const REAL16 shifted = LOAD_LANES(x, (long)i * inner) - top;
    const REAL16 result = take_log ? shifted - log_sum : EXP16(shifted) / total;
    STORE_LANES(y, (long)i * inner, result);
  }
}

inline void backward_lanes(const __global STORAGE *restrict dy, const __global STORAGE *restrict y,
                           __global STORAGE *restrict dx, int n, int inner, int lanes, int step,
                           int of_log) {
  REAL16 total = 0;
  for (int start = 0; start < n; start += CHAIN) {
    REAL16 sum = 0;
    for (int i = start; i < min(n, start + CHAIN); ++i) {
      const REAL16 g = LOAD_LANES(dy, (long)i * inner);
      sum = of_log ? sum + g : fma(g, LOAD_LANES(y, (long)i * inner), sum);
    }
    total += sum;
  }
  for (int i = 0; i < n; ++i) {
    const REAL16 g = LOAD_LANES(dy, (long)i * inner), v = LOAD_LANES(y, (long)i * inner);
    const REAL16 result = of_log ? g - EXP16(v) * total : v * (g - total);
    STORE_LANES(dx, (long)i * inner, result);
  }
}

// Calls CALL(first element of the rows, how many lanes) for this work item's share of the rows.
// Short rows go side by side too: a row alone would leave most of a vector empty.
#define SHORT_ROW 16
#define FOR_MY_ROWS(CALL)                                                               \
  const int is_short = inner == 1 && n <= SHORT_ROW, step = is_short ? n : 1;           \
  const int strips = inner == 1 ? 1 : (inner + 15) / 16;                                \
  const long tasks = is_short ? (outer + 15) / 16 : outer * strips;                     \
  const long end = tasks * (get_global_id(0) + 1) / get_global_size(0);                 \
  for (long task = tasks * get_global_id(0) / get_global_size(0); task < end; ++task) { \
    const long o = is_short ? task * 16 : task / strips;                                \
    const int first = is_short ? 0 : (int)(task - o * strips) * 16;                     \
    const long at = o * n * inner + first;                                              \
    const int lanes = (int)min(16L, is_short ? outer - o : (long)(inner - first));      \
    CALL;                                                                               \
  }

__kernel void softmax_forward_rows(BUFFER(const STORAGE, x), BUFFER(STORAGE, y), ROW_ARGS) {
  BIND(const STORAGE, x);
  BIND(STORAGE, y);
  FOR_MY_ROWS(if (inner == 1 && !is_short) forward_row(x + at, y + at, n, take_log);
              else forward_lanes(x + at, y + at, n, inner, lanes, step, take_log))
}

__kernel void softmax_backward_rows(BUFFER(const STORAGE, dy), BUFFER(const STORAGE, y), BUFFER(STORAGE, dx),
                                    ROW_ARGS) {
  BIND(const STORAGE, dy);
  BIND(const STORAGE, y);
  BIND(STORAGE, dx);
  FOR_MY_ROWS(if (inner == 1 && !is_short) backward_row(dy + at, y + at, dx + at, n, take_log);
              else backward_lanes(dy + at, y + at, dx + at, n, inner, lanes, step, take_log))
}

#else


__kernel void softmax_forward_rows(BUFFER(const STORAGE, x), BUFFER(STORAGE, y), ROW_ARGS) {
  BIND(const STORAGE, x);
  BIND(STORAGE, y);
  const long row = get_global_id(0);
  if (row >= outer * inner) return;
  const long o = row / inner;
  const long at = o * n * inner + (row - o * inner);
  REAL top = -INFINITY, total = 0;
  for (int i = 0; i < n; ++i) top = fmax(top, (REAL)LOAD(x, at + (long)i * inner));
  for (int start = 0; start < n; start += CHAIN) {
    REAL sum = 0;
    for (int i = start; i < min(n, start + CHAIN); ++i) sum += exp(LOAD(x, at + (long)i * inner) - top);
    total += sum;
  }
  const REAL log_sum = log(total);
  for (int i = 0; i < n; ++i) {
    const REAL shifted = LOAD(x, at + (long)i * inner) - top;
    STORE(y, at + (long)i * inner, take_log ? shifted - log_sum : exp(shifted) / total);
  }
}

__kernel void softmax_backward_rows(BUFFER(const STORAGE, dy), BUFFER(const STORAGE, y), BUFFER(STORAGE, dx),
                                    ROW_ARGS) {
  BIND(const STORAGE, dy);
  BIND(const STORAGE, y);
  BIND(STORAGE, dx);
  const long row = get_global_id(0);
  if (row >= outer * inner) return;
  const long o = row / inner;
  const long at = o * n * inner + (row - o * inner);
  REAL total = 0;
  for (int start = 0; start < n; start += CHAIN) {
    REAL sum = 0;
    for (int i = start; i < min(n, start + CHAIN); ++i) {
      const REAL g = LOAD(dy, at + (long)i * inner);
      sum += take_log ? g : g * LOAD(y, at + (long)i * inner);
    }
    total += sum;
  }
  for (int i = 0; i < n; ++i) {
    const REAL g = LOAD(dy, at + (long)i * inner), v = LOAD(y, at + (long)i * inner);
    STORE(dx, at + (long)i * inner, take_log ? g - exp(v) * total : v * (g - total));
  }
}

__kernel void softmax_forward_groups(BUFFER(const STORAGE, x), BUFFER(STORAGE, y), ROW_ARGS) {
  BIND(const STORAGE, x);
  BIND(STORAGE, y);
  __local REAL all_tops[MAX_GROUP], all_sums[MAX_GROUP];
  __local REAL *tops = OF_LINE(all_tops), *sums = OF_LINE(all_sums);
  const int lid = get_local_id(0), size = get_local_size(0);
  const long at = ROW_OF_LINE * n;
  const int end = ROW_OF_LINE < outer ? n : 0;
  REAL mine = -INFINITY;
  for (int i = lid; i < end; i += size) mine = fmax(mine, (REAL)LOAD(x, at + i));
  tops[lid] = mine;
  JOIN_GROUP(tops, fmax);
  const REAL top = tops[0];
  REAL sum = 0;
  for (int i = lid; i < end; i += size) sum += exp(LOAD(x, at + i) - top);
  sums[lid] = sum;
  JOIN_GROUP(sums, ADD);
  const REAL total = sums[0], log_sum = log(total), reciprocal = 1 / total;
  for (int i = lid; i < end; i += size) {
    const REAL shifted = LOAD(x, at + i) - top;
    STORE(y, at + i, take_log ? shifted - log_sum : near_quotient(exp(shifted), total, reciprocal));
  }
}

__kernel void softmax_backward_groups(BUFFER(const STORAGE, dy), BUFFER(const STORAGE, y), BUFFER(STORAGE, dx),
                                      ROW_ARGS) {
  BIND(const STORAGE, dy);
  BIND(const STORAGE, y);
  BIND(STORAGE, dx);
  __local REAL all_sums[MAX_GROUP];
  __local REAL *sums = OF_LINE(all_sums);
  const int lid = get_local_id(0), size = get_local_size(0);
  const long at = ROW_OF_LINE * n;
  const int end = ROW_OF_LINE < outer ? n : 0;
  REAL sum = 0;
  for (int i = lid; i < end; i += size) sum += take_log ? LOAD(dy, at + i) : LOAD(dy, at + i) * LOAD(y, at + i);
  sums[lid] = sum;
  JOIN_GROUP(sums, ADD);
  const REAL total = sums[0];
  for (int i = lid; i < end; i += size) {
    const REAL g = LOAD(dy, at + i), v = LOAD(y, at + i);
    STORE(dx, at + i, take_log ? g - exp(v) * total : v * (g - total));
  }
}

#endif
