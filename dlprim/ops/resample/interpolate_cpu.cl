// Interpolation on CPUs: the taps of the columns, which all rows share, are computed once a work item. Needs
// ops/resample/interpolate.cl.
//   firsts, weights   [work items, columns of the output]; each item has its own

#define COLUMN_TAPS                                                            \
  const int columns = p.out[2], last = p.size[2] - 1;                          \
  __global int *first = firsts + get_global_id(1) * columns;                   \
  __global REAL *weight = weights + get_global_id(1) * columns;                \
  for (int column = 0; column < columns; ++column) {                           \
    const tap_t tap = tap_of(&p, 2, column);                                   \
    first[column] = tap.first;                                                 \
    weight[column] = tap.weight;                                               \
  }

__kernel void interpolate_by_table(BUFFER(const STORAGE, x), BUFFER(STORAGE, y), BUFFER(int, firsts),
                                   BUFFER(REAL, weights), const long rows, const KernelInterpolation p) {
  BIND(const STORAGE, x);
  BIND(STORAGE, y);
  BIND(int, firsts);
  BIND(REAL, weights);
  COLUMN_TAPS
  const long in_count = (long)p.size[0] * p.size[1] * p.size[2];
  FOR_ROWS(row, rows) {
    const row_t at = row_of(row, p.out[0], p.out[1]);
    const tap_t d = tap_of(&p, 0, at.d), h = tap_of(&p, 1, at.h);
    for (int column = 0; column < columns; ++column) {
      const tap_t w = {first[column], min(first[column] + 1, last), p.linear[2], weight[column]};
      STORE(y, row * columns + column, plane_value(x + at.plane * in_count, &p, &d, &h, &w));
    }
  }
}

inline REAL share_of(const tap_t *tap, int second) {
  return !tap->linear ? 1 : second ? tap->weight : 1 - tap->weight;
}

// Adds to a row of dx what a row of dy, gathered along the columns, sends to it.
inline void add_row(__global STORAGE *restrict dx, const __global REAL *restrict sums, int n, REAL weight) {
  for (int i = 0; i < n; ++i) STORE(dx, i, LOAD(dx, i) + weight * sums[i]);
}

// A work item takes whole planes, and sends each element of dy to those that it was read from. STORAGE is REAL: sums
// are kept in dx. `sums` [work items, columns of dx].
__kernel void interpolate_backward_of_planes(BUFFER(const STORAGE, dy), BUFFER(STORAGE, dx), BUFFER(int, firsts),
                                             BUFFER(REAL, weights), BUFFER(REAL, sums), const long planes,
                                             const KernelInterpolation p) {
  BIND(const STORAGE, dy);
  BIND(STORAGE, dx);
  BIND(int, firsts);
  BIND(REAL, weights);
  BIND(REAL, sums);
  COLUMN_TAPS
  const int width = p.size[2];
  const long in_count = (long)p.size[0] * p.size[1] * width;
  __global REAL *sum = sums + get_global_id(1) * width;
  FOR_ROWS(plane, planes) {
    __global STORAGE *to = dx + plane * in_count;
    for (long i = 0; i < in_count; ++i) STORE(to, i, (REAL)0);
    const __global STORAGE *from = dy + plane * p.out[0] * p.out[1] * columns;
    for (int d_out = 0; d_out < p.out[0]; ++d_out) {
      const tap_t d = tap_of(&p, 0, d_out);
      for (int h_out = 0; h_out < p.out[1]; ++h_out, from += columns) {
        const tap_t h = tap_of(&p, 1, h_out);
        for (int i = 0; i < width; ++i) sum[i] = 0;
        if (p.linear[2])
          for (int column = 0; column < columns; ++column) {
            const REAL g = LOAD(from, column);
            sum[first[column]] += (1 - weight[column]) * g;
            sum[min(first[column] + 1, last)] += weight[column] * g;
          }
        else
          for (int column = 0; column < columns; ++column) sum[first[column]] += LOAD(from, column);
        for (int far_d = 0; far_d <= d.linear; ++far_d)
          for (int far_h = 0; far_h <= h.linear; ++far_h) {
            const REAL share = share_of(&d, far_d) * share_of(&h, far_h);
            const long row = (long)(far_d ? d.second : d.first) * p.size[1] + (far_h ? h.second : h.first);
            if (share != 0) add_row(to + row * width, sum, width, share);
          }
      }
    }
  }
}
