// Normalisation of the rows of x [rows, n], every row by its own mean and deviation (layer norm, group norm)
// or by its root mean square. Macros: STORAGE, REAL, LOAD, STORE (dtype_defines of x);
//   CENTERED   whether rows have a mean. A branch on `mean` would hold barriers, and PoCL 3.1 crashes in some
//              that do (docs/driver-faults.md);
//   WIDTH      of shape simt: elements that an item reads at once (moments.cl); and
//   BY_ELEMENT whether each element of a row has a weight of its own, else WIDTH neighbours have one in common.
//
// Shape cpu: a work item takes a range of rows. Shape simt: a line of a work group takes a row.
#include "core/common.cl"
#include "core/group.cl"
#include "core/vectors.cl"
#include "ops/norm/moments.cl"
#include "ops/norm/norm_shared.h"

#pragma OPENCL FP_CONTRACT OFF  // the gradient of a row of one element is a difference of equal products: 0

inline int first_weight(RowNormExtents e, long row) {
  return (int)(row % e.period * e.weights);
}

// The shift and the scale of a row.
typedef struct {
  REAL mean, scale;
} statistics_t;

// `deviation`: the mean square of the distances from the center, which is 0 where there is no `mean`.
inline statistics_t finish_statistics(ACC center, ACC deviation, REAL eps, bool stores, long row,
                                      __global REAL* mean, __global REAL* invstd) {
  statistics_t s;
  s.mean = center;
  s.scale = 1 / sqrt(deviation + (ACC)eps);
  if (stores) {
    if (mean) mean[row] = s.mean;
    invstd[row] = s.scale;
  }
  return s;
}

// dx = (g - along_g - (x - mean) along_x) * scale, with g = dy * weight
typedef struct {
  REAL mean, scale, along_g, along_x;
} input_gradient_t;

inline input_gradient_t finish_gradient(ACC sum_g, ACC sum_g_x, int n, int is_centered, REAL mean,
                                        REAL invstd) {
  input_gradient_t r;
  r.mean = mean;
  r.scale = invstd;
  r.along_g = is_centered ? sum_g / n : 0;
  r.along_x = sum_g_x * invstd * invstd / n;
  return r;
}

#define NORMALISED(v, s) (((v) - (s).mean) * (s).scale)
#define INPUT_GRADIENT(V, r, g, x) (fma((x) - (r).mean, (V)(-(r).along_x), (g) - (r).along_g) * (r).scale)

#if SHAPE_CPU

// The pieces of a row over which a weight is the same, or the whole row where every element has a weight of
// its own.
inline int piece_length(RowNormExtents e, int has_weights) {
  return !has_weights || e.weights == e.n ? e.n : (int)(e.n / e.weights);
}

inline void normalise_by_element(const __global STORAGE* restrict x, const __global STORAGE* restrict weight,
                                 const __global STORAGE* restrict bias, __global STORAGE* restrict y, int n,
                                 statistics_t s) {
  const int whole = n & ~15;
  for (int i = 0; i < whole; i += 16) {
    REAL16 v = NORMALISED(LOAD16(x, i), s);
    if (weight) v *= LOAD16(weight, i);
    if (bias) v += LOAD16(bias, i);
    STORE16(y, i, v);
  }
  for (int i = whole; i < n; ++i) {
    REAL v = NORMALISED(LOAD(x, i), s);
    if (weight) v *= LOAD(weight, i);
    if (bias) v += LOAD(bias, i);
    STORE(y, i, v);
  }
}

inline void normalise_piece(const __global STORAGE* restrict x, __global STORAGE* restrict y, int n,
                            statistics_t s, REAL weight, REAL bias) {
  const REAL scale = s.scale * weight;
  const int whole = n & ~15;
  for (int i = 0; i < whole; i += 16) STORE16(y, i, fma(LOAD16(x, i) - s.mean, (REAL16)scale, (REAL16)bias));
  for (int i = whole; i < n; ++i) STORE(y, i, fma(LOAD(x, i) - s.mean, scale, bias));
}

// Squares are summed as they are where there is no mean: an infinite element makes their sum infinite, while
// the distances from a mean would be NaN.
inline statistics_t row_statistics(const __global STORAGE* x, int n, REAL eps, long row, __global REAL* mean,
                                   __global REAL* invstd) {
  if (!mean) return finish_statistics(0, plane_gradient_sums(x, x, 0, 0, n).dy_x / n, eps, true, row, mean, invstd);
  const moments_t all = plane_moments(x, n);
  return finish_statistics(all.mean, all.m2 / all.count, eps, true, row, mean, invstd);
}

#define FOR_MY_ROWS(row)                                                     \
  const long end_row = e.rows * (get_global_id(0) + 1) / get_global_size(0); \
  for (long row = e.rows * get_global_id(0) / get_global_size(0); row < end_row; ++row)

__kernel void row_norm_forward(BUFFER(const STORAGE, x), const RowNormExtents e, BUFFER(const STORAGE, weight),
                               BUFFER(const STORAGE, bias), const REAL eps, BUFFER(STORAGE, y),
                               BUFFER(REAL, mean), BUFFER(REAL, invstd)) {
  BIND(REAL, invstd);
  __global const STORAGE *weight = OPTIONAL(weight), *bias = OPTIONAL(bias);
  const int piece = piece_length(e, weight || bias);
  FOR_MY_ROWS(row) {
    __global const STORAGE* x = x_buffer + x_start + row * e.n;
    __global STORAGE* y = y_buffer + y_start + row * e.n;
    const statistics_t s = row_statistics(x, e.n, eps, row, OPTIONAL(mean), invstd);
    const int first = first_weight(e, row);
    if (piece == e.n && e.weights > 1)
      normalise_by_element(x, weight ? weight + first : 0, bias ? bias + first : 0, y, e.n, s);
    else
      for (int start = 0, k = first; start < e.n; start += piece, ++k)
        normalise_piece(x + start, y + start, piece, s, weight ? LOAD(weight, k) : (REAL)1,
                        bias ? LOAD(bias, k) : (REAL)0);
  }
}

// Rows whose weight is that of every element, or 1.
inline void gradient_by_element(const __global STORAGE* restrict dy, const __global STORAGE* restrict x,
                                const __global STORAGE* restrict weight, __global STORAGE* restrict dx, int n,
                                input_gradient_t r) {
  const int whole = n & ~15;
  for (int i = 0; i < whole; i += 16) {
    const REAL16 g = weight ? LOAD16(dy, i) * LOAD16(weight, i) : LOAD16(dy, i);
    STORE16(dx, i, fma(LOAD16(x, i) - r.mean, (REAL16)(-r.along_x), g - r.along_g) * r.scale);
  }
  for (int i = whole; i < n; ++i)
    STORE(dx, i, INPUT_GRADIENT(REAL, r, weight ? LOAD(dy, i) * LOAD(weight, i) : LOAD(dy, i), LOAD(x, i)));
}

inline void gradient_of_piece(const __global STORAGE* restrict dy, const __global STORAGE* restrict x,
                              REAL weight, __global STORAGE* restrict dx, int n, input_gradient_t r) {
  const int whole = n & ~15;
  for (int i = 0; i < whole; i += 16)
    STORE16(dx, i,
            fma(LOAD16(x, i) - r.mean, (REAL16)(-r.along_x), LOAD16(dy, i) * weight - r.along_g) * r.scale);
  for (int i = whole; i < n; ++i) STORE(dx, i, INPUT_GRADIENT(REAL, r, LOAD(dy, i) * weight, LOAD(x, i)));
}

inline void weight_terms_of_row(const __global STORAGE* restrict dy, const __global STORAGE* restrict x,
                                __global REAL* restrict terms, int n, statistics_t s) {
  const int whole = n & ~15;
  for (int i = 0; i < whole; i += 16) vstore16(LOAD16(dy, i) * NORMALISED(LOAD16(x, i), s), 0, terms + i);
  for (int i = whole; i < n; ++i) terms[i] = LOAD(dy, i) * NORMALISED(LOAD(x, i), s);
}

__kernel void row_norm_backward(BUFFER(const STORAGE, dy), BUFFER(const STORAGE, x), const RowNormExtents e,
                                BUFFER(const STORAGE, weight), BUFFER(const REAL, mean),
                                BUFFER(const REAL, invstd), BUFFER(STORAGE, dx), BUFFER(REAL, weight_terms)) {
  BIND(const REAL, invstd);
  __global const STORAGE* weight = OPTIONAL(weight);
  __global const REAL* mean = OPTIONAL(mean);
  __global REAL* terms = OPTIONAL(weight_terms);
  const int piece = piece_length(e, weight != 0), by_element = piece == e.n && (!weight || e.weights > 1);
  FOR_MY_ROWS(row) {
    __global const STORAGE *dy = dy_buffer + dy_start + row * e.n, *x = x_buffer + x_start + row * e.n;
    const statistics_t s = {mean ? mean[row] : (REAL)0, invstd[row]};
    if (terms) weight_terms_of_row(dy, x, terms + row * e.n, e.n, s);
    __global STORAGE* dx = dx_buffer + dx_start + row * e.n;
    const __global STORAGE* own = weight ? weight + first_weight(e, row) : 0;
    ACC sum_g = 0, sum_g_x = 0;
    for (int start = 0, k = 0; start < e.n; start += piece, ++k) {
      const gradient_sums_t sums =
          plane_gradient_sums(dy + start, x + start, by_element ? own : 0, s.mean, piece);
      const REAL factor = by_element ? (REAL)1 : (REAL)LOAD(own, k);
      sum_g += sums.dy * factor;
      sum_g_x += sums.dy_x * factor;
    }
    const input_gradient_t r = finish_gradient(sum_g, sum_g_x, e.n, mean != 0, s.mean, s.scale);
    if (by_element)
      gradient_by_element(dy, x, own, dx, e.n, r);
    else
      for (int start = 0, k = 0; start < e.n; start += piece, ++k)
        gradient_of_piece(dy + start, x + start, LOAD(own, k), dx + start, piece, r);
  }
}

#else

#if BY_ELEMENT
#define WEIGHTS(p, i) LOAD_VALUES(p, first / WIDTH + (i))
#else
#define WEIGHTS(p, i) (REAL) LOAD(p, first + (i) * WIDTH / span)
#endif
#define PIECES_OF(row) ((row) < e.rows ? e.n / WIDTH : 0)

__kernel void row_norm_forward(BUFFER(const STORAGE, x), const RowNormExtents e, BUFFER(const STORAGE, weight),
                               BUFFER(const STORAGE, bias), const REAL eps, BUFFER(STORAGE, y),
                               BUFFER(REAL, mean), BUFFER(REAL, invstd)) {
  BIND(REAL, invstd);
  __global const STORAGE *weight = OPTIONAL(weight), *bias = OPTIONAL(bias);
  const long row = ROW_OF_LINE;
  const int lid = get_local_id(0), size = get_local_size(0);
  __global const STORAGE* x = x_buffer + x_start + row * e.n;
  __global STORAGE* y = y_buffer + y_start + row * e.n;
  const int pieces = PIECES_OF(row);
  const bool stores = lid == 0 && pieces > 0;
#define VALUE(i) LOAD_VALUES(x, i)
#if CENTERED
  __local ACC shared[MAX_GROUP];
  moments_t mine = no_moments();
  ITEM_MOMENTS(mine, lid, pieces, size, VALUE)
  const moments_t all = group_moments(mine, e.n, OF_LINE(shared));
  const statistics_t s =
      finish_statistics(all.mean, all.m2 / all.count, eps, stores, row, OPTIONAL(mean), invstd);
#else
  __local REAL2 shared[MAX_GROUP];
  REAL2 mine = 0;
  ITEM_GRADIENT_SUMS(mine, lid, pieces, size, VALUE, VALUE, KEEP_NOTHING)
  const statistics_t s =
      finish_statistics(0, (ACC)group_sums(mine, OF_LINE(shared)).y / e.n, eps, stores, row, 0, invstd);
#endif
  const int first = first_weight(e, row), span = (int)(e.n / e.weights);
  for (int i = lid; i < pieces; i += size) {
    VALUES v = NORMALISED(LOAD_VALUES(x, i), s);
    if (weight) v *= WEIGHTS(weight, i);
    if (bias) v += WEIGHTS(bias, i);
    STORE_VALUES(y, i, v);
  }
}

__kernel void row_norm_backward(BUFFER(const STORAGE, dy), BUFFER(const STORAGE, x), const RowNormExtents e,
                                BUFFER(const STORAGE, weight), BUFFER(const REAL, mean),
                                BUFFER(const REAL, invstd), BUFFER(STORAGE, dx), BUFFER(REAL, weight_terms)) {
  BIND(const REAL, invstd);
  __global const STORAGE* weight = OPTIONAL(weight);
  __global const REAL* mean = OPTIONAL(mean);
  __global REAL* terms = OPTIONAL(weight_terms);
  __local REAL2 shared[MAX_GROUP];
  const long row = ROW_OF_LINE;
  const int lid = get_local_id(0), size = get_local_size(0);
  __global const STORAGE *dy = dy_buffer + dy_start + row * e.n, *x = x_buffer + x_start + row * e.n;
  const long known = min(row, e.rows - 1);
  const statistics_t s = {mean ? mean[known] : (REAL)0, invstd[known]};
  const int pieces = PIECES_OF(row);
  if (terms)
    for (int i = lid; i < pieces; i += size)
      ((__global VALUES *)(terms + row * e.n))[i] = LOAD_VALUES(dy, i) * NORMALISED(LOAD_VALUES(x, i), s);
  const int first = first_weight(e, row), span = (int)(e.n / e.weights);
  REAL2 mine = 0;
#define DY(i) (weight ? LOAD_VALUES(dy, i) * WEIGHTS(weight, i) : LOAD_VALUES(dy, i))
#define DISTANCE(i) LOAD_VALUES(x, i) - s.mean
  ITEM_GRADIENT_SUMS(mine, lid, pieces, size, DY, DISTANCE, KEEP_NOTHING)
  const REAL2 sums = group_sums(mine, OF_LINE(shared));
  const input_gradient_t r = finish_gradient(sums.x, sums.y, e.n, mean != 0, s.mean, s.scale);
  __global STORAGE* dx = dx_buffer + dx_start + row * e.n;
  for (int i = lid; i < pieces; i += size) STORE_VALUES(dx, i, INPUT_GRADIENT(VALUES, r, DY(i), LOAD_VALUES(x, i)));
}

#endif
