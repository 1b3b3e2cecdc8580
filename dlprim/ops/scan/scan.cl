// Running sums and products along the middle dimension of tensors [outer, n, inner].
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

#define ADD(a, b) ((a) + (b))
#define MULTIPLY(a, b) ((a) * (b))
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

#define COLUMNS_KERNEL(name, IDENTITY, COMBINE)                                                     \
  __kernel void name##_columns(BUFFER(const STORAGE, x), BUFFER(STORAGE, y), SCAN_ARGS) {           \
    BIND(const STORAGE, x);                                                                         \
    BIND(STORAGE, y);                                                                               \
    FIND_COLUMNS                                                                                    \
    if (inner == 1) { /* one number stays in a register */                                          \
      wide_t total = IDENTITY;                                                                      \
      for (long k = 0; k < n; ++k) {                                                                \
        total = COMBINE(total, (wide_t)LOAD(x, first + AT(k)));                                     \
        STORE(y, first + AT(k), total);                                                             \
      }                                                                                             \
      return;                                                                                       \
    }                                                                                               \
    wide_t running[SCAN_COLUMNS];                                                                   \
    for (int l = 0; l < SCAN_COLUMNS; ++l) running[l] = IDENTITY;                                   \
    for (long k = 0; k < n; ++k) {                                                                  \
      const long at = first + AT(k);                                                                \
      for (int l = 0; l < lanes; ++l) {                                                             \
        running[l] = COMBINE(running[l], (wide_t)LOAD(x, at + l));                                  \
        STORE(y, at + l, running[l]);                                                               \
      }                                                                                             \
    }                                                                                               \
  }

COLUMNS_KERNEL(cumsum, 0, ADD)
COLUMNS_KERNEL(cumprod, 1, MULTIPLY)

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
#endif

#if SHAPE_SIMT
#define PER_ITEM 8

// A work group follows one row of consecutive elements, a tile of PER_ITEM elements an item at a time.
#define ROWS_KERNEL(name, IDENTITY, COMBINE)                                                        \
  __kernel void name##_rows(BUFFER(const STORAGE, x), BUFFER(STORAGE, y), SCAN_ARGS) {              \
    BIND(const STORAGE, x);                                                                         \
    BIND(STORAGE, y);                                                                               \
    __local wide_t ends[MAX_GROUP];                                                                 \
    const int lid = get_local_id(0), size = get_local_size(0);                                      \
    const long first = get_group_id(0) * n;                                                         \
    wide_t carried = IDENTITY;                                                                      \
    for (long tile = 0; tile < n; tile += size * PER_ITEM) {                                        \
      wide_t running[PER_ITEM];                                                                     \
      wide_t total = IDENTITY;                                                                      \
      for (int i = 0; i < PER_ITEM; ++i) {                                                          \
        const long k = tile + lid * PER_ITEM + i;                                                   \
        if (k < n) total = COMBINE(total, (wide_t)LOAD(x, first + AT(k)));                          \
        running[i] = total;                                                                         \
      }                                                                                             \
      ends[lid] = total;                                                                            \
      for (int step = 1; step < size; step *= 2) {                                                  \
        barrier(CLK_LOCAL_MEM_FENCE);                                                               \
        const wide_t before = lid >= step ? ends[lid - step] : (wide_t)IDENTITY;                    \
        barrier(CLK_LOCAL_MEM_FENCE);                                                               \
        ends[lid] = COMBINE(before, ends[lid]);                                                     \
      }                                                                                             \
      barrier(CLK_LOCAL_MEM_FENCE);                                                                 \
      const wide_t start = COMBINE(carried, lid > 0 ? ends[lid - 1] : (wide_t)IDENTITY);            \
      for (int i = 0; i < PER_ITEM; ++i) {                                                          \
        const long k = tile + lid * PER_ITEM + i;                                                   \
        if (k < n) STORE(y, first + AT(k), COMBINE(start, running[i]));                             \
      }                                                                                             \
      carried = COMBINE(carried, ends[size - 1]);                                                   \
      barrier(CLK_LOCAL_MEM_FENCE);                                                                 \
    }                                                                                               \
  }

ROWS_KERNEL(cumsum, 0, ADD)
ROWS_KERNEL(cumprod, 1, MULTIPLY)
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
