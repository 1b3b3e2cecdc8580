// Average pooling. Needs ops/pool/window.cl.

// Elements of window `out` along one axis, with the padding (but nothing beyond it) counted.
inline int padded_extent(const PoolWindow *w, int axis, int out) {
  const int start = out * w->stride[axis] - w->padding[axis];
  return min(start + w->kernel_size[axis], w->size[axis] + w->padding[axis]) - start;
}

// The elements that one window covers.
typedef struct {
  int od, oh, ow;
  span_t slices, rows, columns;
} window_t;

inline window_t window_at(const PoolWindow *w, int od, int oh, int ow) {
  const window_t at = {od, oh, ow, window_slices(w, od), window_span(w, 0, oh), window_span(w, 1, ow)};
  return at;
}

inline bool is_empty(const window_t *at) {
  return at->slices.first >= at->slices.end || at->rows.first >= at->rows.end || at->columns.first >= at->columns.end;
}

inline REAL window_divisor(const PoolWindow *w, const PoolDivisor *d, const window_t *at) {
  if (d->of_all) return d->of_all;
  if (d->count_include_pad && !w->adaptive)
    return (long)(HAS_DEPTH ? padded_extent(w, POOL_DEPTH, at->od) : 1) * padded_extent(w, 0, at->oh) *
           padded_extent(w, 1, at->ow);
  return (long)(at->slices.end - at->slices.first) * (at->rows.end - at->rows.first) *
         (at->columns.end - at->columns.first);
}

// Summed by rows, and these by slices, so that no chain of additions grows with the window's area.
inline REAL window_average(const __global STORAGE *plane, const PoolWindow *w, const PoolDivisor *d,
                           const window_t *at) {
  if (is_empty(at)) return 0;
  REAL sum = 0;
  FOR_SLICES(slice, at->slices) {
    REAL slice_sum = 0;
    for (int h = at->rows.first; h < at->rows.end; ++h) {
      REAL row_sum = 0;
      for (int c = at->columns.first; c < at->columns.end; ++c) row_sum += LOAD(plane, place_of(w->size, slice, h, c));
      slice_sum += row_sum;
    }
    sum += slice_sum;
  }
  return sum / window_divisor(w, d, at);
}

#if SHAPE_CPU

#if WHOLE

inline void average_plane(const __global STORAGE *x, const long readable, const PoolWindow *w, const PoolDivisor *d,
                          __global STORAGE *y) {
  int out = 0;
  for (int od = 0; od < slices_of(w->out); ++od)
    for (int oh = 0; oh < w->out[0]; ++oh)
      for (int ow = 0; ow < w->out[1]; ++ow, ++out) {
        const window_t at = window_at(w, od, oh, ow);
        STORE(y, out, window_average(x, w, d, &at));
      }
}

#else

// The average of a wide window, in vectors along its rows. Of a plane with `readable` elements from its first to the
// tensor's end.
inline REAL wide_window_average(const __global STORAGE *plane, const long readable, const PoolWindow *w,
                                const PoolDivisor *d, const window_t *at_window) {
  if (is_empty(at_window)) return 0;
  const span_t rows = at_window->rows, columns = at_window->columns;
  const REAL16 lane = (REAL16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  REAL16 sums = 0;
  FOR_SLICES(slice, at_window->slices) {
    REAL16 slice_sums = 0;
    for (int h = rows.first; h < rows.end; ++h) {
      REAL16 row_sums = 0;
      for (int c = columns.first; c < columns.end; c += 16) {
        const long at = place_of(w->size, slice, h, c);
        const int count = columns.end - c;
        const REAL16 values =
            at + 16 <= readable ? LOAD16(plane, at) : LOAD_UP_TO16(plane, at, (int)min(readable - at, 16L), 0);
        row_sums += lane < (REAL16)(count) ? values : (REAL16)(0);
      }
      slice_sums += row_sums;
    }
    sums += slice_sums;
  }
  return sum16(sums) / window_divisor(w, d, at_window);
}

// Eight windows of 2 by 2, side by side, from column 0 of x on.
inline JOIN(REAL, 8) eight_averages_2x2(const __global STORAGE *x, const int width, const REAL divisor) {
  const REAL16 upper = LOAD16(x, 0), lower = LOAD16(x, width);
  return ((upper.even + upper.odd) + (lower.even + lower.odd)) / divisor;
}

inline void average_plane(const __global STORAGE *x, const long readable, const PoolWindow *w, const PoolDivisor *d,
                          __global STORAGE *y) {
  const int out_w = w->out[1], width = w->size[1];
  const bool is_wide = w->adaptive ? width >= 16 * out_w : w->kernel_size[1] >= 16;
  const bool is_2x2 = !HAS_DEPTH && !w->adaptive && w->kernel_size[0] == 2 && w->kernel_size[1] == 2 &&
                      w->stride[0] == 2 && w->stride[1] == 2 && w->padding[0] == 0 && w->padding[1] == 0 &&
                      2 * w->out[0] <= w->size[0] && 2 * out_w <= width;
  for (int od = 0; od < slices_of(w->out); ++od)
    for (int oh = 0; oh < w->out[0]; ++oh, y += out_w) {
      int ow = 0;
      if (is_2x2)
        while (ow < out_w) {  // the last eight may take some windows again
          const int at = max(min(ow, out_w - 8), 0), first = 2 * oh * width + 2 * at;
          if (first + width + 16 > readable) break;
          const JOIN(REAL, 8) averages = eight_averages_2x2(x + first, width, d->of_all);
          ow = min(at + 8, out_w);
          for (int lane = 0; lane < ow - at; ++lane) STORE(y, at + lane, averages[lane]);
        }
      for (; ow < out_w; ++ow) {
        const window_t at = window_at(w, od, oh, ow);
        STORE(y, ow, is_wide ? wide_window_average(x, readable, w, d, &at) : window_average(x, w, d, &at));
      }
    }
}

#endif
#endif

inline REAL average_gradient(const __global STORAGE *dy, const PoolWindow *w, const PoolDivisor *d, int slice, int h,
                             int c) {
  const span_t slices = covering_slices(w, slice), rows = covering_windows(w, 0, h);
  const span_t columns = covering_windows(w, 1, c);
  REAL sum = 0;
  if (d->of_all) {  // to count a window's elements takes ten times what its gradient does
    const REAL share = (REAL)1 / d->of_all;
    FOR_SLICES(od, slices)
    for (int oh = rows.first; oh < rows.end; ++oh)
      for (int ow = columns.first; ow < columns.end; ++ow) sum += LOAD(dy, place_of(w->out, od, oh, ow)) * share;
    return sum;
  }
  FOR_SLICES(od, slices)
  for (int oh = rows.first; oh < rows.end; ++oh)
    for (int ow = columns.first; ow < columns.end; ++ow) {
      const window_t at = window_at(w, od, oh, ow);
      sum += LOAD(dy, place_of(w->out, od, oh, ow)) / window_divisor(w, d, &at);
    }
  return sum;
}

#if SHAPE_CPU && EXACT_STORAGE

inline void scatter_average(const __global STORAGE *restrict dy, __global STORAGE *restrict dx, const PoolWindow *w,
                            const PoolDivisor *d) {
  const int in_count = (int)plane_elements(w->size);
  for (int i = 0; i < in_count; ++i) dx[i] = 0;
  int out = 0;
  for (int od = 0; od < slices_of(w->out); ++od)
    for (int oh = 0; oh < w->out[0]; ++oh)
      for (int ow = 0; ow < w->out[1]; ++ow, ++out) {
        const window_t at = window_at(w, od, oh, ow);
        if (is_empty(&at)) continue;
        const REAL share = dy[out] / window_divisor(w, d, &at);
        FOR_SLICES(slice, at.slices)
        for (int h = at.rows.first; h < at.rows.end; ++h)
          for (int c = at.columns.first; c < at.columns.end; ++c) dx[place_of(w->size, slice, h, c)] += share;
      }
}

__kernel void avg_pool2d_backward_scatter(BUFFER(const STORAGE, dy), BUFFER(STORAGE, dx), const long planes,
                                          const PoolWindow w, const PoolDivisor d) {
  BIND(const STORAGE, dy);
  BIND(STORAGE, dx);
  FOR_PLANES(plane, planes)
  scatter_average(dy + plane * plane_elements(w.out), dx + plane * plane_elements(w.size), &w, &d);
}

#endif

__kernel void avg_pool2d_forward(BUFFER(const STORAGE, x), BUFFER(STORAGE, y), const long planes, const PoolWindow w,
                                 const PoolDivisor d) {
  BIND(const STORAGE, x);
  BIND(STORAGE, y);
  const long in_count = plane_elements(w.size);
#if SHAPE_CPU
  FOR_PLANES(plane, planes)
  average_plane(x + plane * in_count, (planes - plane) * in_count, &w, &d, y + plane * plane_elements(w.out));
#else
  const ulong id = get_global_id(0);
  const element_t e = element_of(id, w.out);
  const window_t at = window_at(&w, e.d, e.h, e.w);
  if (e.plane < planes) STORE(y, id, window_average(x + e.plane * in_count, &w, &d, &at));
#endif
}

__kernel void avg_pool2d_backward_gather(BUFFER(const STORAGE, dy), BUFFER(STORAGE, dx), const long planes,
                                         const PoolWindow w, const PoolDivisor d) {
  BIND(const STORAGE, dy);
  BIND(STORAGE, dx);
  const long out_count = plane_elements(w.out);
#if SHAPE_CPU
  FOR_PLANES(plane, planes)
  for (int slice = 0; slice < slices_of(w.size); ++slice)
    for (int h = 0; h < w.size[0]; ++h)
      for (int c = 0; c < w.size[1]; ++c)
        STORE(dx, plane * plane_elements(w.size) + place_of(w.size, slice, h, c),
              average_gradient(dy + plane * out_count, &w, &d, slice, h, c));
#else
  const ulong id = get_global_id(0);
  const element_t e = element_of(id, w.size);
  if (e.plane < planes) STORE(dx, id, average_gradient(dy + e.plane * out_count, &w, &d, e.d, e.h, e.w));
#endif
}

#if !SHAPE_CPU

// The gradient of averages of whole planes: lines of a work group, along its second dimension, take a plane each.
__kernel void avg_pool2d_backward_planes(BUFFER(const STORAGE, dy), BUFFER(STORAGE, dx), const long planes,
                                         const int area) {
  BIND(const STORAGE, dy);
  BIND(STORAGE, dx);
  const long plane = (long)get_group_id(0) * get_local_size(1) + get_local_id(1);
  if (plane >= planes) return;
  const REAL share = LOAD(dy, plane) / area;
  for (int i = get_local_id(0); i < area; i += get_local_size(0)) STORE(dx, plane * area + i, share);
}

#endif
