// Average pooling. Needs ops/pool/window.cl.

// Elements of window `out` along one axis, with the padding (but nothing beyond it) counted.
inline int padded_extent(const PoolWindow *w, int axis, int out) {
  const int start = out * w->stride[axis] - w->padding[axis];
  return min(start + w->kernel_size[axis], w->size[axis] + w->padding[axis]) - start;
}

inline REAL window_divisor(const PoolWindow *w, const PoolDivisor *d, int oh, int ow, const span_t *rows,
                           const span_t *columns) {
  if (d->of_all) return d->of_all;
  if (d->count_include_pad && !w->adaptive) return (long)padded_extent(w, 0, oh) * padded_extent(w, 1, ow);
  return (rows->end - rows->first) * (columns->end - columns->first);
}

// Summed by rows, so that no chain of additions grows with the window's area.
inline REAL window_average(const __global STORAGE *plane, const PoolWindow *w, const PoolDivisor *d, int oh, int ow) {
  const span_t rows = window_span(w, 0, oh), columns = window_span(w, 1, ow);
  if (rows.first >= rows.end || columns.first >= columns.end) return 0;
  REAL sum = 0;
  for (int h = rows.first; h < rows.end; ++h) {
    REAL row_sum = 0;
    for (int c = columns.first; c < columns.end; ++c) row_sum += LOAD(plane, h * w->size[1] + c);
    sum += row_sum;
  }
  return sum / window_divisor(w, d, oh, ow, &rows, &columns);
}

#if SHAPE_CPU

// The same of a wide window, in vectors along its rows. Of a plane with `readable` elements from its first to the tensor's end.
inline REAL wide_window_average(const __global STORAGE *plane, const long readable, const PoolWindow *w, const PoolDivisor *d, int oh,
                                int ow) {
  const span_t rows = window_span(w, 0, oh), columns = window_span(w, 1, ow);
  if (rows.first >= rows.end || columns.first >= columns.end) return 0;
  const REAL16 lane = (REAL16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  REAL16 sums = 0;
  for (int h = rows.first; h < rows.end; ++h) {
    REAL16 row_sums = 0;
    for (int c = columns.first; c < columns.end; c += 16) {
      const long at = (long)h * w->size[1] + c;
      const int count = columns.end - c;
      const REAL16 values = at + 16 <= readable ? LOAD16(plane, at) : LOAD_UP_TO16(plane, at, (int)min(readable - at, 16L), 0);
      row_sums += lane < (REAL16)(count) ? values : (REAL16)(0);
    }
    sums += row_sums;
  }
  return sum16(sums) / window_divisor(w, d, oh, ow, &rows, &columns);
}

// Eight windows of 2 by 2, side by side, from column 0 of x on.
inline JOIN(REAL, 8) eight_averages_2x2(const __global STORAGE *x, const int width, const REAL divisor) {
  const REAL16 upper = LOAD16(x, 0), lower = LOAD16(x, width);
  return ((upper.even + upper.odd) + (lower.even + lower.odd)) / divisor;
}

inline void average_plane(const __global STORAGE *x, const long readable, const PoolWindow *w, const PoolDivisor *d, __global STORAGE *y) {
  const int out_w = w->out[1], width = w->size[1];
  const bool is_wide = w->adaptive ? width >= 16 * out_w : w->kernel_size[1] >= 16;
  const bool is_2x2 = !w->adaptive && w->kernel_size[0] == 2 && w->kernel_size[1] == 2 && w->stride[0] == 2 && w->stride[1] == 2 &&
                      w->padding[0] == 0 && w->padding[1] == 0 && 2 * w->out[0] <= w->size[0] && 2 * out_w <= width;
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
    for (; ow < out_w; ++ow)
      STORE(y, ow, is_wide ? wide_window_average(x, readable, w, d, oh, ow) : window_average(x, w, d, oh, ow));
  }
}

#endif

inline REAL average_gradient(const __global STORAGE *dy, const PoolWindow *w, const PoolDivisor *d, int h, int c) {
  const span_t rows = covering_windows(w, 0, h), columns = covering_windows(w, 1, c);
  REAL sum = 0;
  if (d->of_all) {  // to count a window's elements takes ten times what its gradient does
    const REAL share = (REAL)1 / d->of_all;
    for (int oh = rows.first; oh < rows.end; ++oh)
      for (int ow = columns.first; ow < columns.end; ++ow) sum += LOAD(dy, oh * w->out[1] + ow) * share;
    return sum;
  }
  for (int oh = rows.first; oh < rows.end; ++oh)
    for (int ow = columns.first; ow < columns.end; ++ow) {
      const span_t in_rows = window_span(w, 0, oh), in_columns = window_span(w, 1, ow);
      sum += LOAD(dy, oh * w->out[1] + ow) / window_divisor(w, d, oh, ow, &in_rows, &in_columns);
    }
  return sum;
}

#if SHAPE_CPU && EXACT_STORAGE

inline void scatter_average(const __global STORAGE *restrict dy, __global STORAGE *restrict dx, const PoolWindow *w,
                            const PoolDivisor *d) {
  const int in_count = w->size[0] * w->size[1];
  for (int i = 0; i < in_count; ++i) dx[i] = 0;
  for (int oh = 0; oh < w->out[0]; ++oh)
    for (int ow = 0; ow < w->out[1]; ++ow) {
      const span_t rows = window_span(w, 0, oh), columns = window_span(w, 1, ow);
      if (rows.first >= rows.end || columns.first >= columns.end) continue;
      const REAL share = dy[oh * w->out[1] + ow] / window_divisor(w, d, oh, ow, &rows, &columns);
      for (int h = rows.first; h < rows.end; ++h)
        for (int c = columns.first; c < columns.end; ++c) dx[h * w->size[1] + c] += share;
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
  if (e.plane < planes) STORE(y, id, window_average(x + e.plane * in_count, &w, &d, e.h, e.w));
#endif
}

__kernel void avg_pool2d_backward_gather(BUFFER(const STORAGE, dy), BUFFER(STORAGE, dx), const long planes,
                                         const PoolWindow w, const PoolDivisor d) {
  BIND(const STORAGE, dy);
  BIND(STORAGE, dx);
  const long out_count = plane_elements(w.out);
#if SHAPE_CPU
  FOR_PLANES(plane, planes)
  for (int h = 0; h < w.size[0]; ++h)
    for (int c = 0; c < w.size[1]; ++c)
      STORE(dx, plane * plane_elements(w.size) + h * w.size[1] + c, average_gradient(dy + plane * out_count, &w, &d, h, c));
#else
  const ulong id = get_global_id(0);
  const element_t e = element_of(id, w.size);
  if (e.plane < planes) STORE(dx, id, average_gradient(dy + e.plane * out_count, &w, &d, e.h, e.w));
#endif
}

#if !SHAPE_CPU

// The gradient of averages of whole planes: lines of a work group, along its second dimension, take a plane each.
__kernel void avg_pool2d_backward_planes(BUFFER(const STORAGE, dy), BUFFER(STORAGE, dx), const long planes, const int area) {
  BIND(const STORAGE, dy);
  BIND(STORAGE, dx);
  const long plane = (long)get_group_id(0) * get_local_size(1) + get_local_id(1);
  if (plane >= planes) return;
  const REAL share = LOAD(dy, plane) / area;
  for (int i = get_local_id(0); i < area; i += get_local_size(0)) STORE(dx, plane * area + i, share);
}

#endif
