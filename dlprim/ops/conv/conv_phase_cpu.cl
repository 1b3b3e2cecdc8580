// Makes the phased input of conv_cpu.cl: zero padding, split by stride, converted to REAL. One item a stretch of planes.
//
// Short rows are copied as vectors that run over the row's end (the next row overwrites what ran over), and a stride of 2
// has its own vector copy. Neither has been measured by itself.
#include "ops/gemm/cpu_tile.cl"

inline int ceil_div_down_to_zero(const int a, const int b) { return a <= 0 ? 0 : (a + b - 1) / b; }

// Every `stride`-th element of a row. With `may_run_over`, LANES more elements may be read and written than asked for.
inline void copy_row(__global const STORAGE *restrict from, const int stride, const int count, const bool may_run_over,
                     __global REAL *restrict to) {
  int j = 0;
#if DIRECT
  if (stride == 1) {
    for (; j + (may_run_over ? 0 : LANES - 1) < count; j += LANES) VSTORE(VLOAD(0, from + j), 0, to + j);
  } else if (stride == 2) {
    for (; j + LANES < count; j += LANES) {
      VEC v;
      v.lo = VLOAD(0, from + 2 * j).even;
      v.hi = VLOAD(1, from + 2 * j).even;
      VSTORE(v, 0, to + j);
    }
  }
#endif
  for (; j < count; ++j) to[j] = LOAD(from, j * stride);
}

__attribute__((reqd_work_group_size(1, 1, 1)))
__kernel void make_phases(BUFFER(const STORAGE, x), BUFFER(REAL, phased), const long planes, const int height,
                          const int width, const int phases_h, const int phases_w, const int rows,
                          const int row_length, const int stride_h, const int stride_w, const int pad_h,
                          const int pad_w, const int slack) {
  BIND(const STORAGE, x);
  BIND(REAL, phased);
  const long items = get_num_groups(0), item = get_group_id(0);
  const long end = planes * (item + 1) / items, begin = planes * item / items;
  __global REAL *to = phased + begin * phases_h * phases_w * rows * row_length;
  __global REAL *to_end = phased + end * phases_h * phases_w * rows * row_length;
  __global const STORAGE *from_end = x + planes * height * width;
  for (long plane = begin; plane < end; ++plane)
    for (int a = 0; a < phases_h; ++a)
      for (int b = 0; b < phases_w; ++b) {
        const int first = min(ceil_div_down_to_zero(pad_w - b, stride_w), row_length);
        const int last = max(first, min(ceil_div_down_to_zero(width + pad_w - b, stride_w), row_length));
        for (int r = 0; r < rows; ++r, to += row_length) {
          const int ih = r * stride_h + a - pad_h;
          if (ih < 0 || ih >= height) {
            for (int j = 0; j < row_length; ++j) to[j] = 0;
            continue;
          }
          __global const STORAGE *from = x + (plane * height + ih) * width;
          for (int j = 0; j < first; ++j) to[j] = 0;
          const bool may_run_over = to + row_length + LANES <= to_end && from + width + LANES <= from_end;
          copy_row(from + first * stride_w + b - pad_w, stride_w, last - first, may_run_over, to + first);
          for (int j = last; j < row_length; ++j) to[j] = 0;
        }
      }
  // Whole-vector reads run over the end of the last row.
  if (item == items - 1)
    for (int i = 0; i < slack; ++i) to[i] = 0;
}
