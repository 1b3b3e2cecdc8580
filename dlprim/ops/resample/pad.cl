// Padding of up to three axes with the input's own elements. Needs ops/resample/rows.cl.

inline int padding_source(const KernelPadding *p, int axis, int out) {
  const int at = out - p->before[axis], last = p->size[axis] - 1;
  if (!p->reflect) return clamp(at, 0, last);
  const int mirrored = abs(at);
  return mirrored <= last ? mirrored : 2 * last - mirrored;
}

__kernel void pad(BUFFER(const STORAGE, x), BUFFER(STORAGE, y), const long rows, const KernelPadding p) {
  BIND(const STORAGE, x);
  BIND(STORAGE, y);
  FOR_ROWS(row, rows) {
    const row_t at = row_of(row, p.out[0], p.out[1]);
    const long slice = at.plane * p.size[0] + padding_source(&p, 0, at.d);
    const __global STORAGE *source = x + (slice * p.size[1] + padding_source(&p, 1, at.h)) * p.size[2];
#if SHAPE_CPU
    // The columns that have the input's order are copied in vectors.
    __global STORAGE *result = y + row * p.out[2];
    const int first = clamp(p.before[2], 0, p.out[2]), end = clamp(p.before[2] + p.size[2], first, p.out[2]);
    for (int column = 0; column < first; ++column) STORE(result, column, LOAD(source, padding_source(&p, 2, column)));
    for (int column = first; column < end; ++column) STORE(result, column, LOAD(source, column - p.before[2]));
    for (int column = end; column < p.out[2]; ++column)
      STORE(result, column, LOAD(source, padding_source(&p, 2, column)));
#else
    FOR_COLUMNS(column, p.out[2])
    STORE(y, row * p.out[2] + column, LOAD(source, padding_source(&p, 2, column)));
#endif
  }
}

// The outputs that read input position `in`: at most count of them, each given by its number; -1 is none.
typedef struct {
  int in, first, count;
} readers_t;

inline readers_t padding_readers(const KernelPadding *p, int axis, int in) {
  readers_t r = {in, 0, 3};  // itself and its two mirror images
  if (p->reflect) return r;
  r.first = in == 0 ? 0 : max(0, in + p->before[axis]);
  const int end = in == p->size[axis] - 1 ? p->out[axis] : min(p->out[axis], in + p->before[axis] + 1);
  r.count = end - r.first;
  return r;
}

inline int padding_reader(const KernelPadding *p, int axis, const readers_t *r, int number) {
  if (!p->reflect) return r->first + number;
  const int last = p->size[axis] - 1;
  if ((number == 1 && r->in == 0) || (number == 2 && r->in == last)) return -1;
  const int at = p->before[axis] + (number == 0 ? r->in : number == 1 ? -r->in : 2 * last - r->in);
  return at < p->out[axis] ? max(at, -1) : -1;
}

inline REAL padding_gathered_row(const __global STORAGE *row, const KernelPadding *p, const readers_t *w) {
  REAL sum = 0;
  for (int n = 0; n < w->count; ++n) {
    const int out = padding_reader(p, 2, w, n);
    if (out >= 0) sum += LOAD(row, out);
  }
  return sum;
}

inline REAL padding_gathered_slice(const __global STORAGE *slice, const KernelPadding *p, const readers_t *h,
                                   const readers_t *w) {
  REAL sum = 0;
  for (int n = 0; n < h->count; ++n) {
    const int out = padding_reader(p, 1, h, n);
    if (out >= 0) sum += padding_gathered_row(slice + (long)out * p->out[2], p, w);
  }
  return sum;
}

// The columns of the input that one output of a row reads each, at column + before: first to last. Others have mirror
// images, or are repeated, or left out.
inline int first_read_once(const KernelPadding *p) {
  return max(p->reflect ? p->before[2] + 1 : 1, -p->before[2]);
}
inline int last_read_once(const KernelPadding *p) {
  const int after = p->out[2] - p->before[2] - p->size[2];
  return min(p->reflect ? p->size[2] - 2 - after : p->size[2] - 2, p->out[2] - 1 - p->before[2]);
}

__kernel void pad_backward(BUFFER(const STORAGE, dy), BUFFER(STORAGE, dx), const long rows, const KernelPadding p) {
  BIND(const STORAGE, dy);
  BIND(STORAGE, dx);
  const long slice = (long)p.out[1] * p.out[2];
  FOR_ROWS(row, rows) {
    const row_t at = row_of(row, p.size[0], p.size[1]);
    const __global STORAGE *plane = dy + at.plane * p.out[0] * slice;
    const readers_t d = padding_readers(&p, 0, at.d), h = padding_readers(&p, 1, at.h);
    const __global STORAGE *reader = dy;
    int readers = 0;
    for (int n = 0; n < d.count; ++n)
      for (int m = 0; m < h.count; ++m) {
        const int out_d = padding_reader(&p, 0, &d, n), out_h = padding_reader(&p, 1, &h, m);
        if (out_d < 0 || out_h < 0) continue;
        reader = plane + out_d * slice + (long)out_h * p.out[2];
        ++readers;
      }
    const int first = readers == 1 ? first_read_once(&p) : p.size[2], last = last_read_once(&p);
    FOR_COLUMNS(column, p.size[2]) {
      if (column >= first && column <= last) {
        STORE(dx, row * p.size[2] + column, LOAD(reader, column + p.before[2]));
        continue;
      }
      const readers_t w = padding_readers(&p, 2, column);
      REAL sum = 0;
      for (int n = 0; n < d.count; ++n) {
        const int out = padding_reader(&p, 0, &d, n);
        if (out >= 0) sum += padding_gathered_slice(plane + out * slice, &p, &h, &w);
      }
      STORE(dx, row * p.size[2] + column, sum);
    }
  }
}
