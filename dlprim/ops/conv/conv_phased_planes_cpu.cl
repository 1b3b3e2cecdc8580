// Lays planes out for the walks of conv_cpu.cl: zero padding, split by stride, converted to REAL.
#include "ops/conv/conv_shared.h"
#include "ops/gemm/cpu_tile.cl"
#include "core/prefetch.cl"

inline int ceil_div_down_to_zero(const int a, const int b) { return a <= 0 ? 0 : (a + b - 1) / b; }

// A row of a phase: element j is from[j * stride] for first <= j < last, and 0 elsewhere. With `by_vectors`, whole ones
// are read, from `from` on, and written, beyond the row's end. (No restrict: Oclgrind does not know what it becomes
// where it is inlined.)
INLINE void lay_out_row(__global const STORAGE *from, const int stride, const int length, const int first,
                        const int last, const bool by_vectors, const long ahead, __global REAL *to) {
#if DIRECT
  if (by_vectors) {
    const MASK start = (MASK)(first), end = (MASK)(last);
    MASK place = EACH_LANE;
    if (stride == 1)
      for (int j = 0; j < length; j += LANES, place += LANES) {
        PREFETCH(from + ahead + j);
        VSTORE(select((VEC)(0), VLOAD(0, from + j), place >= start && place < end), 0, to + j);
      }
    else
      for (int j = 0; j < length; j += LANES, place += LANES) {
        PREFETCH(from + ahead + 2 * j);
        PREFETCH(from + ahead + 2 * j + LANES);
        VEC v;
        v.lo = VLOAD(0, from + 2 * j).even;
        v.hi = VLOAD(1, from + 2 * j).even;
        VSTORE(select((VEC)(0), v, place >= start && place < end), 0, to + j);
      }
    return;
  }
#endif
  for (int j = 0; j < first; ++j) to[j] = 0;
  for (int j = first; j < last; ++j) to[j] = LOAD(from, j * stride);
  for (int j = last; j < length; ++j) to[j] = 0;
}

inline long phased_plane(const Phases *s) { return (long)s->phases_h * s->phases_w * s->rows * s->row_length; }

// Planes `begin` to `end` of the `all` of x. CONV_SLACK numbers behind them are written too, where `has_slack`: with
// zeros.
inline void lay_out_planes(const Phases *s, __global const STORAGE *x, const long begin, const long end, const long all,
                           const bool has_slack, __global REAL *to) {
  const int height = s->height, width = s->width, row_length = s->row_length, stride_h = s->stride_h,
            stride_w = s->stride_w;
  const int rows = s->rows, read = (row_length + LANES - 1) / LANES * LANES * stride_w;
  const long size = (long)height * width;
  for (long plane = begin; plane < end; ++plane)
    for (int a = 0; a < s->phases_h; ++a)
      for (int b = 0; b < s->phases_w; ++b) {
        const int first = min(ceil_div_down_to_zero(s->pad_w - b, stride_w), row_length);
        const int last = max(first, min(ceil_div_down_to_zero(width + s->pad_w - b, stride_w), row_length));
        __global const STORAGE *from = x + plane * size + b - s->pad_w;
        const bool by_vectors = stride_w <= 2 && from >= x && from + size - width + read <= x + all * size &&
                                (has_slack || (end - plane - 1) * phased_plane(s) >= LANES);
        for (int r = 0; r < rows; ++r, to += row_length) {
          const int row = r * stride_h + a - s->pad_h;
          const bool is_inside = row >= 0 && row < height;
          lay_out_row(from + (is_inside ? row : 0) * width, stride_w, row_length, first, is_inside ? last : first,
                      by_vectors, size, to);
        }
      }
  if (has_slack)
    for (int i = 0; i < CONV_SLACK; ++i) to[i] = 0;
}
