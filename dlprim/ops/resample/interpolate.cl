// Interpolation of planes of up to three axes; an axis that is not interpolated has size 1. Needs ops/resample/rows.cl.

// The elements that an output position reads along one axis: (1 - weight) * x[first] + weight * x[second], or
// x[first] alone.
typedef struct {
  int first, second, linear;
  REAL weight;
} tap_t;

inline tap_t tap_of(const KernelInterpolation *p, int axis, int out) {
  const int last = p->size[axis] - 1;
  tap_t tap;
  tap.linear = p->linear[axis];
  const REAL scaled = (out + p->center) * p->scale[axis];
  const REAL position = tap.linear ? fmax(scaled - p->center, (REAL)0) : scaled;
  tap.first = min((int)floor(position), last);
  tap.second = min(tap.first + 1, last);
  tap.weight = fmin(position - tap.first, (REAL)1);
  return tap;
}

inline REAL blend(REAL first, REAL second, const tap_t *tap) {
  return (1 - tap->weight) * first + tap->weight * second;
}

inline REAL row_value(const __global STORAGE *row, const tap_t *w) {
  const REAL first = LOAD(row, w->first);
  return w->linear ? blend(first, LOAD(row, w->second), w) : first;
}

inline REAL slice_value(const __global STORAGE *slice, int width, const tap_t *h, const tap_t *w) {
  const REAL first = row_value(slice + (long)h->first * width, w);
  return h->linear ? blend(first, row_value(slice + (long)h->second * width, w), h) : first;
}

inline REAL plane_value(const __global STORAGE *plane, const KernelInterpolation *p, const tap_t *d, const tap_t *h,
                        const tap_t *w) {
  const long slice = (long)p->size[1] * p->size[2];
  const REAL first = slice_value(plane + d->first * slice, p->size[2], h, w);
  return d->linear ? blend(first, slice_value(plane + d->second * slice, p->size[2], h, w), d) : first;
}

__kernel void interpolate(BUFFER(const STORAGE, x), BUFFER(STORAGE, y), const long rows, const KernelInterpolation p) {
  BIND(const STORAGE, x);
  BIND(STORAGE, y);
  const long in_count = (long)p.size[0] * p.size[1] * p.size[2];
  FOR_ROWS(row, rows) {
    const row_t at = row_of(row, p.out[0], p.out[1]);
    const tap_t d = tap_of(&p, 0, at.d), h = tap_of(&p, 1, at.h);
    FOR_COLUMNS(column, p.out[2]) {
      const tap_t w = tap_of(&p, 2, column);
      STORE(y, row * p.out[2] + column, plane_value(x + at.plane * in_count, &p, &d, &h, &w));
    }
  }
}

typedef struct {
  int first, end;
} outputs_t;

// A stretch of outputs that holds all that read input position `in`.
inline outputs_t readers_of(const KernelInterpolation *p, int axis, int in) {
  outputs_t range = {0, p->out[axis]};
  if (p->inverse[axis] == 0) return range;
  const int rounding = 2 + (p->out[axis] >> 20);  // of positions, more than the type can be wrong by
  const REAL reach = p->linear[axis] ? p->center - 1 : 0;
  if (in > 0) range.first = max(0, (int)floor((in + reach) * p->inverse[axis] - p->center) - rounding);
  if (in < p->size[axis] - 1)
    range.end = min(range.end, (int)ceil((in + 1 + (p->linear[axis] ? p->center : 0)) * p->inverse[axis]) + rounding);
  return range;
}

inline REAL weight_of(const tap_t *tap, int in) {
  if (!tap->linear) return tap->first == in;
  return (tap->first == in ? 1 - tap->weight : 0) + (tap->second == in ? tap->weight : 0);
}

inline REAL gathered_row(const __global STORAGE *row, const KernelInterpolation *p, int in, outputs_t readers) {
  REAL sum = 0;
  for (int out = readers.first; out < readers.end; ++out) {
    const tap_t tap = tap_of(p, 2, out);
    const REAL weight = weight_of(&tap, in);
    if (weight != 0) sum += weight * LOAD(row, out);
  }
  return sum;
}

inline REAL gathered_slice(const __global STORAGE *slice, const KernelInterpolation *p, int in_h, outputs_t h_readers,
                           int in_w, outputs_t w_readers) {
  REAL sum = 0;
  for (int out = h_readers.first; out < h_readers.end; ++out) {
    const tap_t tap = tap_of(p, 1, out);
    const REAL weight = weight_of(&tap, in_h);
    if (weight != 0) sum += weight * gathered_row(slice + (long)out * p->out[2], p, in_w, w_readers);
  }
  return sum;
}

__kernel void interpolate_backward(BUFFER(const STORAGE, dy), BUFFER(STORAGE, dx), const long rows,
                                   const KernelInterpolation p) {
  BIND(const STORAGE, dy);
  BIND(STORAGE, dx);
  const long slice = (long)p.out[1] * p.out[2];
  FOR_ROWS(row, rows) {
    const row_t at = row_of(row, p.size[0], p.size[1]);
    const __global STORAGE *plane = dy + at.plane * p.out[0] * slice;
    const outputs_t d = readers_of(&p, 0, at.d), h = readers_of(&p, 1, at.h);
    FOR_COLUMNS(column, p.size[2]) {
      const outputs_t w = readers_of(&p, 2, column);
      REAL sum = 0;
      for (int out = d.first; out < d.end; ++out) {
        const tap_t tap = tap_of(&p, 0, out);
        const REAL weight = weight_of(&tap, at.d);
        if (weight != 0) sum += weight * gathered_slice(plane + out * slice, &p, at.h, h, column, w);
      }
      STORE(dx, row * p.size[2] + column, sum);
    }
  }
}
