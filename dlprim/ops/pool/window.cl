// Which input elements a pooling window covers, and which windows cover an input element. Axis 0 is the height. The
// rules for planes hold for volumes too: they are a stack of slices, where a plane is one (HAS_DEPTH). Needs
// core/common.cl.

#include "ops/pool/pool_shared.h"

typedef struct {
  int first, end, step;
} span_t;

// Input positions of window `out` that lie inside the input.
inline span_t window_span(const PoolWindow *w, int axis, int out) {
  span_t span;
  if (w->adaptive) {
    const long size = w->size[axis], count = w->out[axis];
    span.first = (int)(out * size / count);
    span.end = (int)(((out + 1) * size + count - 1) / count);
    span.step = 1;
    return span;
  }
  const int dilation = w->dilation[axis];
  const int start = out * w->stride[axis] - w->padding[axis];
  span.first = start < 0 ? start + (-start + dilation - 1) / dilation * dilation : start;
  span.end = min(start + (w->kernel_size[axis] - 1) * dilation + 1, w->size[axis]);
  span.step = dilation;
  return span;
}

// The span along the depth.
inline span_t window_slices(const PoolWindow *w, int out) {
#if HAS_DEPTH
  return window_span(w, POOL_DEPTH, out);
#else
  const span_t only = {0, 1, 1};
  return only;
#endif
}

// n / d of n >= 0. GPUs divide integers in some 30 instructions, which took most of pooling's time.
inline int quotient(const int n, const int d) {
  // Halfway between two integers the rounding of both, of six parts in 2^24 at most, reaches neither.
  return n < (1 << 20) ? (int)(((float)n + 0.5f) * (1.0f / (float)d)) : n / d;
}

// Windows that may cover input position `in` (with dilation not all of them do).
inline span_t covering_windows(const PoolWindow *w, int axis, int in) {
  span_t span;
  span.step = 1;
  if (w->adaptive) {
    const long size = w->size[axis], count = w->out[axis];
    span.first = (int)(in * count / size);
    span.end = (int)(((in + 1) * count + size - 1) / size);
    return span;
  }
  const int padded = in + w->padding[axis];
  const int reach = (w->kernel_size[axis] - 1) * w->dilation[axis];
  const int stride = w->stride[axis];
  span.first = padded > reach ? quotient(padded - reach + stride - 1, stride) : 0;
  span.end = min(quotient(padded, stride) + 1, w->out[axis]);
  return span;
}

inline span_t covering_slices(const PoolWindow *w, int in) {
#if HAS_DEPTH
  return covering_windows(w, POOL_DEPTH, in);
#else
  return window_slices(w, in);
#endif
}

// Windows that may cover the position `place` of cell number `cell`: a cell is what lies between the starts of two
// windows, so that a whole one is found by one division. Not for adaptive windows.
inline span_t windows_of_cell(const PoolWindow *w, int axis, int cell, int place) {
  const int reach = (w->kernel_size[axis] - 1) * w->dilation[axis];
  span_t span;
  span.step = 1;
  span.first = place <= reach ? max(cell - quotient(reach - place, w->stride[axis]), 0) : cell + 1;
  span.end = min(cell + 1, w->out[axis]);
  return span;
}
inline int count_of_cells(const PoolWindow *w, int axis) {
  return (w->size[axis] + w->padding[axis] + w->stride[axis] - 1) / w->stride[axis];
}

// The depth, or the one slice of a plane.
inline int slices_of(const int size[3]) {
  return HAS_DEPTH ? size[POOL_DEPTH] : 1;
}
inline int slice_elements(const int size[3]) {
  return size[0] * size[1];
}
inline long plane_elements(const int size[3]) {
  return (long)slices_of(size) * slice_elements(size);
}

inline int place_of(const int size[3], int d, int h, int c) {
  return ((HAS_DEPTH ? d * size[0] : 0) + h) * size[1] + c;
}

// Shape cpu: a work item takes whole planes. Shape simt: a work item takes one element of the result.
#if SHAPE_CPU
#define FOR_PLANES(plane, planes)                                                \
  for (long plane = (long)(planes) * get_global_id(0) / get_global_size(0),      \
            plane##_end = (long)(planes) * (get_global_id(0) + 1) / get_global_size(0); \
       plane < plane##_end; ++plane)
#else
typedef struct {
  ulong plane;
  int d, h, w;
} element_t;

inline element_t element_of(ulong id, const int size[3]) {
  element_t e;
  const uint of_plane = (uint)plane_elements(size);
  e.plane = id >> 32 ? id / of_plane : (uint)id / of_plane;
  int place = (int)(id - e.plane * of_plane);
  e.d = HAS_DEPTH ? quotient(place, slice_elements(size)) : 0;
  place -= e.d * slice_elements(size);
  e.h = quotient(place, size[1]);
  e.w = place - e.h * size[1];
  return e;
}
#endif

#define FOR_SLICES(d, slices) for (int d = (slices).first; d < (slices).end; d += (slices).step)
