// Max pooling. Needs core/vectors.cl, for numbers with fractions and on a GPU core/vectors4.cl too, and
// ops/pool/window.cl.
#include "core/in_vectors.cl"

#define PLACE4 JOIN(PLACE, 4)

typedef struct {
  REAL value;
  int place;
} maximum_t;

inline void take_value(maximum_t *best, REAL value, int place) {
  if (value > best->value || IS_NAN(value)) {
    best->value = value;
    best->place = place;
  }
}

inline void take(maximum_t *best, const __global STORAGE *plane, int place) {
  take_value(best, LOAD(plane, place), place);
}

#if SHAPE_CPU
#define ROW_LANES 16
#define FURTHER(best, value) ((((value) > (best)) | ((value) != (value))) ? (value) : (best))

// Takes `count` neighbours, at least one: their own largest first, in vectors, and the place of one that is new.
inline void take_row(maximum_t *best, const __global STORAGE *plane, int first, int count) {
  REAL lanes[ROW_LANES];
  for (int l = 0; l < ROW_LANES; ++l) lanes[l] = LOAD(plane, first);
  int i = 0;
  for (; i + ROW_LANES <= count; i += ROW_LANES)
    IN_VECTORS(ROW_LANES) for (int l = 0; l < ROW_LANES; ++l) {
      const REAL value = LOAD(plane, first + i + l);
      lanes[l] = FURTHER(lanes[l], value);
    }
  for (; i < count; ++i) lanes[0] = FURTHER(lanes[0], (REAL)LOAD(plane, first + i));
  for (int l = 1; l < ROW_LANES; ++l) lanes[0] = FURTHER(lanes[0], lanes[l]);
  if (IS_NAN(lanes[0])) {
    for (i = 0; i < count; ++i) take(best, plane, first + i);
  } else if (lanes[0] > best->value) {
    for (i = 0; LOAD(plane, first + i) != lanes[0];) ++i;
    best->value = lanes[0];
    best->place = first + i;
  }
}
#endif

inline maximum_t window_maximum(const __global STORAGE *plane, const PoolWindow *w, int od, int oh, int ow) {
  const span_t slices = window_slices(w, od), rows = window_span(w, 0, oh), columns = window_span(w, 1, ow);
  maximum_t best;
  best.value = LEAST;
  best.place = place_of(w->size, slices.first, rows.first, columns.first);
  FOR_SLICES(d, slices)
  for (int h = rows.first; h < rows.end; h += rows.step) {
#if SHAPE_CPU
    if (columns.step == 1 && columns.end - columns.first >= ROW_LANES) {
      take_row(&best, plane, place_of(w->size, d, h, columns.first), columns.end - columns.first);
      continue;
    }
#endif
    for (int c = columns.first; c < columns.end; c += columns.step) take(&best, plane, place_of(w->size, d, h, c));
  }
  return best;
}

// The gradient of the input element at `place`: the dy of those windows whose maximum it was.
inline REAL gradient_of_windows(const __global STORAGE *dy, const __global PLACE *indices, const PoolWindow *w,
                                int place, const span_t slices, const span_t rows, const span_t columns) {
  REAL sum = 0;
  FOR_SLICES(od, slices)
  for (int oh = rows.first; oh < rows.end; ++oh)
    for (int ow = columns.first; ow < columns.end; ++ow) {
      const int out = place_of(w->out, od, oh, ow);
      if (indices[out] == place) sum += LOAD(dy, out);
    }
  return sum;
}

inline REAL maximum_gradient(const __global STORAGE *dy, const __global PLACE *indices, const PoolWindow *w, int d,
                             int h, int c) {
  return gradient_of_windows(dy, indices, w, place_of(w->size, d, h, c), covering_slices(w, d),
                             covering_windows(w, 0, h), covering_windows(w, 1, c));
}

#if SHAPE_CPU

#if !WHOLE
#define REAL8 JOIN(REAL, 8)
#define STRIP 64  // outputs that are worked on together

// Keeps the larger of best and v, with its place; a NaN is larger than all.
#define TAKE_LARGER(best, place, v, v_place)                    \
  {                                                             \
    const REAL candidate = v;                                   \
    const int larger = (candidate > best) | (candidate != candidate); /* no branch */    \
    best = larger ? candidate : best;                           \
    place = select(place, v_place, larger);                     \
  }

inline void take_larger8(REAL8 *best, int8 *place, REAL8 v, int8 v_place) {
  *place = select(*place, v_place, convert_int8((v > *best) | (v != v)));
  *best = ((v > *best) | (v != v)) ? v : *best;
}

#define EACH_OF_8 0, 1, 2, 3, 4, 5, 6, 7

// Eight windows of 2 by 2 from column 2 * ow on; `place` is that of the first window's first element.
inline void maximum_eight_2x2(const __global STORAGE *x, __global STORAGE *y, __global PLACE *indices, int width,
                              int place) {
  const REAL16 upper = LOAD16(x, 0), lower = LOAD16(x, width);
  const int8 first = place + (int8)(0, 2, 4, 6, 8, 10, 12, 14);
  REAL8 best = -INFINITY;
  int8 best_place = first;
  take_larger8(&best, &best_place, upper.even, first);
  take_larger8(&best, &best_place, upper.odd, first + 1);
  take_larger8(&best, &best_place, lower.even, first + width);
  take_larger8(&best, &best_place, lower.odd, first + width + 1);
#if EXACT_STORAGE
  vstore8(best, 0, y);
#else
  for (int lane = 0; lane < 8; ++lane) STORE(y, lane, ((REAL *)&best)[lane]);
#endif
  if (indices) vstore8(JOIN(convert_, JOIN(PLACE, 8))(best_place), 0, indices);
}

// Windows of 2 by 2 side by side, none of which leaves the plane.
inline void maximum_plane_2x2(const __global STORAGE *restrict x, __global STORAGE *restrict y,
                              __global PLACE *restrict indices, const PoolWindow *w) {
  const int width = w->size[1], out_h = w->out[0], out_w = w->out[1];
  for (int oh = 0; oh < out_h; ++oh) {
    const int row = 2 * oh * width, out = oh * out_w;
    int ow = 0;
    if (out_w >= 8)
      // The last eight may take some windows again.
      for (; ow < out_w; ow += 8) {
        const int at = min(ow, out_w - 8);
        maximum_eight_2x2(x + row + 2 * at, y + out + at, indices ? indices + out + at : 0, width, row + 2 * at);
      }
    for (; ow < out_w; ++ow) {
      const int first = row + 2 * ow;
      REAL best = -INFINITY;
      int place = first;
      TAKE_LARGER(best, place, LOAD(x, first), first);
      TAKE_LARGER(best, place, LOAD(x, first + 1), first + 1);
      TAKE_LARGER(best, place, LOAD(x, first + width), first + width);
      TAKE_LARGER(best, place, LOAD(x, first + width + 1), first + width + 1);
      STORE(y, out + ow, best);
      if (indices) indices[out + ow] = place;
    }
  }
}

// Outputs [first, end) of row `oh` of slice `od`, one input position of all windows after the other, so that the inner
// loop is simple.
inline void maximum_strip(const __global STORAGE *restrict x, __global STORAGE *restrict y,
                          __global PLACE *restrict indices, const PoolWindow *w, int od, int oh, int first, int end) {
  REAL best[STRIP + 8];  // vectors may go beyond a strip's end
  int place[STRIP + 8];
  const span_t slices = window_slices(w, od), rows = window_span(w, 0, oh);
  const int width = w->size[1], stride = w->stride[1];
  for (int ow = first; ow < end; ++ow) {
    best[ow - first] = -INFINITY;
    place[ow - first] = place_of(w->size, slices.first, rows.first, window_span(w, 1, ow).first);
  }
  FOR_SLICES(d, slices)
  for (int h = rows.first; h < rows.end; h += rows.step)
    for (int k = 0; k < w->kernel_size[1]; ++k) {
      // The windows whose k-th column lies inside: 0 <= ow * stride + shift < width.
      const int shift = k * w->dilation[1] - w->padding[1];
      const int from = max(first, shift < 0 ? (-shift + stride - 1) / stride : 0);
      const int to = min(end, shift < width ? (width - 1 - shift) / stride + 1 : 0);
      const int base = place_of(w->size, d, h, shift);
      int ow = from;
      // Eight windows at a time, as long as the load stays inside the plane; windows from `to` on keep what they have.
      if (stride <= 2)
        for (; ow < to && base + ow * stride + 15 < plane_elements(w->size); ow += 8) {
          const int at = base + ow * stride;
          const REAL16 loaded = LOAD16(x, at);
          const REAL8 met =
              (REAL8)(EACH_OF_8) < (REAL8)(to - ow) ? (stride == 2 ? loaded.even : loaded.lo) : (REAL8)(-INFINITY);
          REAL8 strip = vload8(0, best + ow - first);
          int8 strip_place = vload8(0, place + ow - first);
          take_larger8(&strip, &strip_place, met, at + stride * (int8)(EACH_OF_8));
          vstore8(strip, 0, best + ow - first);
          vstore8(strip_place, 0, place + ow - first);
        }
      for (; ow < to; ++ow) {
        const int at = base + ow * stride;
        TAKE_LARGER(best[ow - first], place[ow - first], LOAD(x, at), at);
      }
    }
  const int out = place_of(w->out, od, oh, 0);
  for (int ow = first; ow < end; ++ow) STORE(y, out + ow, best[ow - first]);
  if (indices)
    for (int ow = first; ow < end; ++ow) indices[out + ow] = place[ow - first];
}

// Row by row, in strips.
inline void maximum_plane_strips(const __global STORAGE *restrict x, __global STORAGE *restrict y,
                                 __global PLACE *restrict indices, const PoolWindow *w) {
  for (int od = 0; od < slices_of(w->out); ++od)
    for (int oh = 0; oh < w->out[0]; ++oh)
      for (int first = 0; first < w->out[1]; first += STRIP)
        maximum_strip(x, y, indices, w, od, oh, first, min(first + STRIP, w->out[1]));
}

#endif

inline void maximum_plane_windows(const __global STORAGE *restrict x, __global STORAGE *restrict y,
                                  __global PLACE *restrict indices, const PoolWindow *w) {
  int out = 0;
  for (int od = 0; od < slices_of(w->out); ++od)
    for (int oh = 0; oh < w->out[0]; ++oh)
      for (int ow = 0; ow < w->out[1]; ++ow, ++out) {
        const maximum_t best = window_maximum(x, w, od, oh, ow);
        STORE(y, out, best.value);
        if (indices) indices[out] = best.place;
      }
}

// A forward kernel that gives whole planes to maximum_plane_WAY.
#define FORWARD_BY_PLANES(WAY)                                                                                  \
  __kernel void max_pool2d_forward_##WAY(BUFFER(const STORAGE, x), BUFFER(STORAGE, y), BUFFER(PLACE, indices),    \
                                         const long planes, const PoolWindow w) {                               \
    BIND(const STORAGE, x);                                                                                     \
    BIND(STORAGE, y);                                                                                           \
    BIND(PLACE, indices);                                                                                         \
    const long in_count = plane_elements(w.size), out_count = plane_elements(w.out);                            \
    FOR_PLANES(plane, planes)                                                                                   \
    maximum_plane_##WAY(x + plane * in_count, y + plane * out_count,                                            \
                        indices_buffer ? indices + plane * out_count : 0, &w);                                  \
  }
#if !WHOLE
FORWARD_BY_PLANES(2x2)
FORWARD_BY_PLANES(strips)
#endif
FORWARD_BY_PLANES(windows)

#if EXACT_STORAGE
__kernel void max_pool2d_backward_scatter(BUFFER(const STORAGE, dy), BUFFER(const PLACE, indices), BUFFER(STORAGE, dx),
                                          const long planes, const PoolWindow w) {
  const int in_count = (int)plane_elements(w.size), out_count = (int)plane_elements(w.out);
  FOR_PLANES(plane, planes) {
    __global const STORAGE *restrict gradients = dy_buffer + dy_start + plane * out_count;
    __global const PLACE *restrict places = indices_buffer + indices_start + plane * out_count;
    __global STORAGE *restrict sums = dx_buffer + dx_start + plane * in_count;
    for (int i = 0; i < in_count; ++i) sums[i] = 0;
    for (int i = 0; i < out_count; ++i) {
      const PLACE place = places[i];
      if (place >= 0 && place < in_count) sums[place] += gradients[i];
    }
  }
}
#endif

#else

__kernel void max_pool2d_forward_windows(BUFFER(const STORAGE, x), BUFFER(STORAGE, y), BUFFER(PLACE, indices),
                                         const long planes, const PoolWindow w) {
  BIND(const STORAGE, x);
  BIND(STORAGE, y);
  BIND(PLACE, indices);
  const ulong id = get_global_id(0);
  const element_t e = element_of(id, w.out);
  if (e.plane >= planes) return;
  const maximum_t best = window_maximum(x + e.plane * plane_elements(w.size), &w, e.d, e.h, e.w);
  STORE(y, id, best.value);
  if (indices_buffer) indices[id] = best.place;
}

#if !WHOLE
// Windows of 2 by 2 that cover planes, a multiple of four in a row: an item takes four neighbours, eight columns of two
// rows.
typedef struct {
  ulong plane, upper, lower;  // the eight columns in fours of elements
  int place;                  // of the first in its plane
} four_windows_t;

inline four_windows_t four_windows(const PoolWindow *w) {
  const int fours[3] = {w->out[0], w->out[1] / 4, 1};
  const element_t e = element_of(get_global_id(0), fours);
  four_windows_t four;
  four.plane = e.plane;
  four.place = 2 * e.h * w->size[1] + 8 * e.w;
  four.upper = (e.plane * plane_elements(w->size) + four.place) / 4;
  four.lower = four.upper + w->size[1] / 4;
  return four;
}

inline maximum_t maximum_2x2(REAL2 upper, REAL2 lower, int place, int width) {
  maximum_t best;
  best.value = LEAST;
  best.place = place;
  take_value(&best, upper.x, place);
  take_value(&best, upper.y, place + 1);
  take_value(&best, lower.x, place + width);
  take_value(&best, lower.y, place + width + 1);
  return best;
}

__kernel void max_pool2d_forward_2x2(BUFFER(const STORAGE, x), BUFFER(STORAGE, y), BUFFER(PLACE, indices),
                                     const long planes, const PoolWindow w) {
  BIND(const STORAGE, x);
  BIND(STORAGE, y);
  BIND(PLACE, indices);
  const four_windows_t four = four_windows(&w);
  if (four.plane >= planes) return;
  const int width = w.size[1];
  maximum_t best[4];
  for (int i = 0; i < 2; ++i) {
    const REAL4 upper = LOAD4(x, four.upper + i), lower = LOAD4(x, four.lower + i);
    best[2 * i] = maximum_2x2(upper.lo, lower.lo, four.place + 4 * i, width);
    best[2 * i + 1] = maximum_2x2(upper.hi, lower.hi, four.place + 4 * i + 2, width);
  }
  const ulong id = get_global_id(0);
  STORE4(y, id, (REAL4)(best[0].value, best[1].value, best[2].value, best[3].value));
  if (indices_buffer)
    ((__global PLACE4 *)indices)[id] = (PLACE4)(best[0].place, best[1].place, best[2].place, best[3].place);
}

__kernel void max_pool2d_backward_2x2(BUFFER(const STORAGE, dy), BUFFER(const PLACE, indices), BUFFER(STORAGE, dx),
                                      const long planes, const PoolWindow w) {
  BIND(const STORAGE, dy);
  BIND(const PLACE, indices);
  BIND(STORAGE, dx);
  const four_windows_t four = four_windows(&w);
  if (four.plane >= planes) return;
  const ulong id = get_global_id(0);
  const REAL4 gradient = LOAD4(dy, id);
  // Where each window's maximum stands, from the window's first element on.
  const PLACE4 offset = ((const __global PLACE4 *)indices)[id] - (PLACE4)(0, 2, 4, 6) - (PLACE)four.place;
#define GRADIENTS_AT(lanes, from)                                                                          \
  (REAL4)(offset.lanes.x == (from) ? gradient.lanes.x : 0, offset.lanes.x == (from) + 1 ? gradient.lanes.x : 0, \
          offset.lanes.y == (from) ? gradient.lanes.y : 0, offset.lanes.y == (from) + 1 ? gradient.lanes.y : 0)
  STORE4(dx, four.upper, GRADIENTS_AT(lo, 0));
  STORE4(dx, four.upper + 1, GRADIENTS_AT(hi, 0));
  STORE4(dx, four.lower, GRADIENTS_AT(lo, w.size[1]));
  STORE4(dx, four.lower + 1, GRADIENTS_AT(hi, w.size[1]));
#undef GRADIENTS_AT
}
#endif

#endif

__kernel void max_pool2d_backward_gather(BUFFER(const STORAGE, dy), BUFFER(const PLACE, indices), BUFFER(STORAGE, dx),
                                         const long planes, const PoolWindow w) {
  BIND(const STORAGE, dy);
  BIND(const PLACE, indices);
  BIND(STORAGE, dx);
  const long out_count = plane_elements(w.out);
#if SHAPE_CPU
  FOR_PLANES(plane, planes)
  for (int d = 0; d < slices_of(w.size); ++d)
    for (int h = 0; h < w.size[0]; ++h)
      for (int c = 0; c < w.size[1]; ++c)
        STORE(dx, plane * plane_elements(w.size) + place_of(w.size, d, h, c),
              maximum_gradient(dy + plane * out_count, indices + plane * out_count, &w, d, h, c));
#else
  const ulong id = get_global_id(0);
  const element_t e = element_of(id, w.size);
  if (e.plane >= planes) return;
  const ulong first = e.plane * out_count;
  STORE(dx, id, maximum_gradient(dy + first, indices + first, &w, e.d, e.h, e.w));
#endif
}

#if SHAPE_SIMT
// The gradient where windows are not adaptive: an item takes a cell.
__kernel void max_pool2d_backward_cells(BUFFER(const STORAGE, dy), BUFFER(const PLACE, indices), BUFFER(STORAGE, dx),
                                        const long planes, const PoolWindow w) {
  const int cells[3] = {count_of_cells(&w, 0), count_of_cells(&w, 1), count_of_cells(&w, POOL_DEPTH)};
  const element_t e = element_of(get_global_id(0), cells);
  if (e.plane >= planes) return;
  const ulong first = e.plane * plane_elements(w.out);
  __global const STORAGE *gradients = dy_buffer + dy_start + first;
  __global const PLACE *places = indices_buffer + indices_start + first;
  __global STORAGE *plane = dx_buffer + dx_start + e.plane * plane_elements(w.size);
#if HAS_DEPTH
  for (int k = 0; k < w.stride[POOL_DEPTH]; ++k) {
    const int d = e.d * w.stride[POOL_DEPTH] + k - w.padding[POOL_DEPTH];
    if (d < 0 || d >= w.size[POOL_DEPTH]) continue;
    const span_t slices = windows_of_cell(&w, POOL_DEPTH, e.d, k);
#else
  {
    const int d = 0;
    const span_t slices = window_slices(&w, 0);
#endif
    for (int i = 0; i < w.stride[0]; ++i) {
      const int h = e.h * w.stride[0] + i - w.padding[0];
      if (h < 0 || h >= w.size[0]) continue;
      const span_t rows = windows_of_cell(&w, 0, e.h, i);
      for (int j = 0; j < w.stride[1]; ++j) {
        const int c = e.w * w.stride[1] + j - w.padding[1];
        if (c < 0 || c >= w.size[1]) continue;
        const int place = place_of(w.size, d, h, c);
        STORE(plane, place,
              gradient_of_windows(gradients, places, &w, place, slices, rows, windows_of_cell(&w, 1, e.w, j)));
      }
    }
  }
}
#endif
