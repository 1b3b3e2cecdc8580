// Max pooling. Macros: STORAGE, REAL, LOAD, STORE (dtype_defines); EXACT_STORAGE: STORAGE holds any REAL.
// Shape cpu: a work item takes whole planes. Shape simt: a work item makes one element of the result.
#include "core/common.cl"
#include "ops/pool/window.cl"

typedef struct {
  REAL value;
  int place;
} maximum_t;

inline maximum_t window_maximum(const __global STORAGE *plane, const window_t *w, int oh, int ow) {
  const span_t rows = window_span(w, 0, oh), columns = window_span(w, 1, ow);
  maximum_t best;
  best.value = -INFINITY;
  best.place = rows.first * w->size[1] + columns.first;
  for (int h = rows.first; h < rows.end; h += rows.step)
    for (int c = columns.first; c < columns.end; c += columns.step) {
      const int place = h * w->size[1] + c;
      const REAL value = LOAD(plane, place);
      if (value > best.value || isnan(value)) {
        best.value = value;
        best.place = place;
      }
    }
  return best;
}

// The gradient of input element (h, c): the dy of those windows whose maximum it was.
inline REAL gathered_gradient(const __global STORAGE *dy, const __global int *indices, const window_t *w, int h, int c) {
  const span_t rows = covering_windows(w, 0, h), columns = covering_windows(w, 1, c);
  const int place = h * w->size[1] + c;
  REAL sum = 0;
  for (int oh = rows.first; oh < rows.end; ++oh)
    for (int ow = columns.first; ow < columns.end; ++ow) {
      const int out = oh * w->out[1] + ow;
      if (indices[out] == place) sum += LOAD(dy, out);
    }
  return sum;
}

#if SHAPE_CPU

inline void forward_plane(const __global STORAGE *restrict x, __global STORAGE *restrict y, __global int *restrict indices,
                          const window_t *w) {
  for (int oh = 0; oh < w->out[0]; ++oh)
    for (int ow = 0; ow < w->out[1]; ++ow) {
      const maximum_t best = window_maximum(x, w, oh, ow);
      STORE(y, oh * w->out[1] + ow, best.value);
      if (indices) indices[oh * w->out[1] + ow] = best.place;
    }
}

inline void backward_plane(const __global STORAGE *restrict dy, const __global int *restrict indices,
                           __global STORAGE *restrict dx, const window_t *w) {
  const int in_count = w->size[0] * w->size[1];
#if EXACT_STORAGE
  // The plane stays in the cache, so that adding to it is cheaper than asking of every element which windows chose it.
  const int out_count = w->out[0] * w->out[1];
  for (int i = 0; i < in_count; ++i) dx[i] = 0;
  for (int i = 0; i < out_count; ++i) {
    const int place = indices[i];
    if (place >= 0 && place < in_count) dx[place] += dy[i];
  }
#else
  for (int h = 0; h < w->size[0]; ++h)
    for (int c = 0; c < w->size[1]; ++c)
      STORE(dx, h * w->size[1] + c, gathered_gradient(dy, indices, w, h, c));
#endif
}

__kernel void max_pool2d_forward(BUFFER(const STORAGE, x), BUFFER(STORAGE, y), BUFFER(int, indices), const int planes,
                                 const window_t w) {
  BIND(const STORAGE, x);
  BIND(STORAGE, y);
  BIND(int, indices);
  const long in_count = (long)w.size[0] * w.size[1], out_count = (long)w.out[0] * w.out[1];
  const span_t mine = planes_of(get_global_id(0), get_global_size(0), planes);
  for (int plane = mine.first; plane < mine.end; ++plane)
    forward_plane(x + plane * in_count, y + plane * out_count, indices_buffer ? indices + plane * out_count : 0, &w);
}

__kernel void max_pool2d_backward(BUFFER(const STORAGE, dy), BUFFER(const int, indices), BUFFER(STORAGE, dx),
                                  const int planes, const window_t w) {
  BIND(const STORAGE, dy);
  BIND(const int, indices);
  BIND(STORAGE, dx);
  const long in_count = (long)w.size[0] * w.size[1], out_count = (long)w.out[0] * w.out[1];
  const span_t mine = planes_of(get_global_id(0), get_global_size(0), planes);
  for (int plane = mine.first; plane < mine.end; ++plane)
    backward_plane(dy + plane * out_count, indices + plane * out_count, dx + plane * in_count, &w);
}

#else

__kernel void max_pool2d_forward(BUFFER(const STORAGE, x), BUFFER(STORAGE, y), BUFFER(int, indices), const int planes,
                                 const window_t w) {
  BIND(const STORAGE, x);
  BIND(STORAGE, y);
  BIND(int, indices);
  const ulong id = get_global_id(0);
  const int out_count = w.out[0] * w.out[1];
  const ulong plane = id / out_count;
  if (plane >= planes) return;
  const int out = id - plane * out_count;
  const int oh = out / w.out[1];
  const maximum_t best = window_maximum(x + plane * (w.size[0] * w.size[1]), &w, oh, out - oh * w.out[1]);
  STORE(y, id, best.value);
  if (indices_buffer) indices[id] = best.place;
}

__kernel void max_pool2d_backward(BUFFER(const STORAGE, dy), BUFFER(const int, indices), BUFFER(STORAGE, dx),
                                  const int planes, const window_t w) {
  BIND(const STORAGE, dy);
  BIND(const int, indices);
  BIND(STORAGE, dx);
  const ulong id = get_global_id(0);
  const int in_count = w.size[0] * w.size[1];
  const ulong plane = id / in_count;
  if (plane >= planes) return;
  const int place = id - plane * in_count;
  const int h = place / w.size[1];
  const ulong first = plane * (w.out[0] * w.out[1]);
  STORE(dx, id, gathered_gradient(dy + first, indices + first, &w, h, place - h * w.size[1]));
}

#endif
