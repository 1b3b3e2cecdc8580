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
