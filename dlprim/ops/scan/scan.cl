// Running sums, products and logarithms of sums along the middle dimension of tensors [outer, n, inner].
//   STORAGE, REAL, LOAD, STORE   the dtype of all tensors
//   IS_FLOATING                  whether REAL is a floating type
#include "core/common.cl"
#include "ops/scan/scan_shared.h"

#if !IS_FLOATING
typedef long wide_t;
#elif HAS_FP64
typedef double wide_t;
#else
typedef float wide_t;
#endif

// A scan keeps a state_t of the elements so far. OF(element) makes one of an element, NONE is that of no element, and
// COMBINE(a, b) joins two in their order. RESULT(state) is stored.
#define NUMBER_OF(element) ((wide_t)(element))
#define ITSELF(state) (state)
#define ADD(a, b) ((a) + (b))
#define MULTIPLY(a, b) ((a) * (b))

#if IS_FLOATING
// log(exp(largest) * (1 + others)): others are the sum beside the largest, so that a small one counts as well.
typedef struct {
  REAL largest;
  wide_t others;
} log_sum_t;

inline log_sum_t log_sum(const REAL largest, const wide_t others) {
  const log_sum_t result = {largest, others};
  return result;
}

inline log_sum_t add_log_sums(const log_sum_t a, const log_sum_t b) {
  const int a_leads = isnan(a.largest) | (a.largest >= b.largest);
  const REAL largest = a_leads ? a.largest : b.largest, least = a_leads ? b.largest : a.largest;
  const wide_t beside = a_leads ? a.others : b.others, behind = a_leads ? b.others : a.others;
  const REAL factor = least == largest ? (REAL)1 : exp(least - largest);
  return log_sum(largest, beside + (1 + behind) * factor);
}

#define LOG_SUM_OF(element) log_sum((REAL)(element), 0)
#define NO_LOG_SUM log_sum(-(REAL)INFINITY, -1)
#define LOG_OF(state) ((state).largest + log1p((REAL)(state).others))
#endif

#define SCAN_ARGS const long outer, const long n, const long inner, const int reverse
#define AT(k) ((reverse ? n - 1 - (k) : (k)) * inner)

// One work item follows SCAN_COLUMNS neighbouring columns.
#if SHAPE_CPU
#define SCAN_COLUMNS CPU_SCAN_COLUMNS
#else
#define SCAN_COLUMNS 1
#endif
#define FIND_COLUMNS                                              \
  const long strips = (inner + SCAN_COLUMNS - 1) / SCAN_COLUMNS;  \
  const long strip = get_global_id(0);                            \
  if (strip >= outer * strips) return;                            \
  const long block = strip / strips;                              \
  const long column = (strip - block * strips) * SCAN_COLUMNS;    \
  const int lanes = (int)min((long)SCAN_COLUMNS, inner - column); \
  const long first = block * n * inner + column;

#define COLUMNS_KERNEL(name, state_t, NONE, OF, COMBINE, RESULT)                                    \
  __kernel void name##_columns(BUFFER(const STORAGE, x), BUFFER(STORAGE, y), SCAN_ARGS) {           \
    BIND(const STORAGE, x);                                                                         \
    BIND(STORAGE, y);                                                                               \
    FIND_COLUMNS                                                                                    \
    if (inner == 1) { /* one state stays in registers */                                            \
      state_t total = NONE;                                                                         \
      for (long k = 0; k < n; ++k) {                                                                \
        total = COMBINE(total, OF(LOAD(x, first + AT(k))));                                         \
        STORE(y, first + AT(k), RESULT(total));                                                     \
      }                                                                                             \
      return;                                                                                       \
    }                                                                                               \
    state_t running[SCAN_COLUMNS];                                                                  \
    for (int l = 0; l < SCAN_COLUMNS; ++l) running[l] = NONE;                                       \
    for (long k = 0; k < n; ++k) {                                                                  \
      const long at = first + AT(k);                                                                \
      for (int l = 0; l < lanes; ++l) {                                                             \
        running[l] = COMBINE(running[l], OF(LOAD(x, at + l)));                                      \
        STORE(y, at + l, RESULT(running[l]));                                                       \
      }                                                                                             \
    }                                                                                               \
  }

#define EVERY_SCAN(KERNEL)                               \
  KERNEL(cumsum, wide_t, 0, NUMBER_OF, ADD, ITSELF)      \
  KERNEL(cumprod, wide_t, 1, NUMBER_OF, MULTIPLY, ITSELF)

EVERY_SCAN(COLUMNS_KERNEL)

#if IS_FLOATING && SHAPE_CPU
// log sums by vectors: of neighbours of a row, or of columns.
typedef JOIN(REAL, 16) reals_t;

// exp of minus the distance of two numbers: the smaller of their exponentials as a part of the larger.
inline void find_factors(const REAL *a, const REAL *b, REAL *factors) {
  const reals_t first = vload16(0, a), second = vload16(0, b);
  vstore16(exp(first == second ? (reals_t)0 : -fabs(first - second)), 0, factors);
}

inline void find_logs(const REAL *largest, const REAL *others, REAL *logs) {
  vstore16(vload16(0, largest) + log1p(vload16(0, others)), 0, logs);
}

#define LEADS(largest, element) (isnan(largest) | ((largest) >= (element)))

__kernel void logcumsumexp_columns(BUFFER(const STORAGE, x), BUFFER(STORAGE, y), SCAN_ARGS) {
  BIND(const STORAGE, x);
  BIND(STORAGE, y);
  FIND_COLUMNS
  REAL elements[16], before[16], largest[16], factors[16], others[16], logs[16];
  wide_t sums[16];
  if (inner == 1) {
    REAL furthest = -(REAL)INFINITY;
    wide_t sum = -1;
    for (long tile = 0; tile < n; tile += 16) {
      const int count = (int)min(16L, n - tile);
      for (int l = 0; l < 16; ++l) elements[l] = l < count ? (REAL)LOAD(x, first + tile + l) : (REAL)0;
      for (int l = 0; l < 16; ++l) {
        before[l] = furthest;
        largest[l] = furthest = LEADS(furthest, elements[l]) ? furthest : elements[l];
      }
      find_factors(elements, before, factors);
      for (int l = 0; l < 16; ++l) {
        sum = LEADS(before[l], elements[l]) ? sum + factors[l] : (sum + 1) * factors[l];
        others[l] = sum;
      }
      find_logs(largest, others, logs);
      for (int l = 0; l < count; ++l) STORE(y, first + tile + l, logs[l]);
    }
    return;
  }
  for (int l = 0; l < 16; ++l) elements[l] = 0, largest[l] = -(REAL)INFINITY, sums[l] = -1;
  for (long k = 0; k < n; ++k) {
    const long at = first + k * inner;
    for (int l = 0; l < lanes; ++l) elements[l] = LOAD(x, at + l);
    find_factors(elements, largest, factors);
    for (int l = 0; l < 16; ++l) {
      const int leads = LEADS(largest[l], elements[l]);
      others[l] = sums[l] = leads ? sums[l] + factors[l] : (sums[l] + 1) * factors[l];
      largest[l] = leads ? largest[l] : elements[l];
    }
    find_logs(largest, others, logs);
    for (int l = 0; l < lanes; ++l) STORE(y, at + l, logs[l]);
  }
}
#elif IS_FLOATING
COLUMNS_KERNEL(logcumsumexp, log_sum_t, NO_LOG_SUM, LOG_SUM_OF, add_log_sums, LOG_OF)
#endif

#if IS_FLOATING
// suffix[k] = dy[k] + x[k + 1] * suffix[k + 1]; dx[k] is the product before k times it.
__kernel void cumprod_backward(BUFFER(const STORAGE, dy), BUFFER(const STORAGE, x), BUFFER(wide_t, suffix),
                               BUFFER(STORAGE, dx), SCAN_ARGS) {
  BIND(const STORAGE, dy);
  BIND(const STORAGE, x);
  BIND(wide_t, suffix);
  BIND(STORAGE, dx);
  FIND_COLUMNS
  wide_t running[SCAN_COLUMNS];
  for (int l = 0; l < SCAN_COLUMNS; ++l) running[l] = 0;
  for (long k = n - 1; k >= 0; --k) {
    const long at = first + k * inner;
    for (int l = 0; l < lanes; ++l) {
      suffix[at + l] = running[l] = (wide_t)LOAD(dy, at + l) + running[l];
      running[l] *= (wide_t)LOAD(x, at + l);
    }
  }
  for (int l = 0; l < SCAN_COLUMNS; ++l) running[l] = 1;
  for (long k = 0; k < n; ++k) {
    const long at = first + k * inner;
    for (int l = 0; l < lanes; ++l) {
      STORE(dx, at + l, running[l] * suffix[at + l]);
      running[l] *= (wide_t)LOAD(x, at + l);
    }
  }
}

// exp(y) as a part of exp(later); 1 where both are infinite or 0.
inline REAL part_of(const REAL y, const REAL later) { return y == later ? (REAL)1 : exp(y - later); }

// suffix = dy[k] exp(top - y[k]) + … + dy[n - 1] exp(top - y[n - 1]); dx[k] is exp(x[k] - top) times it. Each factor is
// rounded once: `top` is a y, and another one only where exp would leave its range.
__kernel void logcumsumexp_backward(BUFFER(const STORAGE, dy), BUFFER(const STORAGE, x), BUFFER(const STORAGE, y),
                                    BUFFER(STORAGE, dx), SCAN_ARGS) {
  BIND(const STORAGE, dy);
  BIND(const STORAGE, x);
  BIND(const STORAGE, y);
  BIND(STORAGE, dx);
  const REAL most = 16;
  FIND_COLUMNS
  wide_t suffix[SCAN_COLUMNS];
  REAL top[SCAN_COLUMNS];
  for (int l = 0; l < lanes; ++l) suffix[l] = 0, top[l] = LOAD(y, first + (n - 1) * inner + l);
  for (long k = n - 1; k >= 0; --k) {
    const long at = first + k * inner;
    for (int l = 0; l < lanes; ++l) {
      const REAL sum = LOAD(y, at + l);
      if (!(top[l] - sum < most)) {
        suffix[l] *= part_of(sum, top[l]);
        top[l] = sum;
      }
      suffix[l] += (wide_t)LOAD(dy, at + l) / part_of(sum, top[l]);
      STORE(dx, at + l, exp(LOAD(x, at + l) - top[l]) * suffix[l]);
    }
  }
}
#endif

#if SHAPE_SIMT
#define PER_ITEM 8

// A work group follows one row of consecutive elements, a tile of PER_ITEM elements an item at a time.
#define ROWS_KERNEL(name, state_t, NONE, OF, COMBINE, RESULT)                                       \
  __kernel void name##_rows(BUFFER(const STORAGE, x), BUFFER(STORAGE, y), SCAN_ARGS) {              \
    BIND(const STORAGE, x);                                                                         \
    BIND(STORAGE, y);                                                                               \
    __local state_t ends[MAX_GROUP];                                                                \
    const int lid = get_local_id(0), size = get_local_size(0);                                      \
    const long first = get_group_id(0) * n;                                                         \
    state_t carried = NONE;                                                                         \
    for (long tile = 0; tile < n; tile += size * PER_ITEM) {                                        \
      state_t running[PER_ITEM];                                                                    \
      state_t total = NONE;                                                                         \
      for (int i = 0; i < PER_ITEM; ++i) {                                                          \
        const long k = tile + lid * PER_ITEM + i;                                                   \
        if (k < n) total = COMBINE(total, OF(LOAD(x, first + AT(k))));                              \
        running[i] = total;                                                                         \
      }                                                                                             \
      ends[lid] = total;                                                                            \
      for (int step = 1; step < size; step *= 2) {                                                  \
        barrier(CLK_LOCAL_MEM_FENCE);                                                               \
        if (lid >= step) total = COMBINE(ends[lid - step], total);                                  \
        barrier(CLK_LOCAL_MEM_FENCE);                                                               \
        ends[lid] = total;                                                                          \
      }                                                                                             \
      barrier(CLK_LOCAL_MEM_FENCE);                                                                 \
      state_t start = carried;                                                                      \
      if (lid > 0) start = COMBINE(start, ends[lid - 1]);                                           \
      for (int i = 0; i < PER_ITEM; ++i) {                                                          \
        const long k = tile + lid * PER_ITEM + i;                                                   \
        if (k >= n) break;                                                                          \
        const state_t state = COMBINE(start, running[i]);                                           \
        STORE(y, first + AT(k), RESULT(state));                                                     \
      }                                                                                             \
      carried = COMBINE(carried, ends[size - 1]);                                                   \
      barrier(CLK_LOCAL_MEM_FENCE);                                                                 \
    }                                                                                               \
  }

// A work group follows SIMT_SCAN_COLUMNS neighbouring columns: each of them in parts, an item a part.
#define PARTS_KERNEL(name, state_t, NONE, OF, COMBINE, RESULT)                                      \
  __kernel void name##_parts(BUFFER(const STORAGE, x), BUFFER(STORAGE, y), SCAN_ARGS) {             \
    BIND(const STORAGE, x);                                                                         \
    BIND(STORAGE, y);                                                                               \
    __local state_t ends[MAX_GROUP];                                                                \
    const int lid = get_local_id(0), parts = get_local_size(0) / SIMT_SCAN_COLUMNS;                 \
    const int lane = lid % SIMT_SCAN_COLUMNS, part = lid / SIMT_SCAN_COLUMNS;                       \
    const long strips = (inner + SIMT_SCAN_COLUMNS - 1) / SIMT_SCAN_COLUMNS;                        \
    const long block = get_group_id(0) / strips;                                                    \
    const long column = (get_group_id(0) - block * strips) * SIMT_SCAN_COLUMNS + lane;              \
    const long first = block * n * inner + column;                                                  \
    const long begin = n * part / parts, end = column < inner ? n * (part + 1) / parts : begin;     \
    state_t total = NONE;                                                                           \
    for (long k = begin; k < end; ++k) total = COMBINE(total, OF(LOAD(x, first + AT(k))));          \
    ends[lid] = total;                                                                              \
    barrier(CLK_LOCAL_MEM_FENCE);                                                                   \
    total = NONE;                                                                                   \
    for (int before = lane; before < lid; before += SIMT_SCAN_COLUMNS) total = COMBINE(total, ends[before]); \
    for (long k = begin; k < end; ++k) {                                                            \
      total = COMBINE(total, OF(LOAD(x, first + AT(k))));                                           \
      STORE(y, first + AT(k), RESULT(total));                                                       \
    }                                                                                               \
  }

EVERY_SCAN(ROWS_KERNEL)
EVERY_SCAN(PARTS_KERNEL)

#if IS_FLOATING
ROWS_KERNEL(logcumsumexp, log_sum_t, NO_LOG_SUM, LOG_SUM_OF, add_log_sums, LOG_OF)
PARTS_KERNEL(logcumsumexp, log_sum_t, NO_LOG_SUM, LOG_SUM_OF, add_log_sums, LOG_OF)

// A stretch of a row makes sum + factor * suffix of the suffix behind it.
typedef struct {
  wide_t factor, sum;
} stretch_t;

inline stretch_t stretch(const wide_t factor, const wide_t sum) {
  const stretch_t result = {factor, sum};
  return result;
}
#define JOIN_STRETCHES(a, b) stretch((a).factor *(b).factor, (a).sum + (a).factor * (b).sum)

// From the end of a row, a tile at a time: suffix = dy[k] + LINK(k, k + 1) * suffix, whereupon TAKE(k, suffix) runs.
// LINK(k, later) is the factor between two elements. SPAN(k, end) is that from an item's first element to what follows.
#define FOLLOW_SUFFIXES(LINK, SPAN, TAKE)                                                           \
  {                                                                                                 \
    const long tile_size = (long)size * PER_ITEM;                                                   \
    wide_t carried = 0;                                                                             \
    for (long tile = (n - 1) / tile_size * tile_size; tile >= 0; tile -= tile_size) {               \
      const long begin = tile + lid * PER_ITEM, end = min(n, begin + PER_ITEM);                     \
      const int items = (int)min((long)size, (n - tile + PER_ITEM - 1) / PER_ITEM);                 \
      const int is_last = tile + tile_size >= n;                                                    \
      stretch_t own = stretch(0, 0);                                                                \
      for (long k = end - 1; k >= begin; --k) {                                                     \
        own.sum = (wide_t)LOAD(dy, first + k) + (k == end - 1 ? (wide_t)0 : LINK(k, k + 1) * own.sum); \
      }                                                                                             \
      if (begin < end && end < n) own.factor = SPAN(begin, end);                                    \
      stretches[lid] = own;                                                                         \
      for (int step = 1; step < items; step *= 2) {                                                 \
        barrier(CLK_LOCAL_MEM_FENCE);                                                               \
        if (lid + step < items) own = JOIN_STRETCHES(own, stretches[lid + step]);                   \
        barrier(CLK_LOCAL_MEM_FENCE);                                                               \
        stretches[lid] = own;                                                                       \
      }                                                                                             \
      barrier(CLK_LOCAL_MEM_FENCE);                                                                 \
      wide_t suffix = carried;                                                                      \
      if (lid + 1 < items) {                                                                        \
        const stretch_t behind = stretches[lid + 1];                                                \
        suffix = is_last ? behind.sum : behind.sum + behind.factor * carried;                       \
      }                                                                                             \
      for (long k = end - 1; k >= begin; --k) {                                                     \
        suffix = (wide_t)LOAD(dy, first + k) + (k == n - 1 ? (wide_t)0 : LINK(k, k + 1) * suffix);  \
        TAKE(k, suffix)                                                                             \
      }                                                                                             \
      const stretch_t whole = stretches[0];                                                         \
      carried = is_last ? whole.sum : whole.sum + whole.factor * carried;                           \
      barrier(CLK_LOCAL_MEM_FENCE);                                                                 \
    }                                                                                               \
  }

__kernel void logcumsumexp_backward_rows(BUFFER(const STORAGE, dy), BUFFER(const STORAGE, x), BUFFER(const STORAGE, y),
                                         BUFFER(STORAGE, dx), SCAN_ARGS) {
  BIND(const STORAGE, dy);
  BIND(const STORAGE, x);
  BIND(const STORAGE, y);
  BIND(STORAGE, dx);
  __local stretch_t stretches[MAX_GROUP];
  const int lid = get_local_id(0), size = get_local_size(0);
  const long first = get_group_id(0) * n;
#define LOG_LINK(k, later) (wide_t)part_of(LOAD(y, first + (k)), LOAD(y, first + (later)))
#define LOG_TAKE(k, suffix) STORE(dx, first + (k), exp(LOAD(x, first + (k)) - LOAD(y, first + (k))) * (suffix));
  FOLLOW_SUFFIXES(LOG_LINK, LOG_LINK, LOG_TAKE)
}

// x[k + 1] * … * x[last].
inline wide_t product_between(const __global STORAGE *x, const long k, const long last) {
  wide_t product = 1;
  for (long i = k + 1; i <= last; ++i) product *= (wide_t)LOAD(x, i);
  return product;
}

__kernel void cumprod_backward_rows(BUFFER(const STORAGE, dy), BUFFER(const STORAGE, x), BUFFER(wide_t, suffixes),
                                    BUFFER(STORAGE, dx), SCAN_ARGS) {
  BIND(const STORAGE, dy);
  BIND(const STORAGE, x);
  BIND(wide_t, suffixes);
  BIND(STORAGE, dx);
  __local stretch_t stretches[MAX_GROUP];
  __local wide_t ends[MAX_GROUP];
  const int lid = get_local_id(0), size = get_local_size(0);
  const long first = get_group_id(0) * n;
#define PRODUCT_LINK(k, later) (wide_t)LOAD(x, first + (later))
#define PRODUCT_SPAN(k, later) product_between(x + first, k, later)
#define PRODUCT_TAKE(k, suffix) suffixes[first + (k)] = suffix;
  FOLLOW_SUFFIXES(PRODUCT_LINK, PRODUCT_SPAN, PRODUCT_TAKE)
  // The product before each element; an item reads the suffixes that it wrote.
  wide_t carried = 1;
  for (long tile = 0; tile < n; tile += (long)size * PER_ITEM) {
    const long begin = tile + lid * PER_ITEM, end = min(n, begin + PER_ITEM);
    wide_t product = 1;
    for (long k = begin; k < end; ++k) product *= (wide_t)LOAD(x, first + k);
    ends[lid] = product;
    for (int step = 1; step < size; step *= 2) {
      barrier(CLK_LOCAL_MEM_FENCE);
      if (lid >= step) product *= ends[lid - step];
      barrier(CLK_LOCAL_MEM_FENCE);
      ends[lid] = product;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    wide_t before = lid > 0 ? carried * ends[lid - 1] : carried;
    for (long k = begin; k < end; ++k) {
      STORE(dx, first + k, before * suffixes[first + k]);
      before *= (wide_t)LOAD(x, first + k);
    }
    carried *= ends[size - 1];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
#endif
#endif

// ---- places of the extremes so far

#if IS_FLOATING
#define IS_NAN(x) isnan(x)
#else
#define IS_NAN(x) 0
#endif
#define EXTREMES_ARGS const long outer, const long n, const long inner, const int least
// Whether an element is at least as far out as the furthest before it. Without a branch: an element may go either way.
#define REACHES(x, furthest) (IS_NAN(x) | (least ? (x) <= (furthest) : (x) >= (furthest)))

#if SHAPE_CPU
// Rows of neighbours, several in turns, since each element waits for the one before; `reaches` is a comparison.
#define FOLLOW_ROWS(reaches)                                               \
  for (long k = 1; k < n; ++k)                                             \
    _Pragma("unroll") for (int r = 0; r < CPU_SCAN_ROWS; ++r) {            \
      const REAL element = (REAL)LOAD(x, row[r] + k);                      \
      const int is_further = IS_NAN(element) | (element reaches furthest[r]); \
      furthest[r] = is_further ? element : furthest[r];                    \
      place[r] = is_further ? (int)k : place[r];                           \
      places[row[r] + k] = place[r];                                       \
    }

__kernel void extremes_of_rows(BUFFER(const STORAGE, x), BUFFER(long, places), EXTREMES_ARGS) {
  BIND(const STORAGE, x);
  BIND(long, places);
  REAL furthest[CPU_SCAN_ROWS];
  int place[CPU_SCAN_ROWS];
  long row[CPU_SCAN_ROWS];
  for (int r = 0; r < CPU_SCAN_ROWS; ++r) {  // the last one again where there are fewer
    row[r] = min((long)get_global_id(0) * CPU_SCAN_ROWS + r, outer - 1) * n;
    furthest[r] = (REAL)LOAD(x, row[r]);
    place[r] = 0;
    places[row[r]] = 0;
  }
  if (least)
    FOLLOW_ROWS(<=)
  else
    FOLLOW_ROWS(>=)
}
#endif

__kernel void extremes_columns(BUFFER(const STORAGE, x), BUFFER(long, places), EXTREMES_ARGS) {
  BIND(const STORAGE, x);
  BIND(long, places);
  FIND_COLUMNS
  REAL furthest[SCAN_COLUMNS];
  int place[SCAN_COLUMNS];
  for (int l = 0; l < lanes; ++l) furthest[l] = (REAL)LOAD(x, first + l), place[l] = 0;
  for (long k = 0; k < n; ++k) {
    const long at = first + k * inner;
    for (int l = 0; l < lanes; ++l) {
      const REAL element = (REAL)LOAD(x, at + l);
      const int is_further = REACHES(element, furthest[l]);
      furthest[l] = is_further ? element : furthest[l];
      place[l] = is_further ? (int)k : place[l];
      places[at + l] = place[l];
    }
  }
}

#if SHAPE_SIMT
// A work group follows one row, like those of ROWS_KERNEL. A place below 0 stands for no element.
__kernel void extremes_rows(BUFFER(const STORAGE, x), BUFFER(long, places), EXTREMES_ARGS) {
  BIND(const STORAGE, x);
  BIND(long, places);
  __local REAL ends[MAX_GROUP];
  __local int end_places[MAX_GROUP];
  const int lid = get_local_id(0), size = get_local_size(0);
  const long first = get_group_id(0) * n;
  REAL carried = 0;
  int carried_place = -1;
  for (long tile = 0; tile < n; tile += size * PER_ITEM) {
    const long begin = tile + lid * PER_ITEM, end = min(n, begin + PER_ITEM);
    REAL furthest = 0;
    int place = -1;
    for (long k = begin; k < end; ++k) {
      const REAL element = (REAL)LOAD(x, first + k);
      if (place < 0 || REACHES(element, furthest)) {
        furthest = element;
        place = (int)k;
      }
    }
    ends[lid] = furthest;
    end_places[lid] = place;
    for (int step = 1; step < size; step *= 2) {
      barrier(CLK_LOCAL_MEM_FENCE);
      const REAL before = lid >= step ? ends[lid - step] : (REAL)0;
      const int before_place = lid >= step ? end_places[lid - step] : -1;
      barrier(CLK_LOCAL_MEM_FENCE);
      if (before_place >= 0 && (end_places[lid] < 0 || !(REACHES(ends[lid], before)))) {
        ends[lid] = before;
        end_places[lid] = before_place;
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    furthest = carried;
    place = carried_place;
    if (lid > 0 && end_places[lid - 1] >= 0 && (place < 0 || REACHES(ends[lid - 1], furthest))) {
      furthest = ends[lid - 1];
      place = end_places[lid - 1];
    }
    for (long k = begin; k < end; ++k) {
      const REAL element = (REAL)LOAD(x, first + k);
      if (place < 0 || REACHES(element, furthest)) {
        furthest = element;
        place = (int)k;
      }
      places[first + k] = place;
    }
    const int last = end_places[size - 1];
    if (last >= 0 && (carried_place < 0 || REACHES(ends[size - 1], carried))) {
      carried = ends[size - 1];
      carried_place = last;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
#endif
