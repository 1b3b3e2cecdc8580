// Average pooling. Macros: STORAGE, REAL, LOAD, STORE (dtype_defines); EXACT_STORAGE: STORAGE holds any REAL.
// Shape cpu: a work item takes whole planes. Shape simt: a work item makes one element of the result.
#include "core/common.cl"
#include "ops/pool/window.cl"

typedef struct {
  int count_include_pad, divisor_override;  // 0: no override
} divisor_t;

// Elements of window `out` along one axis, with the padding (but nothing beyond it) counted.
inline int padded_extent(const window_t *w, int axis, int out) {
  const int start = out * w->stride[axis] - w->padding[axis];
  return min(start + w->kernel_size[axis], w->size[axis] + w->padding[axis]) - start;
}

inline REAL window_divisor(const window_t *w, const divisor_t *d, int oh, int ow, const span_t *rows,
                           const span_t *columns) {
  if (d->divisor_override) return d->divisor_override;
  if (d->count_include_pad && !w->adaptive) return padded_extent(w, 0, oh) * padded_extent(w, 1, ow);
  return (rows->end - rows->first) * (columns->end - columns->first);
}

// Summed by rows, so that no chain of additions grows with the window's area.
inline REAL window_average(const __global STORAGE *plane, const window_t *w, const divisor_t *d, int oh, int ow) {
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

inline REAL gathered_gradient(const __global STORAGE *dy, const window_t *w, const divisor_t *d, int h, int c) {
  const span_t rows = covering_windows(w, 0, h), columns = covering_windows(w, 1, c);
  REAL sum = 0;
  for (int oh = rows.first; oh < rows.end; ++oh)
    for (int ow = columns.first; ow < columns.end; ++ow) {
      const span_t in_rows = window_span(w, 0, oh), in_columns = window_span(w, 1, ow);
      sum += LOAD(dy, oh * w->out[1] + ow) / window_divisor(w, d, oh, ow, &in_rows, &in_columns);
    }
  return sum;
}

#if SHAPE_CPU

inline void backward_plane(const __global STORAGE *restrict dy, __global STORAGE *restrict dx, const window_t *w,
                           const divisor_t *d) {
#if EXACT_STORAGE
  // The plane stays in the cache, so that adding each window to it is cheaper than gathering.
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
#else
  for (int h = 0; h < w->size[0]; ++h)
    for (int c = 0; c < w->size[1]; ++c) STORE(dx, h * w->size[1] + c, gathered_gradient(dy, w, d, h, c));
#endif
}

__kernel void avg_pool2d_forward(BUFFER(const STORAGE, x), BUFFER(STORAGE, y), const int planes, const window_t w,
                                 const divisor_t d) {
  BIND(const STORAGE, x);
  BIND(STORAGE, y);
  const long in_count = (long)w.size[0] * w.size[1], out_count = (long)w.out[0] * w.out[1];
  const span_t mine = planes_of(get_global_id(0), get_global_size(0), planes);
  for (int plane = mine.first; plane < mine.end; ++plane)
    for (int oh = 0; oh < w.out[0]; ++oh)
      for (int ow = 0; ow < w.out[1]; ++ow)
        STORE(y, plane * out_count + oh * w.out[1] + ow, window_average(x + plane * in_count, &w, &d, oh, ow));
}

__kernel void avg_pool2d_backward(BUFFER(const STORAGE, dy), BUFFER(STORAGE, dx), const int planes, const window_t w,
                                  const divisor_t d) {
  BIND(const STORAGE, dy);
  BIND(STORAGE, dx);
  const long in_count = (long)w.size[0] * w.size[1], out_count = (long)w.out[0] * w.out[1];
  const span_t mine = planes_of(get_global_id(0), get_global_size(0), planes);
  for (int plane = mine.first; plane < mine.end; ++plane)
    backward_plane(dy + plane * out_count, dx + plane * in_count, &w, &d);
}

#else

__kernel void avg_pool2d_forward(BUFFER(const STORAGE, x), BUFFER(STORAGE, y), const int planes, const window_t w,
                                 const divisor_t d) {
  BIND(const STORAGE, x);
  BIND(STORAGE, y);
  const ulong id = get_global_id(0);
  const int out_count = w.out[0] * w.out[1];
  const ulong plane = id / out_count;
  if (plane >= planes) return;
  const int out = id - plane * out_count;
  const int oh = out / w.out[1];
  STORE(y, id, window_average(x + plane * (w.size[0] * w.size[1]), &w, &d, oh, out - oh * w.out[1]));
}

__kernel void avg_pool2d_backward(BUFFER(const STORAGE, dy), BUFFER(STORAGE, dx), const int planes, const window_t w,
                                  const divisor_t d) {
  BIND(const STORAGE, dy);
  BIND(STORAGE, dx);
  const ulong id = get_global_id(0);
  const int in_count = w.size[0] * w.size[1];
  const ulong plane = id / in_count;
  if (plane >= planes) return;
  const int place = id - plane * in_count;
  const int h = place / w.size[1];
  STORE(dx, id, gathered_gradient(dy + plane * (w.out[0] * w.out[1]), &w, &d, h, place - h * w.size[1]));
}

#endif
